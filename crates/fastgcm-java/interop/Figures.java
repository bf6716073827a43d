import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.security.Provider;
import java.security.Security;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.CipherInputStream;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Providers in turn, in one virtual machine: `init`, `updateAAD` of 13 bytes and `doFinal` from one array to another (AES-256). Prints lines of `verb size provider best median`, in
 * nanoseconds of the thread's processor time a message; best and median are those of the rounds, after a third of them that warm up. All answers are compared first.
 * With `streams`: streams instead. With the name of a provider: that provider in a young virtual machine.
 */
public final class Figures {
    private static final int[] SIZES = {16, 64, 256, 1420, 4096, 16384, 65536, 1 << 20};
    private static final byte[] AAD = "what it is to".getBytes();
    private static final SecretKeySpec KEY = new SecretKeySpec(new byte[32], "AES");
    private static final int ROUNDS = Integer.getInteger("rounds", 90);

    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long number;

    private Figures() {}

    private static GCMParameterSpec next() {
        return new GCMParameterSpec(128, ByteBuffer.allocate(12).putLong(4, ++number).array());
    }

    /** Messages of one provider. */
    private static final class Side {
        final Provider provider;
        final Cipher cipher;
        final byte[] text;
        final byte[] sealed;
        final byte[] out;

        Side(Provider provider, int size) throws Exception {
            this.provider = provider;
            cipher = Cipher.getInstance("AES/GCM/NoPadding", provider);
            text = new byte[size];
            Arrays.fill(text, (byte) 7);
            sealed = new byte[size + 16];
            out = new byte[size];
        }

        void seal(GCMParameterSpec iv) throws Exception {
            cipher.init(Cipher.ENCRYPT_MODE, KEY, iv);
            cipher.updateAAD(AAD);
            cipher.doFinal(text, 0, text.length, sealed, 0);
        }

        void open(GCMParameterSpec iv) throws Exception {
            cipher.init(Cipher.DECRYPT_MODE, KEY, iv);
            cipher.updateAAD(AAD);
            cipher.doFinal(sealed, 0, sealed.length, out, 0);
        }
    }

    private static double time(Side side, boolean seals, int messages) throws Exception {
        GCMParameterSpec[] ivs = new GCMParameterSpec[messages];
        GCMParameterSpec sealed = next();
        side.seal(sealed);
        for (int message = 0; message < messages; message++) {
            ivs[message] = seals ? next() : sealed;
        }
        long start = CLOCK.getCurrentThreadCpuTime();
        for (GCMParameterSpec iv : ivs) {
            if (seals) {
                side.seal(iv);
            } else {
                side.open(iv);
            }
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) messages;
    }

    /** How long that took; `way` is the size of pieces, or 0 for a stream. */
    private static double once(Provider provider, boolean seals, int way, byte[] text, byte[] to) throws Exception {
        byte[] iv = seals ? next().getIV() : new byte[12];
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

    /**
     * A text of 1 MiB through `CipherInputStream`, which asks the cipher for pieces of 512 bytes in Java 17 and of 8 KiB in Java 25; and by `update`, in pieces of these sizes. Prints
     * lines of `java verb way provider best`, in microseconds for the text.
     */
    private static void streams(List<Provider> providers) throws Exception {
        byte[] text = new byte[1 << 20];
        byte[] to = new byte[text.length + 16];
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        cipher.init(Cipher.ENCRYPT_MODE, KEY, new GCMParameterSpec(128, new byte[12]));
        byte[] sealed = cipher.doFinal(text);
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

    /** Seals and opens 256 MiB in messages of 1 MiB. Prints `java provider seconds` of the process's processor time, the compiler's and the collector's included. */
    private static void young(Provider provider) throws Exception {
        com.sun.management.OperatingSystemMXBean process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Side side = new Side(provider, 1 << 20);
        long start = process.getProcessCpuTime();
        for (int message = 0; message < 256; message++) {
            GCMParameterSpec iv = next();
            side.seal(iv);
            side.open(iv);
        }
        System.out.printf("%d %s %.2f%n", Runtime.version().feature(), provider.getName(), (process.getProcessCpuTime() - start) / 1e9);
    }

    public static void main(String[] arguments) throws Exception {
        List<Provider> providers = new ArrayList<>(List.of(new io.github.fastgcm.Fastgcm(), Security.getProvider("SunJCE")));
        try {
            providers.add((Provider) Class.forName("com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider").getField("INSTANCE").get(null));
        } catch (ClassNotFoundException none) {
            // it is not on the class path
        }
        System.out.println("# Java " + Runtime.version() + ", " + providers + ", " + io.github.fastgcm.Fastgcm.backend() + " by " + io.github.fastgcm.Fastgcm.way());
        if (arguments.length > 0) {
            if (arguments[0].equals("streams")) {
                streams(providers.subList(0, 2));
            } else {
                young(providers.get(arguments[0].equals("Fastgcm") ? 0 : 1));
            }
            return;
        }
        for (int size : SIZES) {
            List<Side> sides = new ArrayList<>();
            GCMParameterSpec iv = next();
            for (Provider provider : providers) {
                Side side = new Side(provider, size);
                side.seal(iv);
                side.open(iv);
                if (!Arrays.equals(side.out, side.text) || !Arrays.equals(side.sealed, sides.isEmpty() ? side.sealed : sides.get(0).sealed)) {
                    throw new AssertionError(provider + " has another answer");
                }
                sides.add(side);
            }
            for (boolean seals : new boolean[] {true, false}) {
                int messages = Math.max(8, 3_000_000 / (size + 500));
                double[][] times = new double[sides.size()][ROUNDS];
                for (int round = 0; round < ROUNDS; round++) {
                    for (int turn = 0; turn < sides.size(); turn++) {
                        int side = (round + turn) % sides.size();
                        times[side][round] = time(sides.get(side), seals, messages);
                    }
                }
                for (int side = 0; side < sides.size(); side++) {
                    double[] kept = Arrays.copyOfRange(times[side], ROUNDS / 3, ROUNDS);
                    Arrays.sort(kept);
                    String name = sides.get(side).provider.getName();
                    System.out.printf("%s %d %s %.1f %.1f%n", seals ? "seal" : "open", size, name, kept[0], kept[kept.length / 2]);
                }
            }
        }
    }
}
