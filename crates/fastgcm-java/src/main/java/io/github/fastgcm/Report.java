package io.github.fastgcm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/** Counts how much a program uses the provider. With the property `fastgcm.report` it reports this on the standard error. */
final class Report {
    private static final LongAdder MESSAGES = new LongAdder();
    private static final boolean IS_WANTED = Library.property("fastgcm.report") != null;
    private static final AtomicBoolean HAS_BEGUN = new AtomicBoolean();
    private static final AtomicBoolean HAS_MESSAGES = new AtomicBoolean();

    private Report() {}

    /** Notes that there is a provider. */
    static void begin() {
        if (IS_WANTED && HAS_BEGUN.compareAndSet(false, true)) {
            say(Library.PROBLEM != null ? "there is no library" : "the library is loaded: " + Library.BACKEND + ", by " + Native.way());
            Library.privileged(() -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> say(messages() + " messages were sealed or opened")));
                return null;
            });
        }
    }

    /** Notes that a message has been sealed or opened. */
    static void message() {
        MESSAGES.increment();
        if (IS_WANTED && HAS_MESSAGES.compareAndSet(false, true)) {
            say("the first message has been sealed or opened");
        }
    }

    static long messages() {
        return MESSAGES.sum();
    }

    private static void say(String what) {
        System.err.println("fastgcm " + Fastgcm.VERSION + ": " + what);
    }
}
