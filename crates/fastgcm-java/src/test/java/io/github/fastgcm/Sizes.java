package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;
import static io.github.fastgcm.Tests.fails;
import static io.github.fastgcm.Tests.iv;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.ProviderException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.CRC32;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.GCMParameterSpec;

/** Sizes and places that nobody should give: around 0, around 2^31, and negative ones. Each function that takes some is walked; one that is new has to be added here. */
final class Sizes {
    private static final int MOST = Integer.MAX_VALUE;
    private static final int[] HOSTILE = {
        Integer.MIN_VALUE, Integer.MIN_VALUE + 15, -65536, -100, -17, -16, -1, 0, 1, 16, 63, 64, 65, 1 << 30, MOST - 65536, MOST - 31, MOST - 17, MOST - 16,
        MOST - 15, MOST - 1, MOST
    };

    private Sizes() {}

    private interface Call {
        Object run() throws Exception;
    }

    /** Whether it returns; else it has thrown what a program may expect of a wrong size. */
    private static boolean returns(String what, Call call) {
        try {
            call.run();
            return true;
        } catch (IndexOutOfBoundsException | IllegalArgumentException | ProviderException | GeneralSecurityException | OutOfMemoryError right) {
            return false;
        } catch (Exception | Error thrown) {
            throw new AssertionError(what, thrown);
        }
    }

    private static int number;

    /** Ciphers in each state: as initialised, or with some bytes that wait. */
    private static Gcm cipher(boolean seals, int waiting) throws Exception {
        Gcm cipher = new Gcm(0);
        cipher.engineInit(seals ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, KEY, iv(++number), null);
        if (waiting > 0) {
            cipher.engineUpdate(new byte[waiting], 0, waiting);
        }
        return cipher;
    }

    private interface Walk {
        long run(Gcm cipher, boolean seals, int waiting) throws Exception;
    }

    /** A call with arrays of 64 bytes for all triples of sizes: it works if all lies in the arrays, else it changes none, and the message ends as if it had not been. */
    private static Walk triples(String name, boolean isOutput, Triple call) {
        return (given, seals, waiting) -> {
            long count = 0;
            Gcm cipher = given;
            for (int at : HOSTILE) {
                for (int size : HOSTILE) {
                    for (int toAt : isOutput ? HOSTILE : new int[] {0}) {
                        byte[] from = new byte[64];
                        byte[] to = new byte[128];
                        Arrays.fill(to, (byte) 7);
                        byte[] before = to.clone();
                        Gcm now = cipher;
                        boolean isRight = returns(name, () -> call.of(now, from, at, size, to, toAt));
                        boolean mayBe = at >= 0 && size >= 0 && (long) at + size <= 64 && toAt >= 0 && toAt <= 128;
                        check(!isRight || mayBe, name + "(" + at + ", " + size + ", " + toAt + ") has worked");
                        check(isRight || Arrays.equals(to, before) || mayBe && !seals, name + "(" + at + ", " + size + ", " + toAt + ") has written");
                        if (isRight) {
                            cipher = cipher(seals, waiting);
                        }
                        count++;
                    }
                }
            }
            ends(cipher, seals, waiting);
            return count;
        };
    }

    private interface Triple {
        Object of(Gcm cipher, byte[] from, int at, int size, byte[] to, int toAt) throws Exception;
    }

    /** The message still is what it was: it ends as that of another provider. */
    private static void ends(Gcm cipher, boolean seals, int waiting) throws Exception {
        if (!seals) {
            return; // what waits is no message: `doFinal` has refused it, as it should
        }
        Cipher theirs = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        theirs.init(Cipher.ENCRYPT_MODE, KEY, new GCMParameterSpec(128, cipher.engineGetIV()));
        byte[] expected = theirs.doFinal(new byte[waiting + 3]);
        byte[] ours = cipher.engineDoFinal(new byte[3], 0, 3);
        check(Arrays.equals(ours, Arrays.copyOfRange(expected, waiting & -16, expected.length)), "the message ends in another way");
    }

    /** A name and the types of what it takes. */
    static String signature(Method method) {
        StringBuilder text = new StringBuilder(method.getName());
        for (Class<?> type : method.getParameterTypes()) {
            text.append(' ').append(type.getSimpleName());
        }
        return text.toString();
    }

