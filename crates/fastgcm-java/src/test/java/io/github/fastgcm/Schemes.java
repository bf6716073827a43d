package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.NoSuchPaddingException;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** XAES-256-GCM and KC-XAES-256-GCM: known answers, forgeries, messages in pieces, and calls that are wrong. */
final class Schemes {
    private static final String[] NAMES = {"XAES-256-GCM", "KC-XAES-256-GCM"};
    private static final byte[] IV = "ABCDEFGHIJKLMNOPQRSTUVWX".getBytes();
    private static final byte[] TEXT = "XAES-256-GCM".getBytes();

    private Schemes() {}

    private static int end(String name) {
        return name.startsWith("KC") ? 48 : 16;
    }

    private static Key key(int of, int size) {
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, (byte) of);
        return new SecretKeySpec(bytes, "AES");
    }

    private static Cipher cipher(String name, int mode, Key key, byte[] iv, byte[] aad) throws Exception {
        Cipher cipher = Cipher.getInstance(name, "Fastgcm");
        cipher.init(mode, key, new GCMParameterSpec(128, iv));
        cipher.updateAAD(aad);
        return cipher;
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static long fails(Class<? extends Exception> how, Callable<?> call) {
        try {
            call.call();
        } catch (Exception thrown) {
            check(thrown.getClass() == how, "not " + how + " but " + thrown);
            return 1;
        }
        throw new AssertionError("no " + how);
    }

    private static byte[] hex(String digits) {
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    /** The first 28 bytes are C2SP's vectors; the rest is of crates/fastgcm/tests/committing.rs. With any byte of anything altered it is refused. */
    static long knownAnswers() throws Exception {
        long count = 0;
        for (String name : NAMES) {
            for (int of : new int[] {1, 3}) {
                byte[] aad = (of == 1 ? "" : "c2sp.org/XAES-256-GCM").getBytes();
                byte[] sealed = Arrays.copyOf(hex(of == 1
                        ? "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e227104076b6085eebab138855fe57811c04112eff989d44120dfff662d5475a383c3"
                        : "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d5553cd21d1592b422e3129632a3187eee8a658cdca5c5b32ce86308dcc18e9d1"),
                        12 + end(name));
                Cipher cipher = cipher(name, Cipher.ENCRYPT_MODE, key(of, 32), IV, aad);
                check(Arrays.equals(cipher.doFinal(TEXT), sealed), name + " " + of);
                check(Arrays.equals(cipher.getIV(), IV), "IV");
                byte[] again = Arrays.copyOf(TEXT, sealed.length);
                check(cipher(name, Cipher.ENCRYPT_MODE, key(of, 32), IV, aad).doFinal(again, 0, 12, again, 0) == sealed.length, "size");
                check(Arrays.equals(again, sealed), "in place");
                check(Arrays.equals(cipher(name, Cipher.DECRYPT_MODE, key(of, 32), IV, aad).doFinal(sealed), TEXT), "opened");
                for (int altered = 0; altered < 24 + aad.length + sealed.length; altered++) {
                    byte[] iv = IV.clone();
                    byte[] otherAad = aad.clone();
                    byte[] other = sealed.clone();
                    int at = altered < 24 ? altered : altered < 24 + aad.length ? altered - 24 : altered - 24 - aad.length;
                    (altered < 24 ? iv : altered < 24 + aad.length ? otherAad : other)[at] ^= (byte) (1 << altered % 8);
                    byte[] to = new byte[12];
                    Arrays.fill(to, (byte) 7);
                    Cipher opening = cipher(name, Cipher.DECRYPT_MODE, key(of, 32), iv, otherAad);
                    count += fails(AEADBadTagException.class, () -> opening.doFinal(other, 0, other.length, to, 0));
                    check(Arrays.equals(to, new byte[12]), "a refused text is not zero: byte " + altered);
                    byte[] inPlace = other.clone();
                    count += fails(AEADBadTagException.class, () -> cipher(name, Cipher.DECRYPT_MODE, key(of, 32), iv, otherAad).doFinal(inPlace, 0, inPlace.length, inPlace, 0));
                    check(Arrays.equals(inPlace, other), "what was opened in place has changed: byte " + altered);
                }
            }
        }
        return count;
    }

    /** In pieces, from and to arrays and buffers, of all sizes: what one scheme seals begins as what the other does, and is opened in other pieces. */
    static long pieces(int rounds) throws Exception {
        Random random = new Random(5);
        long count = 0;
        for (int round = 0; round < rounds; round++) {
            byte[] bytes = new byte[32];
            byte[] iv = new byte[24];
            byte[] aad = new byte[random.nextInt(60)];
            byte[] text = new byte[random.nextInt(round % 50 == 0 ? 3 * Library.PART : 200)];
            for (byte[] filled : new byte[][] {bytes, iv, aad, text}) {
                random.nextBytes(filled);
            }
            Key key = new SecretKeySpec(bytes, "AES");
            byte[][] sealed = new byte[2][];
            for (int i = 0; i < 2; i++) {
                sealed[i] = run(cipher(NAMES[i], Cipher.ENCRYPT_MODE, key, iv, aad), text, text.length + end(NAMES[i]), random);
                check(Arrays.equals(run(cipher(NAMES[i], Cipher.DECRYPT_MODE, key, iv, aad), sealed[i], text.length, random), text), "opened");
                byte[] forged = sealed[i].clone();
                forged[random.nextInt(forged.length)] ^= (byte) (1 << random.nextInt(8));
                Cipher opening = cipher(NAMES[i], Cipher.DECRYPT_MODE, key, iv, aad);
                count += fails(AEADBadTagException.class, () -> run(opening, forged, text.length, random));
            }
            check(Arrays.equals(sealed[0], Arrays.copyOf(sealed[1], sealed[0].length)), "they begin alike");
        }
        return count;
    }

    private static byte[] run(Cipher cipher, byte[] from, int size, Random random) throws Exception {
        if (random.nextBoolean()) {
            ByteBuffer in = random.nextBoolean() ? ByteBuffer.allocate(from.length) : ByteBuffer.allocateDirect(from.length);
            ByteBuffer out = random.nextBoolean() ? ByteBuffer.allocate(size) : ByteBuffer.allocateDirect(size);
            in.put(from).flip();
            int first = random.nextInt(from.length + 1);
            cipher.update(in.duplicate().limit(first), out);
            cipher.doFinal(in.position(first), out);
            byte[] made = new byte[size];
            check(!out.hasRemaining(), "size");
            out.flip().get(made);
            return made;
        }
        byte[] made = new byte[size];
        int first = random.nextInt(from.length + 1);
        check(cipher.getOutputSize(from.length) == size, "output size");
        int done = cipher.update(from, 0, first, made, 0);
        check(done + cipher.doFinal(from, first, from.length - first, made, done) == size, "size");
        return made;
    }

    /** Keys, IVs and tags of other sizes; an IV that is used twice; too little room; an input that is too short: what JDK's AES/GCM throws. */
    static long refused() throws Exception {
        long count = 0;
        for (String name : NAMES) {
            Cipher cipher = Cipher.getInstance(name + "/None/NoPadding", "Fastgcm");
            count += fails(NoSuchAlgorithmException.class, () -> Cipher.getInstance(name + "/GCM/NoPadding", "Fastgcm"));
            count += fails(NoSuchPaddingException.class, () -> Cipher.getInstance(name + "/None/PKCS5Padding", "Fastgcm"));
            for (int size : new int[] {16, 24, 31, 33, 64}) {
                count += fails(InvalidKeyException.class, () -> cipher(name, Cipher.ENCRYPT_MODE, key(1, size), IV, new byte[0]));
            }
            count += fails(InvalidKeyException.class, () -> cipher(name, Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "DES"), IV, new byte[0]));
            for (int size : new int[] {1, 12, 16, 23, 25}) {
                count += fails(InvalidAlgorithmParameterException.class, () -> cipher(name, Cipher.DECRYPT_MODE, key(1, 32), new byte[size], new byte[0]));
            }
            for (int bits : new int[] {0, 32, 64, 96, 120, 136, 256, 384}) {
                count += fails(InvalidAlgorithmParameterException.class, () -> {
                    cipher.init(Cipher.ENCRYPT_MODE, key(1, 32), new GCMParameterSpec(bits, IV));
                    return null;
                });
            }
            count += fails(InvalidAlgorithmParameterException.class, () -> {
                cipher.init(Cipher.ENCRYPT_MODE, key(1, 32), new IvParameterSpec(IV));
                return null;
            });
            // What was refused has changed nothing: there is no key yet.
            count += fails(IllegalStateException.class, () -> cipher.doFinal(TEXT));
            cipher.init(Cipher.ENCRYPT_MODE, key(1, 32), new GCMParameterSpec(128, IV));
            count += fails(ShortBufferException.class, () -> cipher.doFinal(TEXT, 0, 12, new byte[11 + end(name)], 0));
            byte[] sealed = cipher.doFinal(TEXT);
            count += fails(IllegalStateException.class, () -> cipher.doFinal(TEXT));
            count += fails(InvalidAlgorithmParameterException.class, () -> {
                cipher.init(Cipher.ENCRYPT_MODE, key(1, 32), new GCMParameterSpec(128, IV));
                return null;
            });
            // Another key, and then an IV that is drawn.
            cipher.init(Cipher.ENCRYPT_MODE, key(2, 32), new GCMParameterSpec(128, IV));
            cipher.init(Cipher.ENCRYPT_MODE, key(2, 32));
            byte[] other = cipher.doFinal(TEXT);
            byte[] iv = cipher.getIV();
            check(iv.length == 24 && !Arrays.equals(iv, IV), "an IV that was drawn");
            check(Arrays.equals(cipher(name, Cipher.DECRYPT_MODE, key(2, 32), iv, new byte[0]).doFinal(other), TEXT), "opened");
            Cipher byParameters = Cipher.getInstance(name, "Fastgcm");
            byParameters.init(Cipher.DECRYPT_MODE, key(2, 32), cipher.getParameters());
            check(Arrays.equals(byParameters.doFinal(other), TEXT), "parameters");
            for (int size : new int[] {0, 15, end(name) - 1}) {
                count += fails(AEADBadTagException.class, () -> cipher(name, Cipher.DECRYPT_MODE, key(1, 32), IV, new byte[0]).doFinal(sealed, 0, size));
            }
            count += fails(ShortBufferException.class, () -> cipher(name, Cipher.DECRYPT_MODE, key(1, 32), IV, new byte[0]).doFinal(sealed, 0, sealed.length, new byte[11], 0));
            // After a refusal the same object opens.
            Cipher opening = cipher(name, Cipher.DECRYPT_MODE, key(1, 32), IV, new byte[0]);
            byte[] forged = sealed.clone();
            forged[forged.length - 1] ^= 1;
            count += fails(AEADBadTagException.class, () -> opening.doFinal(forged));
            check(Arrays.equals(opening.doFinal(sealed), TEXT), "after a refusal");
        }
        return count;
    }

    /** What docs/java.md says of KC-XAES-256-GCM is what {@link #example} does. */
    static long page() throws Exception {
        String page = Files.readString(Path.of("docs/java.md"));
        String shown = page.split("```java\n")[2].split("```")[0];
        String source = Files.readString(Path.of("crates/fastgcm-java/src/test/java/io/github/fastgcm/Schemes.java"));
        check(shown.contains("KC-XAES-256-GCM") && source.contains(shown.indent(8)), "the page has another example:\n" + shown);
        byte[] key = new byte[32];
        check(Arrays.equals(example(key, IV, TEXT), TEXT), "opened");
        return 2;
    }

    private static byte[] example(byte[] key, byte[] header, byte[] text) throws Exception {
        SecretKeySpec root = new SecretKeySpec(key, "AES");                  // 32 bytes
        Cipher cipher = Cipher.getInstance("KC-XAES-256-GCM", "Fastgcm");
        cipher.init(Cipher.ENCRYPT_MODE, root);                              // a random IV is drawn
        cipher.updateAAD(header);
        byte[] iv = cipher.getIV();                                          // 24 bytes, which are sent
        byte[] sealed = cipher.doFinal(text);                                // ciphertext, tag, commitment: 48 bytes more
        cipher.init(Cipher.DECRYPT_MODE, root, new GCMParameterSpec(128, iv));
        cipher.updateAAD(header);
        byte[] opened = cipher.doFinal(sealed);                              // or an AEADBadTagException
        return opened;
    }
}
