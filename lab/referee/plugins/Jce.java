import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Provider;
import java.security.Security;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Java's {@code AES/GCM/NoPadding}, by the provider of which the environment names the class as REFEREE_PROVIDER, or else by the first. src/pipe.rs
 * says what goes through the pipes.
 *
 * <p>CLASSPATH=bcprov.jar REFEREE_PROVIDER=org.bouncycastle.jce.provider.BouncyCastleProvider
 */
final class Jce {
    private static DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(System.in, 1 << 20));

    private static int number() throws Exception {
        return Integer.reverseBytes(in.readInt());
    }

    private static byte[] bytes(int length) throws Exception {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    public static void main(String[] arguments) throws Exception {
        OutputStream out = new BufferedOutputStream(System.out, 1 << 20);
        int tags = 0x1f << 12;
        String wanted = System.getenv("REFEREE_PROVIDER");
        if (wanted != null) {
            Security.insertProviderAt((Provider) Class.forName(wanted).getDeclaredConstructor().newInstance(), 1);
        }
        var provider = Cipher.getInstance("AES/GCM/NoPadding").getProvider();
        String version = System.getProperty("java.version") + ", " + provider.getName() + " " + provider.getVersionStr();
        out.write(("Java|" + version + "|256|7|" + tags + "|1|1048576|1\n").getBytes(StandardCharsets.UTF_8));
        for (; ; ) {
            out.flush();
            int seals;
            try {
                seals = number();
            } catch (EOFException end) {
                return;
            }
            int pieces = number();
            int[] lengths = {number(), number(), number(), number(), number()};
            int[] cuts = new int[number()];
            int aads = number();
            for (int i = 0; i < cuts.length; i++) {
                cuts[i] = number();
            }
            byte[] key = bytes(lengths[0]);
            byte[] nonce = bytes(lengths[1]);
            byte[] aad = bytes(lengths[2]);
            byte[] text = bytes(lengths[3]);
            byte[] tag = seals == 1 ? new byte[0] : bytes(lengths[4]);
            if (pieces == 0) {
                cuts = new int[] {aad.length, text.length};
                aads = 1;
            }
            try {
                var cipher = Cipher.getInstance("AES/GCM/NoPadding");
                var parameters = new GCMParameterSpec(8 * lengths[4], nonce);
                cipher.init(seals == 1 ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), parameters);
                var made = new ByteArrayOutputStream();
                int at = 0;
                for (int i = 0; i < cuts.length; at += cuts[i], i++) {
                    if (i == aads) {
                        at = 0;
                    }
                    if (i < aads) {
                        cipher.updateAAD(aad, at, cuts[i]);
                    } else {
                        byte[] piece = cipher.update(text, at, cuts[i]);
                        made.write(piece == null ? new byte[0] : piece);
                    }
                }
                made.write(cipher.doFinal(tag));
                out.write(1);
                out.write(made.toByteArray());
            } catch (GeneralSecurityException | IllegalArgumentException | IllegalStateException refused) {
                out.write(0);
            }
        }
    }
}
