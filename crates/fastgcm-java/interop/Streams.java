import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.security.Provider;
import java.security.Security;
import java.util.Arrays;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.CipherInputStream;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A text of 1 MiB through `CipherInputStream`, which asks the cipher for pieces of 512 bytes in Java 17 and of 8 KiB in Java 25; and the same by `update`, in pieces of these sizes. Prints
 * lines of `java verb way provider best`, in microseconds of the thread's processor time for the text: the best of some rounds, providers in turn.
 */
public final class Streams {
    private static final int SIZE = 1 << 20;
    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static int number;

    private Streams() {}

    /** How long that took; `way` is the size of pieces, or 0 for a stream. */
    private static double once(Provider provider, boolean seals, int way, byte[] text, byte[] to) throws Exception {
        byte[] iv = ByteBuffer.allocate(12).putInt(seals ? ++number : 0).array();
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", provider);
        cipher.init(seals ? Cipher.ENCRYPT_MODE : Cipher.DECRYPT_MODE, KEY, new GCMParameterSpec(128, iv));
        long start = CLOCK.getCurrentThreadCpuTime();
        int made = 0;
        if (way == 0) {
            try (CipherInputStream stream = new CipherInputStream(new ByteArrayInputStream(text), cipher)) {
                made = stream.readNBytes(to, 0, to.length);
            }
        } else {
            for (int at = 0; at < text.length; at += way) {
                made += cipher.update(text, at, Math.min(way, text.length - at), to, made);
            }
            made += cipher.doFinal(to, made);
        }
        double took = (CLOCK.getCurrentThreadCpuTime() - start) / 1000.0;
        if (made != text.length + (seals ? 16 : -16)) {
            throw new AssertionError(made + " bytes");
        }
        return took;
    }

    public static void main(String[] arguments) throws Exception {
        List<Provider> providers = List.of(new io.github.fastgcm.Fastgcm(), Security.getProvider("SunJCE"));
        byte[] text = new byte[SIZE];
        byte[] to = new byte[SIZE + 16];
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        cipher.init(Cipher.ENCRYPT_MODE, KEY, new GCMParameterSpec(128, new byte[12]));
        byte[] sealed = cipher.doFinal(text);
        System.out.println("# Java " + Runtime.version() + ", " + io.github.fastgcm.Fastgcm.backend() + " by " + io.github.fastgcm.Fastgcm.way());
        for (boolean seals : new boolean[] {true, false}) {
            for (int way : new int[] {0, 64, 512, 8192}) {
                double[] best = new double[2];
                Arrays.fill(best, Double.MAX_VALUE);
                for (int round = 0; round < 200; round++) {
                    for (int turn = 0; turn < 2; turn++) {
                        double took = once(providers.get(turn), seals, way, seals ? text : sealed, to);
                        best[turn] = round < 60 ? best[turn] : Math.min(best[turn], took);
                    }
                }
                for (int turn = 0; turn < 2; turn++) {
                    System.out.printf("%d %s %s %s %.0f%n", Runtime.version().feature(), seals ? "seal" : "open", way == 0 ? "stream" : way, providers.get(turn).getName(), best[turn]);
                }
            }
        }
    }
}
