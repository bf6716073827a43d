package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;
import static io.github.fastgcm.Tests.iv;
import static io.github.fastgcm.Tests.theirs;

import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;

/**
 * Memory that has an owner: a buffer over it throws what Java throws once it was given back, or if it is another thread's. Java 17 has such memory in a module
 * that is asked for, later ones in `java.lang.foreign`; these classes are compiled for Java 17, and so all of that is called by name.
 */
final class Arenas {
    private Arenas() {}

    /** An arena that this thread owns, or all of them. */
    private static final class Arena {
        private final Object arena;

        Arena(boolean isShared) throws Exception {
            arena = isNew()
                    ? Class.forName("java.lang.foreign.Arena").getMethod(isShared ? "ofShared" : "ofConfined").invoke(null)
                    : Class.forName("jdk.incubator.foreign.ResourceScope").getMethod(isShared ? "newSharedScope" : "newConfinedScope").invoke(null);
        }

        static boolean isNew() {
            return Runtime.version().feature() >= 21;
        }

        ByteBuffer buffer(int size) throws Exception {
            Class<?> segments = Class.forName(isNew() ? "java.lang.foreign.MemorySegment" : "jdk.incubator.foreign.MemorySegment");
            Object segment = isNew()
                    ? Class.forName("java.lang.foreign.Arena").getMethod("allocate", long.class, long.class).invoke(arena, (long) size, 16L)
                    : segments.getMethod("allocateNative", long.class, Class.forName("jdk.incubator.foreign.ResourceScope")).invoke(null, (long) size, arena);
            return (ByteBuffer) segments.getMethod("asByteBuffer").invoke(segment);
        }

        /** Returns whether nobody uses it. */
        boolean close() throws Exception {
            try {
                Class.forName(isNew() ? "java.lang.foreign.Arena" : "jdk.incubator.foreign.ResourceScope").getMethod("close").invoke(arena);
                return true;
            } catch (InvocationTargetException thrown) {
                if (thrown.getCause() instanceof IllegalStateException) {
                    return false;
                }
                throw thrown;
            }
        }
    }

    /** That test, here or in another Java which has the module. */
    static long test(String name, int rounds) throws Exception {
        if (Arena.isNew() || ModuleLayer.boot().findModule("jdk.incubator.foreign").isPresent()) {
            return name.equals("gone") ? gone() : closing(rounds);
        }
        String said = Behaviour.java("--add-modules", "jdk.incubator.foreign", Arenas.class.getName(), name, String.valueOf(rounds));
        return Long.parseLong(said.strip().replaceAll("(?s).*\\s", ""));
    }

    public static void main(String[] arguments) throws Exception {
        java.security.Security.addProvider(new Fastgcm());
        System.out.println(test(arguments[0], Integer.parseInt(arguments[1])));
    }

    private interface Call {
        int run() throws Exception;
    }

    private static final String[] KINDS = {"closed", "closed, shared", "another thread's"};

    private static void refused(int kind, Call call) throws Exception {
        Throwable[] thrown = {null};
        Runnable run = () -> {
            try {
                call.run();
            } catch (Throwable any) {
                thrown[0] = any;
            }
        };
        if (kind == 2) {
            Thread other = new Thread(run);
            other.start();
            other.join();
        } else {
            run.run();
        }
        String right = kind == 2 && Arena.isNew() ? "java.lang.WrongThreadException" : "java.lang.IllegalStateException";
        check(thrown[0] != null && thrown[0].getClass().getName().equals(right), KINDS[kind] + ": " + thrown[0]);
    }

    /** As input, as output, of AAD; sealed and opened. Nothing has changed then: the same message goes on with other memory. */
    private static long gone() throws Exception {
        long count = 0;
        for (int kind = 0; kind < KINDS.length; kind++) {
            for (int size : new int[] {100, 3 * Library.PART + 5}) {
                byte[] text = new byte[size];
                new Random(size).nextBytes(text);
                byte[] sealed = theirs(iv(1), new byte[0], text);
                Arena arena = new Arena(kind == 1);
                ByteBuffer gone = arena.buffer(size + 16);
                ByteBuffer alive = ByteBuffer.allocateDirect(size + 16);
                if (kind < 2) {
                    check(arena.close(), "nobody uses it");
                }
                for (boolean seals : new boolean[] {true, false}) {
                    byte[] given = seals ? text : sealed;
                    byte[] right = seals ? sealed : text;
                    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
                    cipher.init(seals ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, KEY, iv(1));
                    ByteBuffer from = gone.duplicate().limit(given.length);
                    ByteBuffer room = ByteBuffer.allocate(size + 64);
                    refused(kind, () -> {
                        cipher.updateAAD(from);
                        return 0;
                    });
                    refused(kind, () -> cipher.update(from, room));
                    refused(kind, () -> cipher.doFinal(from, room));
                    refused(kind, () -> cipher.doFinal(from, gone.duplicate()));
                    alive.clear();
                    alive.put(given).flip();
                    refused(kind, () -> cipher.update(alive, gone.duplicate()));
                    refused(kind, () -> cipher.doFinal(alive, gone.duplicate()));
                    refused(kind, () -> cipher.doFinal(ByteBuffer.wrap(given), gone.duplicate()));
                    check(alive.position() == 0 && from.position() == 0 && room.position() == 0, "a position has moved");
                    check(cipher.doFinal(alive, room) == right.length, "size");
                    check(Arrays.equals(Arrays.copyOf(room.array(), right.length), right), "another answer");
                    count += 7;
                }
                if (kind == 2) {
                    arena.close();
                }
            }
        }
        return count + alive();
    }

