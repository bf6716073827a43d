import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Provider;
import java.security.Security;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Java's {@code AES/GCM/NoPadding}, by the provider of which the environment names the class as REFEREE_PROVIDER, or else by the first. src/pipe.rs
 * says what goes through the pipes. AAD, texts and tags are direct buffers over the referee's memory; keys and nonces are arrays of Java.
 *
 * levels: JDK_JAVA_OPTIONS=-XX:UseAVX=0 JDK_JAVA_OPTIONS=-XX:UseAVX=1 JDK_JAVA_OPTIONS=-XX:UseAVX=2 JDK_JAVA_OPTIONS=-XX:UseAVX=3
 * without: JDK_JAVA_OPTIONS=-XX:-UseAES JDK_JAVA_OPTIONS=-XX:+UnlockDiagnosticVMOptions;-XX:-UseAESIntrinsics
 * without: JDK_JAVA_OPTIONS=-XX:+UnlockDiagnosticVMOptions;-XX:-UseGHASHIntrinsics
 * without: JDK_JAVA_OPTIONS=-XX:+UnlockDiagnosticVMOptions;-XX:-UseAESCTRIntrinsics
 *
 * <p>CLASSPATH=bcprov.jar REFEREE_PROVIDER=org.bouncycastle.jce.provider.BouncyCastleProvider
 */
final class Jce {
    private static DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(System.in, 1 << 20));

    private static int number() throws Exception {
        return Integer.reverseBytes(in.readInt());
    }

    private static ByteBuffer mapped(String name) throws Exception {
        try (var file = new RandomAccessFile(System.getenv("REFEREE_MEMORY") + "/" + name, "rw")) {
            return file.getChannel().map(MapMode.READ_WRITE, 0, file.length());
        }
    }

    private static byte[] bytes(ByteBuffer memory, int at, int length) {
        byte[] bytes = new byte[length];
        memory.get(at, bytes);
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
        var memory = new ByteBuffer[6];
        for (int i = 0; i < 6; i++) {
            memory[i] = mapped(new String[] {"key", "nonce", "AAD", "input", "output", "tag"}[i]);
        }
        out.write(("Java|" + version + "|" + (1 | 32 | 256 | 512) + "|7|" + tags + "|1|1048576|1\n").getBytes(StandardCharsets.UTF_8));
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
            int[] places = {number(), number(), number(), number(), number(), number()};
            int shared = number();
            byte[] key = bytes(memory[0], places[0], lengths[0]);
            byte[] nonce = bytes(memory[1], places[1], lengths[1]);
            ByteBuffer aad = memory[2].slice(places[2], lengths[2]);
            int tag = lengths[4];
            ByteBuffer from = memory[shared == 1 ? 4 : 3].slice(places[3], lengths[3] + (seals == 1 ? 0 : tag));
            ByteBuffer to = memory[4].slice(places[4], lengths[3] + (seals == 1 ? tag : 0));
            if (pieces == 0) {
                cuts = new int[] {lengths[2], lengths[3]};
                aads = 1;
            }
            // YOURS is another library's place: `from` is sealed or opened to `to`, with the tag behind the ciphertext. The line above says what it offers.
            try {
                var cipher = Cipher.getInstance("AES/GCM/NoPadding");
                var parameters = new GCMParameterSpec(8 * tag, nonce);
                cipher.init(seals == 1 ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), parameters);
                for (int i = 0; i < cuts.length; i++) {
                    if (i < aads) {
                        cipher.updateAAD(aad.limit(aad.position() + cuts[i]));
                    } else if (i + 1 < cuts.length) {
                        cipher.update(from.limit(from.position() + cuts[i]), to);
                    }
                }
                cipher.doFinal(from.limit(from.capacity()), to);
                out.write(1);
            } catch (GeneralSecurityException | IllegalArgumentException | IllegalStateException refused) {
                out.write(0);
            } catch (InternalError beside) {
                out.write(2);
            }
        }
    }
}
