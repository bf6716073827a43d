package io.github.fastgcm;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Answers that others have published. */
final class Vectors {
    private Vectors() {}

    private static byte[] hex(String digits) {
        return digits.equals("-") ? new byte[0] : HexFormat.of().parseHex(digits);
    }

    private static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }

    private static Cipher cipher(int mode, byte[] key, byte[] iv, int tag, byte[] aad) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
        cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * tag, iv));
        cipher.updateAAD(aad);
        return cipher;
    }

    private static void opens(byte[] key, byte[] iv, byte[] aad, byte[] text, byte[] sealed, int tag) throws Exception {
        if (!Arrays.equals(cipher(Cipher.DECRYPT_MODE, key, iv, tag, aad).doFinal(sealed), text)) {
            throw new AssertionError("another text");
        }
    }

    private static void refuses(byte[] key, byte[] iv, byte[] aad, byte[] sealed, int tag) throws Exception {
        try {
            cipher(Cipher.DECRYPT_MODE, key, iv, tag, aad).doFinal(sealed);
        } catch (AEADBadTagException right) {
            return;
        }
        throw new AssertionError("a forgery is opened");
    }

    private static void seals(byte[] key, byte[] iv, byte[] aad, byte[] text, byte[] sealed, int tag) throws Exception {
        if (!Arrays.equals(cipher(Cipher.ENCRYPT_MODE, key, iv, tag, aad).doFinal(text), sealed)) {
            throw new AssertionError("another ciphertext");
        }
    }

    /** The file of NIST's CAVP that the project has: `encrypt|decrypt KEY NONCE AAD PLAINTEXT|FAIL CIPHERTEXT TAG`. Java has no tags of 4 and 8 bytes. */
    static long cavp(Path file) throws Exception {
        long count = 0;
        for (String line : Files.readAllLines(file)) {
            String[] words = line.split(" ");
            if (line.startsWith("#") || words[6].length() < 24) {
                continue;
            }
            byte[] key = hex(words[1]);
            byte[] iv = hex(words[2]);
            byte[] aad = hex(words[3]);
            byte[] tag = hex(words[6]);
            byte[] sealed = joined(hex(words[5]), tag);
            if (words[4].equals("FAIL")) {
                refuses(key, iv, aad, sealed, tag.length);
            } else {
                opens(key, iv, aad, hex(words[4]), sealed, tag.length);
                seals(key, iv, aad, hex(words[4]), sealed, tag.length);
            }
            count++;
        }
        return count;
    }

    /** Wycheproof's file. (It has one member of an object in each line.) */
    static long wycheproof(Path file) throws Exception {
        Matcher members = Pattern.compile("\"(key|iv|aad|msg|ct|tag|result)\"\\s*:\\s*\"([0-9a-z]*)\"").matcher(Files.readString(file));
        List<String> names = List.of("key", "iv", "aad", "msg", "ct", "tag", "result");
        String[] values = new String[names.size()];
        long count = 0;
        while (members.find()) {
            int name = names.indexOf(members.group(1));
            values[name] = members.group(2);
            if (name < names.size() - 1) {
                continue;
            }
            byte[] key = hex(values[0]);
            byte[] iv = hex(values[1]);
            byte[] aad = hex(values[2]);
            byte[] text = hex(values[3]);
            byte[] tag = hex(values[5]);
            byte[] sealed = joined(hex(values[4]), tag);
            if (iv.length == 0) {
                try {
                    cipher(Cipher.DECRYPT_MODE, key, iv, tag.length, aad);
                    throw new AssertionError("an empty IV");
                } catch (java.security.InvalidAlgorithmParameterException right) {
                    count++;
                    continue;
                }
            }
            if (values[6].equals("invalid")) {
                refuses(key, iv, aad, sealed, tag.length);
            } else {
                opens(key, iv, aad, text, sealed, tag.length);
                seals(key, iv, aad, text, sealed, tag.length);
            }
            count++;
        }
        return count;
    }
}
