package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;
import static io.github.fastgcm.Tests.fails;
import static io.github.fastgcm.Tests.iv;
import static io.github.fastgcm.Tests.theirs;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.Provider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** What random calls do not reach. */
final class Behaviour {
    private Behaviour() {}

    private static Cipher ours() throws Exception {
        return Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
    }

    private static byte[] bytes(int size) {
        byte[] made = new byte[size];
        new Random(size).nextBytes(made);
        return made;
    }

    /** Messages that go in several calls, from and to arrays and memory outside of the heap; a wrong tag leaves what was there, or zeros. */
    static long longMessages() throws Exception {
        long count = 0;
        for (int size : new int[] {Library.PART - 1, Library.PART, Library.PART + 1, 3 * Library.PART + 5, 40 * Library.PART}) {
            for (int aad : new int[] {0, 13, Library.PART + 7}) {
                byte[] header = bytes(aad);
                byte[] text = bytes(size);
                byte[] sealed = theirs(iv(size), header, text);
                Cipher cipher = ours();
                for (boolean inPlace : new boolean[] {false, true}) {
                    for (boolean direct : new boolean[] {false, true}) {
                        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv((int) ++count));
                        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(size));
                        cipher.updateAAD(header);
                        ByteBuffer from = direct ? ByteBuffer.allocateDirect(size + 16) : ByteBuffer.allocate(size + 16);
                        ByteBuffer to = inPlace ? from.duplicate() : direct ? ByteBuffer.allocateDirect(size + 16) : ByteBuffer.allocate(size + 16);
                        from.put(text).flip();
                        check(cipher.doFinal(from, to) == size + 16 && !to.hasRemaining(), "positions");
                        check(ByteBuffer.wrap(sealed).equals(to.flip()), "sealed " + size);

                        cipher.init(Cipher.DECRYPT_MODE, KEY, iv(size));
                        cipher.updateAAD(header);
                        ByteBuffer back = inPlace ? to.duplicate() : ByteBuffer.allocate(size);
                        check(cipher.doFinal(to.duplicate(), back) == size, "size");
                        check(ByteBuffer.wrap(text).equals(back.flip()), "opened " + size);

                        to.clear().put(sealed).put(size / 2, (byte) (sealed[size / 2] ^ 1)).flip();
                        ByteBuffer before = ByteBuffer.allocate(size + 16).put(to.duplicate()).flip();
                        cipher.init(Cipher.DECRYPT_MODE, KEY, iv(size));
                        cipher.updateAAD(header);
                        ByteBuffer refused = inPlace ? to.duplicate() : ByteBuffer.allocate(size).put(text).flip();
                        fails(AEADBadTagException.class, () -> cipher.doFinal(to, refused));
                        check(to.position() == 0 && before.equals(to), "a refused message has changed");
                        check(inPlace || refused.equals(ByteBuffer.allocate(size)), "a refused text is not zero");
                    }
                }
            }
        }
        return count;
    }

    /** After an `init` that fails nothing goes on, as Java has it; the IV that was in force is refused once more, and another key is not taken for the last. */
    static long failedInit() throws Exception {
        Cipher cipher = ours();
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
        cipher.update(new byte[20]);
        fails(InvalidKeyException.class, () -> {
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[5], "AES"), iv(2));
            return null;
        });
        fails(IllegalStateException.class, () -> cipher.doFinal(new byte[20]));
        check(Arrays.equals(cipher.getIV(), iv(1).getIV()), "IV");
        fails(InvalidAlgorithmParameterException.class, () -> {
            cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
            return null;
        });
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(2));
        check(Arrays.equals(cipher.doFinal(new byte[20]), theirs(iv(2), new byte[0], new byte[20])), "another message");
        return 5;
    }

    /** Many threads, each with its cipher; then all with one, which is wrong: nobody gets a wrong text, and the virtual machine lives. */
    static long threads(int rounds) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            Cipher shared = ours();
            List<Future<Integer>> results = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int number = thread;
                results.add(pool.submit(() -> {
                    Cipher cipher = ours();
                    for (int round = 0; round < rounds; round++) {
                        byte[] text = bytes(1 + round % 3000);
                        GCMParameterSpec iv = iv(number * rounds + round);
                        SecretKeySpec key = new SecretKeySpec(bytes(round % 7 == 0 ? 16 : 32), "AES");
                        cipher.init(Cipher.ENCRYPT_MODE, key, iv);
                        byte[] first = round % 2 == 0 ? cipher.update(text) : new byte[0];
                        byte[] last = round % 2 == 0 ? cipher.doFinal() : cipher.doFinal(text);
                        byte[] sealed = Arrays.copyOf(first, first.length + last.length);
                        System.arraycopy(last, 0, sealed, first.length, last.length);
                        cipher.init(Cipher.DECRYPT_MODE, key, iv);
                        check(Arrays.equals(cipher.doFinal(sealed), text), "round trip");
                    }
                    return rounds;
                }));
                results.add(pool.submit(() -> {
                    Random random = new Random(number);
                    for (int round = 0; round < rounds; round++) {
                        try {
                            // sizes differ, so that what one call has checked is wrong for another one
                            if (random.nextInt(3) == 0) {
                                GCMParameterSpec some = new GCMParameterSpec(96 + 8 * random.nextInt(5), bytes(1 + random.nextInt(40)));
                                shared.init(1 + random.nextInt(2), new SecretKeySpec(bytes(16 * (1 + random.nextInt(2))), "AES"), some);
                            }
                            if (random.nextInt(3) == 0) {
                                shared.updateAAD(new byte[random.nextInt(300)]);
                            }
                            if (random.nextInt(2) == 0) {
                                shared.update(new byte[random.nextInt(3000)]);
                            }
                            ByteBuffer to = ByteBuffer.wrap(new byte[3000 + random.nextInt(5000)]);
                            switch (random.nextInt(4)) {
                                case 0:
                                    shared.doFinal(new byte[random.nextInt(3000)]);
                                    break;
                                case 1:
                                    shared.doFinal(ByteBuffer.wrap(new byte[random.nextInt(3000)]), to);
                                    break;
                                case 2:
                                    shared.doFinal(ByteBuffer.allocateDirect(random.nextInt(3000)), to);
                                    break;
                                default:
                                    break; // the message goes on
                            }
                        } catch (java.security.GeneralSecurityException | RuntimeException thrown) {
                            // whatever it is
                        }
                    }
                    return rounds;
                }));
            }
            long count = 0;
            for (Future<Integer> result : results) {
                count += result.get();
            }
            return count;
        } finally {
            pool.shutdown();
        }
    }

    /** Each method that changes a cipher refuses a call that comes while it is in another one: here from the key, which `init` asks for its bytes. */
    static long entered() throws Exception {
        Gcm cipher = new Gcm(0);
        byte[] some = new byte[16];
        ByteBuffer text = ByteBuffer.wrap(some);
        AlgorithmParameters parameters = AlgorithmParameters.getInstance("GCM");
        parameters.init(iv(1));
        List<Callable<Object>> calls = List.of(
                () -> { cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, null); return null; },
                () -> { cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, iv(2), null); return null; },
                () -> { cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, parameters, null); return null; },
                () -> { cipher.engineUpdateAAD(some, 0, 16); return null; },
                () -> { cipher.engineUpdateAAD(text.duplicate()); return null; },
                () -> cipher.engineUpdate(some, 0, 16),
                () -> cipher.engineUpdate(some, 0, 16, new byte[99], 0),
                () -> cipher.engineUpdate(text.duplicate(), ByteBuffer.allocate(99)),
                () -> cipher.engineDoFinal(some, 0, 16),
                () -> cipher.engineDoFinal(some, 0, 16, new byte[99], 0),
                () -> cipher.engineDoFinal(text.duplicate(), ByteBuffer.allocate(99)),
                () -> cipher.engineWrap(KEY),
                () -> cipher.engineUnwrap(some, "AES", Cipher.SECRET_KEY));
        int refused = 0;
        for (Callable<Object> call : calls) {
            int[] told = {0};
            Key calling = new SecretKeySpec(some, "AES") {
                private static final long serialVersionUID = 1;

                @Override
                public byte[] getEncoded() {
                    try {
                        call.call();
                    } catch (IllegalStateException thrown) {
                        told[0] += thrown.getMessage().contains("one thread at a time") ? 1 : 0;
                    } catch (Exception thrown) {
                        throw new AssertionError(thrown);
                    }
                    return super.getEncoded();
                }
            };
            cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, iv(3), null);
            cipher.engineInit(Cipher.ENCRYPT_MODE, calling, iv(4), null);
            check(told[0] == 1, "call " + refused + " came into init");
            check(cipher.engineWrap(calling).length == 32 && told[0] == 2, "call " + refused + " came into wrap");
            refused++;
        }
        return refused;
    }

    /** A thread that comes while another one is at a long message is told so. */
    static long twoThreads() throws Exception {
        Cipher cipher = ours();
        byte[] text = new byte[1 << 22];
        java.util.concurrent.atomic.AtomicInteger refused = new java.util.concurrent.atomic.AtomicInteger();
        Thread other = new Thread(() -> {
            for (int round = 0; refused.get() < 20 && !Thread.currentThread().isInterrupted(); round++) {
                try {
                    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(bytes(16), "AES"), iv(-1 - round));
                } catch (IllegalStateException thrown) {
                    if (thrown.getMessage().contains("one thread at a time")) {
                        refused.incrementAndGet();
                    }
                } catch (java.security.GeneralSecurityException thrown) {
                    throw new AssertionError(thrown);
                }
            }
        });
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(0));
        other.start();
        for (int round = 1; other.isAlive() && round < 10_000; round++) {
            try {
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(round));
                cipher.doFinal(text);
            } catch (IllegalStateException thrown) {
                // likewise
            }
        }
        other.interrupt();
        other.join();
        check(refused.get() == 20, "two threads at a time");
        return refused.get();
    }

    /** MiB of memory of its own. (ZGC has Java's heap in shared memory, mapped several times.) */
    private static long resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("RssAnon:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
            }
        }
        throw new AssertionError("no RssAnon");
    }

    /** Native memory is given back: by `init` with another key, by the end of a message, and by the garbage collector for those who do neither. */
    static long memory(int rounds) throws Exception {
        byte[] text = new byte[100];
        long start = 0;
        for (int round = 0; round < rounds; round++) {
            Cipher cipher = ours();
            SecretKeySpec key = new SecretKeySpec(ByteBuffer.allocate(16).putInt(round).array(), "AES");
            cipher.init(Cipher.ENCRYPT_MODE, key, iv(0));
            cipher.doFinal(text);
            cipher.init(Cipher.ENCRYPT_MODE, key, iv(1));
            cipher.doFinal(text);
            cipher.init(Cipher.ENCRYPT_MODE, key, iv(2));
            cipher.update(text);
            if (round % 2 == 0) {
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(3));
            }
            if (round == rounds / 4) {
                start = resident();
            }
        }
        long grown = resident() - start;
        check(grown < 128, "resident memory has grown by " + grown + " MiB"); // who gives back no key adds 240 MiB and more; ZGC alone takes some 70
        return rounds;
    }

    /** Another Java, which gets those options. Returns what it says. */
    static String java(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        check(process.waitFor() == 0, said);
        return said;
    }

    /** Without a library Java goes on with its own provider, and is told why, once. With it a line of `java.security` is enough. */
    static long installations(Path folder) throws Exception {
        Path broken = Files.writeString(Files.createDirectories(folder).resolve("broken.so"), "nothing of the kind");
        String said = java("-Dfastgcm.library=" + broken, Installed.class.getName(), "insert");
        check(said.contains("SunJCE") && said.split("fastgcm is not used", -1).length == 2, said);
        check(java("-Dos.arch=pdp11", Installed.class.getName(), "insert").contains("the jar has no library for linux-pdp11"), "pdp11");
        check(java("-Djava.io.tmpdir=" + folder.resolve("nowhere"), Installed.class.getName(), "insert").contains("SunJCE"), "nowhere");
        check(java(Installed.class.getName(), "insert").contains("Fastgcm"), "insertProviderAt");
        check(java(Installed.class.getName(), "named").contains("Fastgcm"), "by name");
        Path lines = Files.writeString(folder.resolve("fastgcm.security"), java(Main.class.getName(), "--security"));
        said = java("-Djava.security.properties=" + lines, Installed.class.getName());
        check(said.contains("Fastgcm") && said.contains("SunJSSE"), said);
        said = java("-Djava.security.properties=" + lines, "-Dfastgcm.library=" + broken, Installed.class.getName());
        check(said.contains("SunJCE") && said.split("fastgcm is not used", -1).length == 2, said);
        said = java(Main.class.getName());
        check(said.contains(Fastgcm.backend()) && said.contains(Fastgcm.way()), said);
        return 8;
    }

    /** What `installations` starts: who encrypts, and who does TLS. */
    static final class Installed {
        private Installed() {}

        public static void main(String[] arguments) throws Exception {
            String how = arguments.length > 0 ? arguments[0] : "";
            if (how.equals("insert")) {
                java.security.Security.insertProviderAt(new Fastgcm(), 1);
            }
            Provider provider = how.equals("named") ? new Fastgcm() : null;
            Cipher cipher = provider != null ? Cipher.getInstance("AES/GCM/NoPadding", provider) : Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
            check(Arrays.equals(cipher.doFinal(new byte[9]), theirs(iv(1), new byte[0], new byte[9])), "another ciphertext");
            System.out.println(cipher.getProvider().getName());
            System.out.println(javax.net.ssl.SSLContext.getDefault().getProvider().getName());
        }
    }
}