    /** Memory that is there: the same answers as from elsewhere; and a forgery leaves what was there, or zeros. */
    private static long alive() throws Exception {
        long count = 0;
        for (int size : new int[] {0, 1, 100, 3 * Library.PART + 5}) {
            byte[] text = new byte[size];
            new Random(size).nextBytes(text);
            byte[] sealed = theirs(iv(1), new byte[0], text);
            Arena arena = new Arena(false);
            ByteBuffer one = arena.buffer(size + 40);
            ByteBuffer other = arena.buffer(size + 40);
            if (Native.way().equals("JNI")) {
                check(Native.address(one) < 0, "memory of an arena is used where it lies, and nobody holds it");
                check(Native.address(ByteBuffer.allocateDirect(size + 1)) > 0, "memory that nobody gives back is copied");
            }
            for (int shift : new int[] {0, 5, -5, 99}) { // 99: another buffer
                Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
                ByteBuffer from = one.duplicate().position(10);
                from.duplicate().put(text);
                ByteBuffer to = shift == 99 ? other.duplicate() : one.duplicate().position(10 + shift);
                check(cipher.doFinal(from.limit(10 + size), to) == size + 16, "size");
                byte[] made = new byte[size + 16];
                to.flip().position(shift == 99 ? 0 : 10 + shift).get(made);
                check(Arrays.equals(made, sealed), "sealed, moved by " + shift);
                for (boolean isForged : new boolean[] {true, false}) {
                    cipher.init(Cipher.DECRYPT_MODE, KEY, iv(1));
                    from = one.duplicate().position(10).limit(26 + size);
                    from.duplicate().put(sealed).put(10 + size, (byte) (sealed[size] ^ (isForged ? 1 : 0)));
                    to = shift == 99 ? other.duplicate() : one.duplicate().position(10 + shift);
                    byte[] before = new byte[size];
                    to.duplicate().get(before);
                    try {
                        check(cipher.doFinal(from, to.duplicate()) == size && !isForged, "size");
                        to.limit(to.position() + size);
                        check(to.equals(ByteBuffer.wrap(text)), "opened, moved by " + shift);
                    } catch (AEADBadTagException thrown) {
                        check(isForged, "an authentic message is refused");
                        for (byte was : before) {
                            byte now = to.get();
                            check(now == was || now == 0, "a forgery has left text");
                        }
                    }
                    count++;
                }
            }
            arena.close();
        }
        return count;
    }

    /**
     * Memory that another thread gives back meanwhile: the message is sealed or opened, or an exception of Java comes out; and the next one, under the same
     * `init` if that was an opening, is right.
     */
    private static long closing(int rounds) throws Exception {
        byte[] text = new byte[200_000];
        Arrays.fill(text, (byte) 'a');
        byte[] sealed = theirs(iv(1), new byte[0], text);
        long count = 0;
        for (int round = 0; round < rounds; round++) {
            boolean seals = round % 2 == 0;
            int size = round % 4 < 2 ? 36 << 20 : 40_000; // of more than 32 MiB the C library gives the memory back at once
            boolean isOutput = round % 8 < 4;
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
            cipher.init(seals ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, KEY, iv(1));
            Arena arena = new Arena(true);
            ByteBuffer shared = arena.buffer(size + 16);
            ByteBuffer mine = ByteBuffer.allocateDirect(size + 16);
            long wait = 100_000L * (round % 16);
            Thread other = new Thread(() -> {
                try {
                    for (long end = System.nanoTime() + wait; System.nanoTime() < end || !arena.close(); ) {
                        Thread.onSpinWait();
                    }
                } catch (Exception thrown) {
                    throw new AssertionError(thrown);
                }
            });
            other.start();
            try {
                cipher.doFinal(isOutput ? mine.limit(seals ? size : size + 16) : shared.limit(seals ? size : size + 16), isOutput ? shared : mine);
            } catch (IllegalStateException closed) {
                count++;
            } catch (AEADBadTagException right) {
                check(!seals, "sealed");
            }
            while (other.isAlive()) {
                try {
                    other.join();
                } catch (InterruptedException thrown) {
                    continue; // Java interrupts a thread whose memory another one gives back while it is copied
                }
            }
            for (int at = 0; !isOutput && !seals && at < size; at += 97) {
                check(mine.get(at) == 0, "a text that is not verified");
            }
            if (seals) {
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(2));
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
                check(Arrays.equals(cipher.doFinal(text), sealed), "the next message");
            } else {
                byte[] again = sealed.clone();
                check(cipher.doFinal(again, 0, again.length, again, 0) == text.length, "size");
                check(Arrays.equals(Arrays.copyOf(again, text.length), text), "the next message");
            }
        }
        check(count > 0, "no memory was given back in time");
        return count;
    }
}
