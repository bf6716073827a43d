package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;
import static io.github.fastgcm.Tests.iv;
import static io.github.fastgcm.Tests.theirs;

import java.lang.reflect.Method;
import java.security.InvalidAlgorithmParameterException;
import java.security.Key;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Random;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** What docs/java.md promises of a program's arrays, and of what is left of keys. */
final class Promises {
    private Promises() {}

    private static Cipher ours(int mode, Key key, GCMParameterSpec iv) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
        cipher.init(mode, key, iv);
        return cipher;
    }

    /** A byte of a text changes to and fro while it is opened: it is refused, or some text comes out, as docs/java.md says; and the next message is right. */
    static long inputThatChanges(int rounds) throws Exception {
        long count = 0;
        for (int size : new int[] {100, 16_384, 3 * Library.PART + 5}) {
            byte[] text = new byte[size];
            byte[] sealed = theirs(iv(1), new byte[0], text);
            byte[] shared = sealed.clone();
            boolean[] stop = {false};
            Thread other = new Thread(() -> {
                for (int round = 0; !stop[0] || round % 2 == 1; round++) {
                    shared[size / 2] ^= 1;
                    Thread.onSpinWait();
                }
            });
            other.start();
            Cipher cipher = ours(Cipher.DECRYPT_MODE, KEY, iv(1));
            byte[] out = new byte[size];
            for (int round = 0; round < rounds; round++) {
                cipher.init(Cipher.DECRYPT_MODE, KEY, iv(1));
                try {
                    check(cipher.doFinal(shared, 0, shared.length, out, 0) == size, "size");
                } catch (AEADBadTagException right) {
                    check(Arrays.equals(out, new byte[size]), "a refused text is not zero");
                }
                check(Arrays.equals(cipher.doFinal(sealed), text), "the next message");
                count++;
            }
            stop[0] = true;
            other.join();
        }
        return count;
    }

    /** What has been taken is a copy: the IV, the key, AAD, and text that `update` holds back. Nobody's change reaches it. */
    static long copies() throws Exception {
        byte[] text = new byte[70];
        new Random(1).nextBytes(text);
        byte[] aad = {1, 2, 3};
        byte[] sealed = theirs(iv(1), aad, text);
        byte[] iv = iv(1).getIV();
        GCMParameterSpec lent = new GCMParameterSpec(128, iv) {
            @Override
            public byte[] getIV() {
                return iv;
            }
        };
        byte[] bytes = new byte[32];
        SecretKey key = new SecretKey() {
            private static final long serialVersionUID = 1;

            @Override
            public String getAlgorithm() {
                return "AES";
            }

            @Override
            public String getFormat() {
                return "RAW";
            }

            @Override
            public byte[] getEncoded() {
                return bytes;
            }
        };
        Cipher cipher = ours(Cipher.ENCRYPT_MODE, key, lent);
        bytes[0] = 1;
        iv[0] = 1;
        byte[] header = aad.clone();
        cipher.updateAAD(header);
        header[0]++;
        byte[] piece = Arrays.copyOf(text, 9);
        check(cipher.update(piece).length == 0, "nine bytes are no block");
        piece[0]++;
        check(Arrays.equals(cipher.doFinal(text, 9, 61), sealed), "a change has reached what is sealed");
        Arrays.fill(bytes, (byte) 0);
        try {
            cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
            throw new AssertionError("an IV is used twice");
        } catch (InvalidAlgorithmParameterException right) {
            check(right.getMessage().contains("reuse"), "refused: " + right);
        }

        iv[0] = 0;
        cipher.init(Cipher.DECRYPT_MODE, KEY, lent);
        iv[0] = 1;
        cipher.updateAAD(aad);
        byte[] given = sealed.clone();
        cipher.update(given, 0, 40);
        Arrays.fill(given, 0, 40, (byte) 9);
        check(Arrays.equals(cipher.doFinal(given, 40, given.length - 40), text), "a change has reached what is opened");
        byte[][] kept = {null};
        SecureRandom keeps = new SecureRandom() {
            private static final long serialVersionUID = 1;

            @Override
            public void nextBytes(byte[] filled) {
                super.nextBytes(filled);
                kept[0] = filled;
            }
        };
        Cipher drawn = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
        drawn.init(Cipher.ENCRYPT_MODE, KEY, keeps);
        byte[] before = drawn.getIV();
        kept[0][0]++;
        check(Arrays.equals(drawn.getIV(), before), "a generator has changed the IV that it drew");
        byte[] random = drawn.doFinal(text);
        check(Arrays.equals(random, theirs(new GCMParameterSpec(128, before), new byte[0], text)), "another IV than it says");
        return 9;
    }

    /** Another key: the array of the one before is zero, and its native memory is free. */
    static long wiped() throws Exception {
        Gcm cipher = new Gcm(0);
        byte[] bytes = new byte[16];
        Arrays.fill(bytes, (byte) 7);
        for (int message = 0; message < 2; message++) {
            cipher.engineInit(Cipher.ENCRYPT_MODE, new SecretKeySpec(bytes, "AES"), iv(message), null);
            cipher.engineDoFinal(new byte[9], 0, 9);
        }
        byte[] key = cipher.key;
        Keyed.Memory memory = cipher.memory;
        check(Arrays.equals(key, bytes) && memory.key != 0, "the key of two messages is kept");
        cipher.engineInit(Cipher.DECRYPT_MODE, KEY, iv(1), null);
        check(memory.key == 0, "its native memory is not free");
        check(Arrays.equals(key, bytes), "what the last encryption had is still compared with");
        cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, iv(1), null);
        check(Arrays.equals(key, new byte[16]), "the key before is not wiped");
        byte[] opening = new byte[16];
        Arrays.fill(opening, (byte) 8);
        cipher.engineInit(Cipher.DECRYPT_MODE, new SecretKeySpec(opening, "AES"), iv(1), null);
        key = cipher.key;
        cipher.engineInit(Cipher.DECRYPT_MODE, KEY, iv(1), null);
        check(Arrays.equals(key, new byte[16]), "the key that opened is not wiped");
        byte[] held = new byte[9];
        Arrays.fill(held, (byte) 9);
        cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, iv(2), null);
        cipher.engineUpdate(held, 0, 9);
        byte[] waits = cipher.held;
        cipher.engineDoFinal(held, 0, 9);
        check(Arrays.equals(waits, new byte[16]), "text that waited is not wiped");
        return 5;
    }

    /** What goes to the library in one call is no longer than a part: garbage collection waits for it. */
    static long parts() throws Exception {
        Gcm cipher = new Gcm(0);
        Method isShort = Message.class.getDeclaredMethod("isShort", int.class);
        isShort.setAccessible(true);
        long count = 0;
        for (int aad : new int[] {0, Library.PART - 12, Library.PART - 11, Library.PART}) {
            cipher.engineInit(Cipher.DECRYPT_MODE, KEY, iv(1), null);
            cipher.engineUpdateAAD(new byte[aad], 0, aad);
            for (int text : new int[] {0, Library.PART, Library.PART + 1, Integer.MAX_VALUE}) {
                boolean is = text <= Library.PART && aad + 12 <= Library.PART;
                check(is == (boolean) isShort.invoke(cipher, text), "a text of " + text + " with AAD of " + aad);
                count++;
            }
        }
        return count;
    }
}
