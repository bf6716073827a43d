import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Java's {@code AES/GCM/NoPadding}, as a process that takes samples when it is asked to. The questions and answers are those of
 * {@code rivals/go/main.go}.
 *
 * <p>A {@link Cipher} for each direction is reused: {@code init} with the nonce, {@code updateAAD}, {@code doFinal} into another buffer.
 * Java derives the key's material anew in each {@code init}; there is no documented way around it.
 */
final class Rival {
    interface Work {
        void run(long iterations) throws Exception;
    }

    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        var reader = new BufferedReader(new InputStreamReader(System.in), 1 << 20);
        Work work = null;
        for (String line; (line = reader.readLine()) != null; ) {
            String[] fields = line.split(" ");
            switch (fields[0]) {
                case "version" -> System.out.println("Java " + System.getProperty("java.version") + " JCE");
                case "answer" -> System.out.println(answer(fields));
                case "case" -> {
                    work = work(fields);
                    // The compiler of the virtual machine needs some thousand calls, or some time.
                    long start = System.nanoTime();
                    for (int i = 0; i < 2000 && System.nanoTime() - start < 200_000_000L; i++) {
                        work.run(10);
                    }
                    System.out.println("ok");
                }
                case "run" -> {
                    long start = System.nanoTime();
                    work.run(Long.parseLong(fields[1]));
                    System.out.println(Math.max(System.nanoTime() - start, 1));
                }
            }
            System.out.flush();
        }
    }

    private static String answer(String[] fields) throws Exception {
        var key = new SecretKeySpec(HEX.parseHex(fields[1].substring(1)), "AES");
        var parameters = new GCMParameterSpec(128, HEX.parseHex(fields[2].substring(1)));
        byte[] aad = HEX.parseHex(fields[3].substring(1));
        byte[] text = HEX.parseHex(fields[4].substring(1));
        var cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, key, parameters);
        cipher.updateAAD(aad);
        byte[] sealed = cipher.doFinal(text);
        cipher.init(Cipher.DECRYPT_MODE, key, parameters);
        cipher.updateAAD(aad);
        if (!Arrays.equals(cipher.doFinal(sealed), text)) {
            return "error does not open what it sealed";
        }
        byte[] wrong = sealed.clone();
        wrong[wrong.length - 1] ^= 0x40;
        cipher.init(Cipher.DECRYPT_MODE, key, parameters);
        cipher.updateAAD(aad);
        try {
            cipher.doFinal(wrong);
            return "error opens with a wrong tag";
        } catch (AEADBadTagException expected) {
            return "x" + HEX.formatHex(sealed);
        }
    }

    private static Work work(String[] fields) throws Exception {
        var key = new SecretKeySpec(new byte[Integer.parseInt(fields[2])], "AES");
        byte[] text = new byte[Integer.parseInt(fields[3])];
        byte[] aad = new byte[Integer.parseInt(fields[4])];
        byte[] out = new byte[text.length + 16];
        var nonces = new GCMParameterSpec[64];
        for (int i = 0; i < nonces.length; i++) {
            byte[] nonce = new byte[12];
            Arrays.fill(nonce, (byte) i);
            nonces[i] = new GCMParameterSpec(128, nonce);
        }
        var cipher = Cipher.getInstance("AES/GCM/NoPadding");
        int[] count = {0}; // goes on from run to run: the same nonce twice in a row is refused
        switch (fields[1]) {
            case "seal":
                return iterations -> {
                    for (long i = 0; i < iterations; i++) {
                        cipher.init(Cipher.ENCRYPT_MODE, key, nonces[count[0]++ & 63]);
                        cipher.updateAAD(aad);
                        cipher.doFinal(text, 0, text.length, out, 0);
                    }
                };
            case "open":
                cipher.init(Cipher.ENCRYPT_MODE, key, nonces[1]);
                cipher.updateAAD(aad);
                byte[] sealed = cipher.doFinal(text);
                return iterations -> {
                    for (long i = 0; i < iterations; i++) {
                        cipher.init(Cipher.DECRYPT_MODE, key, nonces[1]);
                        cipher.updateAAD(aad);
                        cipher.doFinal(sealed, 0, sealed.length, out, 0);
                    }
                };
            default:
                return iterations -> {
                    for (long i = 0; i < iterations; i++) {
                        var fresh = Cipher.getInstance("AES/GCM/NoPadding");
                        fresh.init(Cipher.ENCRYPT_MODE, key, nonces[count[0]++ & 63]);
                    }
                };
        }
    }
}