    private static final Map<String, Walk> OF_CIPHERS = new HashMap<>();

    static {
        OF_CIPHERS.put("engineGetOutputSize int", (cipher, seals, waiting) -> {
            for (int size : HOSTILE) {
                long right = seals ? (long) size + (waiting & 15) + 16 : Math.max((long) size + waiting - 16, 0);
                int[] made = {0};
                boolean returns = returns("getOutputSize", () -> made[0] = cipher.engineGetOutputSize(size));
                check(returns == (size >= 0 && right <= MOST) && (!returns || made[0] == right), "getOutputSize(" + size + ") is " + made[0]);
            }
            return HOSTILE.length;
        });
        OF_CIPHERS.put("engineUpdate byte[] int int", triples("update", false, (c, from, at, size, to, toAt) -> c.engineUpdate(from, at, size)));
        OF_CIPHERS.put("engineUpdate byte[] int int byte[] int", triples("update", true, (c, from, at, size, to, toAt) -> c.engineUpdate(from, at, size, to, toAt)));
        OF_CIPHERS.put("engineUpdateAAD byte[] int int", (cipher, seals, waiting) -> waiting > 0 ? 1 : triples("updateAAD", false, (c, from, at, size, to, toAt) -> {
            c.engineUpdateAAD(from, at, size);
            return null;
        }).run(cipher, seals, waiting));
        // What is not in the array ends the message, as SunJCE has it: only sizes are looked at.
        OF_CIPHERS.put("engineDoFinal byte[] int int", (cipher, seals, waiting) -> finals(cipher, seals, waiting, false));
        OF_CIPHERS.put("engineDoFinal byte[] int int byte[] int", (cipher, seals, waiting) -> finals(cipher, seals, waiting, true));
        OF_CIPHERS.put("engineUnwrap byte[] String int", (cipher, seals, waiting) -> {
            for (int type : HOSTILE) {
                Gcm opening = cipher(false, waiting);
                check(!returns("unwrap", () -> opening.engineUnwrap(new byte[40], "AES", type)), "unwrap of nothing");
            }
            return HOSTILE.length;
        });
        for (String name : new String[] {"engineUpdate ByteBuffer ByteBuffer", "engineDoFinal ByteBuffer ByteBuffer", "engineUpdateAAD ByteBuffer"}) {
            OF_CIPHERS.put(name, (cipher, seals, waiting) -> 1); // `giant` has them: a buffer has no sizes that are not its own
        }
        OF_CIPHERS.put("engineInit int Key SecureRandom", (cipher, seals, waiting) -> 1); // a mode is no size
        OF_CIPHERS.put("engineInit int Key AlgorithmParameters SecureRandom", (cipher, seals, waiting) -> 1);
        OF_CIPHERS.put("engineInit int Key AlgorithmParameterSpec SecureRandom", (cipher, seals, waiting) -> {
            for (int bits : HOSTILE) {
                GCMParameterSpec spec = new GCMParameterSpec(128, new byte[12]) {
                    @Override
                    public int getTLen() {
                        return bits;
                    }
                };
                try {
                    cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, spec, null);
                    throw new AssertionError("a tag of " + bits + " bits");
                } catch (InvalidAlgorithmParameterException right) {
                    continue;
                }
            }
            return HOSTILE.length;
        });
    }

    private static long finals(Gcm given, boolean seals, int waiting, boolean isOutput) throws Exception {
        long count = 0;
        for (int at : HOSTILE) {
            for (int size : HOSTILE) {
                for (int toAt : isOutput ? HOSTILE : new int[] {0}) {
                    Gcm cipher = cipher(seals, waiting);
                    byte[] to = new byte[128];
                    boolean works = returns("doFinal", () -> isOutput
                            ? cipher.engineDoFinal(new byte[64], at, size, to, toAt) : cipher.engineDoFinal(new byte[64], at, size));
                    long made = (long) size + (waiting & 15) + 16;
                    boolean mayBe = at >= 0 && size >= 0 && (long) at + size <= 64 && toAt >= 0 && toAt + made <= 128;
                    check(works == (mayBe && seals), "doFinal(" + at + ", " + size + ", " + toAt + ") works: " + works);
                    check(works || Arrays.equals(to, new byte[128]), "doFinal has written");
                    count++;
                }
            }
        }
        return count;
    }

    /** Each method of the cipher that takes sizes, with sizes that nobody should give. */
    static long ofCiphers() throws Exception {
        TreeSet<String> known = new TreeSet<>(OF_CIPHERS.keySet());
        for (Method method : Gcm.class.getDeclaredMethods()) {
            String signature = signature(method);
            boolean takesSizes = signature.contains(" int") || signature.contains(" long") || signature.contains("ByteBuffer");
            if (Modifier.isProtected(method.getModifiers()) && takesSizes) {
                check(known.remove(signature), "nobody has walked " + signature);
            }
        }
        check(known.isEmpty(), "there is no " + known);
        long count = 0;
        for (Walk walk : OF_CIPHERS.values()) {
            for (boolean seals : new boolean[] {true, false}) {
                for (int waiting : new int[] {0, 15, 100}) {
                    count += walk.run(cipher(seals, waiting), seals, waiting);
                }
            }
        }
        return count;
    }

    /** The library itself refuses what does not lie in its memory, whatever Java has checked. */
    static long ofTheLibrary() throws Exception {
        TreeSet<String> walked = new TreeSet<>();
        byte[] head = new byte[64];
        byte[] some = new byte[64];
        ByteBuffer direct = ByteBuffer.allocateDirect(64);
        long key = Native.key(new byte[32], 32);
        long count = 0;
        for (Place place : new Place[] {Place.of(some, 0), Place.of(some, 40), Place.of(direct)}) {
            Place to = place.memory == some ? Place.of(new byte[64], 0) : Place.of(ByteBuffer.allocateDirect(64));
            for (int one : HOSTILE) {
                for (int two : HOSTILE) {
                    long room = place.end - place.at;
                    count += refuses(walked, "message", one >= 0 && two >= 0 && one + (long) two <= room, () -> Native.message(key, head, 12, 0, place, one, to, two, false));
                    count += refuses(walked, "message", one >= 0 && two >= 0 && one + (long) two <= 64, () -> Native.message(key, head, 12, 0, place, one, to, two, true));
                    count += refuses(walked, "message", one > 0 && two >= 0 && one + (long) two <= 64, () -> Native.message(key, head, one, two, place, 3, to, 16, true));
                    count += refuses(walked, "once", one >= 0 && two >= 0 && one + (long) two <= room, () -> Native.once(some, 32, head, 12, 0, place, one, to, two, false));
                    count += refuses(walked, "once", one > 0 && two >= 0 && one + (long) two <= 64, () -> Native.once(some, 16, head, one, two, place, 3, to, 16, true));
                    count += refuses(walked, "once", one == 16 || one == 32, () -> Native.once(some, one, head, 12, 0, place, 3, to, 16, true));
                    long pieces = Native.pieces(key, head, 12);
                    count += refuses(walked, "aad", one >= 0 && two >= 0 && one + (long) two <= 64, () -> Native.aad(pieces, key, head, one, two));
                    for (boolean seals : new boolean[] {true, false}) {
                        count += refuses(walked, "text", one >= 0 && two >= 0 && one + (long) two <= room, () -> Native.text(pieces, key, place, one, two, to, 0, seals));
                        count += refuses(walked, "text", one >= 0 && two >= 0 && one + (long) two <= 64, () -> Native.text(pieces, key, place, 0, two, to, one, seals));
                    }
                    count += refuses(walked, "end", one >= 0 && two >= 0 && one + (long) two <= 64, () -> Native.end(pieces, key, to, one, two, true));
                    Native.freePieces(pieces);
                }
                count += refuses(walked, "key", one == 16, () -> {
                    long made = Native.key(some, one);
                    if (made != 0) {
                        Native.freeKey(made);
                    }
                    return made == 0 ? 2 : 0;
                });
                count += refuses(walked, "pieces", one > 0 && one <= 64, () -> {
                    long made = Native.pieces(key, head, one);
                    if (made != 0) {
                        Native.freePieces(made);
                    }
                    return made == 0 ? 2 : 0;
                });
                count += refuses(walked, "start", one >= 0 && one <= 64, () -> Native.start(some, one) > 2 ? 0 : 2);
                count += refuses(walked, "backend", one >= 0 && one <= 64, () -> {
                    int size = Native.backend(some, one);
                    return size == 2 || size > 64 ? 2 : 0; // no back end has a name of two letters
                });
            }
        }
        for (int i = 0; i <= 80; i++) {
            int size = i;
            count += refuses(walked, "derive", size >= 32, () -> Native.derive(new byte[size], new byte[24], new byte[64], true));
            count += refuses(walked, "derive", size >= 24, () -> Native.derive(new byte[32], new byte[size], new byte[64], true));
            count += refuses(walked, "derive", size >= 64, () -> Native.derive(new byte[32], new byte[24], new byte[size], false));
        }
        Native.freeKey(key);
        walked.addAll(Arrays.asList("address", "bind", "checkAlive", "fingerprint", "freeKey", "freePieces", "memory", "settle", "way")); // they take none
        for (Method method : Native.class.getDeclaredMethods()) {
            boolean isCalled = !Modifier.isPrivate(method.getModifiers()) && !method.isSynthetic();
            check(!isCalled || walked.contains(method.getName()), "nobody has walked " + method.getName());
        }
        return count;
    }

    /** 1, if the call does not work; or it may. */
    private static int refuses(TreeSet<String> walked, String name, boolean mayWork, Call call) {
        walked.add(name);
        int[] status = {2};
        boolean returns = returns(name, () -> status[0] = (Integer) call.run());
        boolean works = returns && status[0] != 2;
        check(!works || mayWork, name + " has worked beyond its memory: " + status[0]);
        return works ? 0 : 1;
    }

    private static Cipher ours(int mode, int iv) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
        cipher.init(mode, KEY, iv(iv));
        return cipher;
    }

    private static long crc(ByteBuffer of) {
        CRC32 crc = new CRC32();
        crc.update(of.duplicate());
        return crc.getValue();
    }

    /** Texts of nearly 2^31 bytes, from a file that has nothing to one that is mapped too: the longest one, one byte more, and forgeries. */
    static long giants(Path folder) throws Exception {
        Path nothing = Files.createDirectories(folder).resolve("nothing");
        Path made = folder.resolve("made");
        try (FileChannel in = FileChannel.open(nothing, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileChannel out = FileChannel.open(made, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            in.write(ByteBuffer.allocate(1), MOST - 1L);
            ByteBuffer text = in.map(FileChannel.MapMode.READ_ONLY, 0, MOST);
            ByteBuffer sealed = out.map(FileChannel.MapMode.READ_WRITE, 0, MOST);

            Cipher cipher = ours(Cipher.ENCRYPT_MODE, 1);
            for (int size : new int[] {MOST - 15, MOST - 1, MOST}) {
                fails(ShortBufferException.class, () -> cipher.doFinal(text.duplicate().limit(size), sealed.duplicate()));
                fails(ShortBufferException.class, () -> cipher.doFinal(text.duplicate().limit(size), ByteBuffer.allocateDirect(64)));
                fails(ShortBufferException.class, () -> cipher.update(text.duplicate().limit(size), ByteBuffer.allocate(64)));
                fails(ProviderException.class, () -> cipher.getOutputSize(size));
            }
            // 15 bytes wait; and a message to which nearly all has come.
            Cipher held = ours(Cipher.ENCRYPT_MODE, 2);
            held.update(new byte[15]);
            fails(ShortBufferException.class, () -> held.update(text.duplicate(), sealed.duplicate()));
            fails(ShortBufferException.class, () -> held.doFinal(text.duplicate(), sealed.duplicate()));
            Gcm far = cipher(true, 15);
            Field done = Message.class.getDeclaredField("done");
            done.setAccessible(true);
            done.setLong(far, MOST - 100L);
            fails(ProviderException.class, () -> far.engineUpdate(new byte[90], 0, 90));
            fails(ProviderException.class, () -> far.engineDoFinal(new byte[70], 0, 70));
            check(far.engineUpdate(new byte[85], 0, 85).length == 96, "the last blocks");
            for (boolean later : new boolean[] {false, true}) {
                fails(OutOfMemoryError.class, () -> {
                    cipher.updateAAD(text.duplicate().limit(MOST - (later ? 100 : 80)));
                    return null;
                });
            }
            check(cipher.doFinal(text.duplicate().limit(MOST - 16), sealed.duplicate()) == MOST, "sealed");
            Cipher theirs = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
            theirs.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
            ByteBuffer piece = ByteBuffer.allocate((1 << 20) + 16);
            byte[] zeros = new byte[1 << 20];
            for (long at = 0; at < MOST - 16; at += zeros.length) {
                int size = (int) Math.min(zeros.length, MOST - 16 - at);
                piece.clear();
                int ready = size == zeros.length ? theirs.update(ByteBuffer.wrap(zeros), piece) : theirs.doFinal(ByteBuffer.wrap(zeros, 0, size), piece);
                check(sealed.duplicate().position((int) at).limit((int) at + ready).equals(piece.flip()), "another ciphertext from " + at + " on");
            }

            sealed.put(MOST - 1, (byte) (sealed.get(MOST - 1) ^ 1));
            long before = crc(sealed);
            fails(AEADBadTagException.class, () -> ours(Cipher.DECRYPT_MODE, 1).doFinal(sealed.duplicate(), sealed.duplicate()));
            check(crc(sealed) == before, "a forgery that was opened in place is not what it was");
            fails(AEADBadTagException.class, () -> ours(Cipher.DECRYPT_MODE, 1).doFinal(text.duplicate(), sealed.duplicate()));
            check(sealed.duplicate().limit(MOST - 16).mismatch(text) == MOST - 16, "a forgery has left text");
            return 23;
        } finally {
            Files.delete(nothing);
            Files.deleteIfExists(made);
        }
    }

    /** Arrays of nearly 2^31 bytes, and as much of AAD and of text that waits. It wants 6 GB. */
    public static void main(String[] arguments) throws Exception {
        java.security.Security.addProvider(new Fastgcm());
        {
            byte[] text = new byte[MOST - 2]; // the largest array that HotSpot has
            byte[] other = new byte[4096];
            Cipher cipher = ours(Cipher.ENCRYPT_MODE, 1);
            fails(ShortBufferException.class, () -> cipher.doFinal(text, 0, text.length, new byte[1], 0));
            fails(ShortBufferException.class, () -> cipher.update(text, 0, text.length, new byte[1], 0));
            fails(ProviderException.class, () -> cipher.doFinal(text, 0, text.length));
            check(Arrays.equals(other, new byte[4096]), "another array has changed");
            cipher.update(new byte[15]);
            check(cipher.update(text, 0, text.length - 13).length == MOST - 15, "update"); // 2^31 - 16
            fails(ProviderException.class, () -> cipher.update(new byte[16]));
            fails(ShortBufferException.class, () -> cipher.update(text, 0, text.length, new byte[64], 0));
        }
        Path nothing = Path.of(arguments[0]);
        try (FileChannel in = FileChannel.open(nothing, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            in.write(ByteBuffer.allocate(1), MOST - 1L);
            ByteBuffer zeros = in.map(FileChannel.MapMode.READ_ONLY, 0, MOST);
            byte[] sealed = null;
            for (boolean seals : new boolean[] {true, false}) {
                Cipher cipher = ours(seals ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, 1);
                cipher.updateAAD(zeros.duplicate().limit(MOST - 1000));
                cipher.updateAAD(new byte[900]);
                fails(ProviderException.class, () -> {
                    cipher.updateAAD(new byte[100]);
                    return null;
                });
                byte[] answer = cipher.doFinal(seals ? new byte[9] : sealed);
                check(seals || Arrays.equals(answer, new byte[9]), "another text");
                sealed = answer;
            }
            Cipher cipher = ours(Cipher.DECRYPT_MODE, 1);
            for (int piece = 0; piece < 2; piece++) {
                cipher.update(zeros.duplicate().limit((1 << 30) - 100), ByteBuffer.allocate(0));
            }
            fails(ProviderException.class, () -> cipher.update(new byte[300]));
            fails(ShortBufferException.class, () -> cipher.doFinal(zeros.duplicate(), ByteBuffer.allocate(9)));
        } finally {
            Files.deleteIfExists(nothing);
        }
        System.out.println("as it should be");
    }
}
