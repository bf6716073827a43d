package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.Security;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.function.IntUnaryOperator;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * All tests: `Tests CAVP WYCHEPROOF FOLDER`, which are files with published answers, and a folder for what is made. With the property `full` they take
 * minutes; with `only` those are run whose whole names are as that says; `random SEED CIPHERS LONGEST` are random calls only.
 */
final class Tests {
    private static final String ONLY = System.getProperty("only");

    static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");

    private Tests() {}

    // What the tests share.

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static void fails(Class<? extends Throwable> how, Callable<?> call) {
        try {
            call.call();
        } catch (Throwable thrown) {
            check(thrown.getClass() == how, "not " + how + " but " + thrown);
            return;
        }
        throw new AssertionError("no " + how);
    }

    static GCMParameterSpec iv(int number) {
        return new GCMParameterSpec(128, ByteBuffer.allocate(12).putInt(number).array());
    }

    /** What the JDK's own provider makes of it. */
    static byte[] theirs(GCMParameterSpec iv, byte[] aad, byte[] text) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv);
        cipher.updateAAD(aad);
        return cipher.doFinal(text);
    }

    private interface Test {
        long run() throws Exception;
    }

    private static void test(String name, Test test) throws Exception {
        if (ONLY != null && !name.matches(ONLY)) {
            return;
        }
        long count = test.run();
        if (count == 0) {
            throw new AssertionError(name + " has done nothing");
        }
        System.out.println("java::" + (Fastgcm.way().equals("JNI") ? "jni" : "foreign") + "::" + name + " ok " + count);
    }

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(new Fastgcm());
        if (arguments[0].equals("random")) {
            long[] numbers = Arrays.stream(arguments).skip(1).mapToLong(Long::parseLong).toArray();
            test("random_calls_beside_SunJCE", () -> RandomCalls.run(numbers[0], (int) numbers[1], (int) numbers[2]));
            return;
        }
        Path folder = Path.of(arguments[2]);
        boolean full = Boolean.getBoolean("full");
        IntUnaryOperator times = few -> full ? 50 * few : few;
        test("random_calls_beside_SunJCE", () -> RandomCalls.run(1, times.applyAsInt(8000), 3000));
        test("random_long_calls_beside_SunJCE", () -> RandomCalls.run(2, times.applyAsInt(200), 4 * Library.PART));
        test("cavp", () -> Vectors.cavp(Path.of(arguments[0])));
        test("wycheproof", () -> Vectors.wycheproof(Path.of(arguments[1])));
        test("schemes_known_answers", Schemes::knownAnswers);
        test("schemes_in_pieces", () -> Schemes.pieces(times.applyAsInt(300)));
        test("schemes_refused", Schemes::refused);
        test("page", Schemes::page);
        test("long_messages", Behaviour::longMessages);
        test("failed_init", Behaviour::failedInit);
        test("threads", () -> Behaviour.threads(times.applyAsInt(2000)));
        test("entered", Behaviour::entered);
        test("two_threads", Behaviour::twoThreads);
        test("memory", () -> Behaviour.memory(times.applyAsInt(100_000)));
        test("errors_in_the_middle", Middle::calls);
        test("errors_of_callbacks", Middle::callbacks);
        test("sizes_of_ciphers", Sizes::ofCiphers);
        test("sizes_of_the_library", Sizes::ofTheLibrary);
        test("halves", Walks::halves);
        test("afterwards", Walks::afterwards);
        test("quiet", Walks::quiet);
        test("giants", () -> Sizes.giants(folder));
        if (full) {
            test("giant_arrays", () -> Behaviour.java("-Xmx6g", Sizes.class.getName(), folder.resolve("nothing").toString()).contains("as it should be") ? 9 : 0);
        }
        test("memory_that_is_gone", () -> Arenas.test("gone", 0));
        test("memory_that_goes", () -> Arenas.test("goes", times.applyAsInt(64)));
        test("memory_that_is_cut", () -> Mapped.test(folder, times.applyAsInt(100)));
        test("input_that_changes", () -> Promises.inputThatChanges(times.applyAsInt(300)));
        test("copies", Promises::copies);
        test("wiped", Promises::wiped);
        test("parts", Promises::parts);
        test("started", () -> Shipped.started(folder));
        test("loaded", () -> Shipped.loaded(folder));
        test("secured", () -> Shipped.secured(folder));
        test("repacked", () -> Shipped.repacked(folder));
        test("asked", Shipped::asked);
        test("installations", () -> Behaviour.installations(folder));
    }
}
