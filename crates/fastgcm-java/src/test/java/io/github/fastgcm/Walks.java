package io.github.fastgcm;

import static io.github.fastgcm.Tests.check;

import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.security.AlgorithmParameters;
import java.security.Key;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Walks for faults of three kinds: something that is compared or drawn in part, a state that a refused call leaves, a secret in a message. ({@link Sizes} has sizes
 * that are cut.) Each method of the cipher has a row of calls that it refuses.
 */
final class Walks {
    private Walks() {}

    /** A scheme, and what a message is made of. */
    private static final class Case {
        final String name;
        final int tag;
        byte[] key = new byte[32];
        byte[] iv;
        byte[] aad = new byte[33];
        byte[] text = new byte[200];

        Case(String name, int tag, long seed) {
            this.name = name;
            this.tag = tag;
            iv = new byte[name.equals("GCM") ? 12 : 24];
            Random random = new Random(seed);
            List.of(key, aad, text).forEach(random::nextBytes);
        }

        Gcm cipher() {
            return name.equals("GCM") ? new Gcm(0) : new Xaes(name.startsWith("KC"));
        }

        GCMParameterSpec iv() {
            return new GCMParameterSpec(8 * tag, iv);
        }

        void init(Gcm cipher, int mode) throws Exception {
            cipher.engineInit(mode, new SecretKeySpec(key, "AES"), iv(), null);
        }

        /** By the JDK. (The key of a message of XAES-256-GCM and its commitment are derived as {@link Schemes} knows them to be right.) */
        byte[] sealed() throws Exception {
            byte[] made = Arrays.copyOf(key, 64);
            if (iv.length == 24) {
                Native.derive(key, iv, made, true);
            }
            Cipher theirs = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
            theirs.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(made, 0, 32, "AES"), new GCMParameterSpec(8 * tag, iv, iv.length - 12, 12));
            theirs.updateAAD(aad);
            return join(theirs.doFinal(text), Arrays.copyOfRange(made, 32, name.startsWith("KC") ? 64 : 32));
        }
    }

    private static List<Case> cases(long seed) {
        List<Case> cases = new ArrayList<>(List.of(new Case("XAES", 16, seed), new Case("KC-XAES", 16, seed)));
        for (int tag = 12; tag <= 16; tag++) {
            cases.add(new Case("GCM", tag, seed));
        }
        return cases;
    }

    private static byte[] join(byte[] one, byte[] other) {
        return ByteBuffer.allocate(one.length + other.length).put(one).put(other).array();
    }

    private static byte[] flipped(byte[] of, int at) {
        byte[] made = of.clone();
        made[at] ^= (byte) (1 << at % 8);
        return made;
    }

    /** One cipher after the other message: each bit of key, IV, AAD and text counts, none is taken for another one, and each byte of what is sealed is verified. */
    static long halves() throws Exception {
        long count = 0;
        for (Case of : cases(1)) {
            Gcm cipher = of.cipher();
            for (int at = 0; at < 32 + of.iv.length + 33 + 200; at++) {
                Case other = new Case(of.name, of.tag, 1);
                for (Case each : new Case[] {of, other}) {
                    each.init(cipher, Cipher.ENCRYPT_MODE);
                    cipher.engineUpdateAAD(each.aad, 0, 33);
                    check(Arrays.equals(cipher.engineDoFinal(each.text, 0, 200), each.sealed()), of.name + ": another message, " + at);
                    int ivEnd = 32 + of.iv.length;
                    if (each == of && at >= ivEnd) {
                        other.iv = flipped(of.iv, 0);
                    }
                    if (at < 32) {
                        other.key = flipped(of.key, at);
                    } else if (at < ivEnd) {
                        other.iv = flipped(of.iv, at - 32);
                    } else if (at < ivEnd + 33) {
                        other.aad = flipped(of.aad, at - ivEnd);
                    } else {
                        other.text = flipped(of.text, at - ivEnd - 33);
                    }
                    count++;
                }
            }
            byte[] sealed = of.sealed();
            for (int at = 0; at < sealed.length; at++) {
                for (boolean buffers : new boolean[] {false, true}) {
                    byte[] forged = flipped(sealed, at);
                    of.init(cipher, Cipher.DECRYPT_MODE);
                    cipher.engineUpdateAAD(of.aad, 0, 33);
                    Throwable thrown = thrown(() -> {
                        if (buffers) {
                            cipher.engineDoFinal(direct(forged), ByteBuffer.allocate(200));
                        } else {
                            cipher.engineDoFinal(forged, 0, forged.length);
                        }
                    });
                    check(thrown instanceof javax.crypto.AEADBadTagException, of.name + ", byte " + at + ": " + thrown);
                    count++;
                }
            }
            List<HashSet<Byte>> drawn = new ArrayList<>();
            for (int round = 0; round < 64; round++) {
                cipher.engineInit(Cipher.ENCRYPT_MODE, new SecretKeySpec(of.key, "AES"), null);
                byte[] iv = cipher.engineGetIV();
                byte[] ofParameters = of.cipher().engineGetParameters().getParameterSpec(GCMParameterSpec.class).getIV();
                byte[] both = join(iv, ofParameters);
                for (int at = 0; at < both.length; at++) {
                    if (round == 0) {
                        drawn.add(new HashSet<>());
                    }
                    drawn.get(at).add(both[at]);
                }
            }
            check(drawn.size() == 2 * of.iv.length && drawn.stream().allMatch(values -> values.size() > 16), of.name + ": a byte of an IV is not drawn");
        }
        return count;
    }

    private interface Call {
        void run() throws Exception;
    }

    private static Throwable thrown(Call call) {
        try {
            call.run();
            return null;
        } catch (Exception thrown) {
            return thrown;
        }
    }

    private interface Refusal {
        void run(Gcm cipher, Case of) throws Exception;
    }

    /** By what each method has and takes: calls that it refuses, in each state of a message. */
    private static final Map<String, List<Refusal>> REFUSALS = new TreeMap<>();

    private static Key key(byte[] of, int size) {
        return new SecretKeySpec(Arrays.copyOf(join(of, of), size), "AES");
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    /** A call with two buffers, which stay where they are if it is refused. */
    private static void buffers(Case of, int room, Buffers call) throws Exception {
        ByteBuffer from = direct(of.text);
        ByteBuffer to = ByteBuffer.allocate(room);
        try {
            call.run(from, to);
        } finally {
            check(from.position() == 0 && to.position() == 0, "a position has moved");
        }
    }

    private interface Buffers {
        void run(ByteBuffer from, ByteBuffer to) throws Exception;
    }

    private static AlgorithmParameters parameters(Case of) throws Exception {
        AlgorithmParameters made = AlgorithmParameters.getInstance("GCM", "SunJCE");
        made.init(of.iv());
        return made;
    }

    static {
        List<Refusal> inits = new ArrayList<>();
        for (int size : new int[] {1, 15, 17, 31, 33, 64}) {
            inits.add((c, of) -> c.engineInit(1, key(of.key, size), of.iv(), null));
        }
        inits.add((c, of) -> c.engineInit(1, new SecretKeySpec(of.key, "DES"), of.iv(), null));
        inits.add((c, of) -> c.engineInit(2, new SecretKeySpec(new String(of.key, "ISO-8859-1").getBytes("UTF-16"), "AES"), of.iv(), null));
        inits.add((c, of) -> c.engineInit(2, key(of.key, 32), new GCMParameterSpec(7, of.key), null));
        inits.add((c, of) -> c.engineInit(1, key(of.key, 32), new GCMParameterSpec(128, new byte[0]), null));
        inits.add((c, of) -> c.engineInit(1, key(of.key, 32), new IvParameterSpec(of.key), null));
        inits.add((c, of) -> c.engineInit(1, null, of.iv(), null));
        REFUSALS.put("engineInit int Key AlgorithmParameterSpec SecureRandom", inits);
        REFUSALS.put("engineInit int Key AlgorithmParameters SecureRandom", List.of((c, of) -> c.engineInit(1, key(of.key, 33), parameters(of), null)));
        REFUSALS.put("engineInit int Key SecureRandom", List.of(
                (c, of) -> c.engineInit(2, key(of.key, 32), null), (c, of) -> c.engineInit(1, key(of.key, 31), null)));
        REFUSALS.put("engineUpdate byte[] int int", List.of((c, of) -> c.engineUpdate(of.text, 1, 200), (c, of) -> c.engineUpdate(of.text, -1, 200)));
        REFUSALS.put("engineUpdate byte[] int int byte[] int", List.of(
                (c, of) -> c.engineUpdate(of.text, 0, 200, c.seals ? new byte[9] : null, 0), (c, of) -> c.engineUpdate(of.text, 0, 200, new byte[500], -1)));
        REFUSALS.put("engineUpdate ByteBuffer ByteBuffer", List.of((c, of) -> buffers(of, 9, (from, to) -> c.engineUpdate(from, c.seals ? to : null))));
        REFUSALS.put("engineUpdateAAD byte[] int int", List.of((c, of) -> c.engineUpdateAAD(of.text, 1, 200)));
        REFUSALS.put("engineUpdateAAD ByteBuffer", List.of((c, of) -> c.engineUpdateAAD((ByteBuffer) null)));
        REFUSALS.put("engineDoFinal byte[] int int", List.of((c, of) -> c.engineDoFinal(of.text, 1, 200)));
        REFUSALS.put("engineDoFinal byte[] int int byte[] int", List.of(
                (c, of) -> c.engineDoFinal(of.text, 0, 200, new byte[9], 0), (c, of) -> c.engineDoFinal(of.text, 0, 200, new byte[500], -1)));
        REFUSALS.put("engineDoFinal ByteBuffer ByteBuffer", List.of((c, of) -> buffers(of, 9, c::engineDoFinal)));
        REFUSALS.put("engineWrap Key", List.of((c, of) -> c.engineWrap(new SecretKeySpec(of.key, "AES") {
            private static final long serialVersionUID = 1;

            @Override
            public byte[] getEncoded() {
                return null;
            }
        })));
        REFUSALS.put("engineUnwrap byte[] String int", List.of(
                (c, of) -> c.engineUnwrap(of.text, "AES", 9), (c, of) -> c.engineUnwrap(of.sealed(), "AES", 9)));
        REFUSALS.put("engineGetKeySize Key", List.of((c, of) -> c.engineGetKeySize(key(of.key, 31))));
        REFUSALS.put("engineGetOutputSize int", List.of((c, of) -> c.engineGetOutputSize(-1)));
        REFUSALS.put("engineSetMode String", List.of((c, of) -> c.engineSetMode("CBC")));
        REFUSALS.put("engineSetPadding String", List.of((c, of) -> c.engineSetPadding("OAEP")));
        List.of("engineGetIV", "engineGetParameters", "engineGetBlockSize").forEach(name -> REFUSALS.put(name, List.of())); // they refuse nothing
    }

    private interface Visit {
        void of(String said, Case of, Gcm cipher, Throwable thrown, boolean isOver, int mode, int done) throws Exception;
    }

    /** Each refusal, of a cipher that seals or opens, when nothing of the message has come yet, or its AAD, or some of its text, too. */
    private static long refused(long seed, Visit visit) throws Exception {
        TreeSet<String> methods = new TreeSet<>();
        for (var method : Gcm.class.getDeclaredMethods()) {
            if (Modifier.isProtected(method.getModifiers())) {
                methods.add(Sizes.signature(method));
            }
        }
        check(methods.equals(REFUSALS.keySet()), "a method without a row, or a row without a method: " + methods);
        long count = 0;
        for (Case of : cases(seed)) {
            for (String name : methods) {
                for (int number = 0; number < REFUSALS.get(name).size(); number++) {
                    for (int mode : new int[] {Cipher.ENCRYPT_MODE, Cipher.DECRYPT_MODE}) {
                        for (int done : new int[] {-1, 0, 15, 100}) {
                            Refusal refusal = REFUSALS.get(name).get(number);
                            Gcm cipher = of.cipher();
                            of.init(cipher, mode);
                            if (done >= 0) {
                                cipher.engineUpdateAAD(of.aad, 0, 33);
                            }
                            if (done > 0) {
                                cipher.engineUpdate(mode == 1 ? of.text : of.sealed(), 0, done);
                            }
                            Throwable thrown = thrown(() -> refusal.run(cipher, of));
                            String said = of.name + " " + of.tag + ", mode " + mode + ", " + done + " done, " + name + " " + number;
                            check(thrown != null, said + ": it is not refused");
                            boolean isOver = name.startsWith("engineInit") || name.matches("engine(Unw|W)rap.*") || thrown instanceof javax.crypto.BadPaddingException
                                    || thrown instanceof javax.crypto.IllegalBlockSizeException;
                            visit.of(said, of, cipher, thrown, isOver, mode, done);
                            count++;
                        }
                    }
                }
            }
        }
        return count;
    }

    /** What was meant next: the same message goes on, if it is not over, and in any case the next one is right. */
    static long afterwards() throws Exception {
        return refused(1, (said, of, cipher, thrown, isOver, mode, done) -> {
            boolean seals = mode == Cipher.ENCRYPT_MODE;
            byte[] all = of.sealed();
            if (!isOver) {
                if (done < 0) {
                    cipher.engineUpdateAAD(of.aad, 0, 33);
                }
                int at = Math.max(done, 0);
                byte[] from = seals ? of.text : all;
                byte[] made = cipher.engineDoFinal(from, at, from.length - at);
                check(seals ? Arrays.equals(made, Arrays.copyOfRange(all, at & -16, all.length)) : Arrays.equals(made, of.text), said + ": the message goes on in another way");
            }
            if (said.contains("engineInit")) {
                byte[][] made = {null};
                Throwable refused = thrown(() -> {
                    cipher.engineUpdateAAD(of.aad, 0, 33);
                    made[0] = cipher.engineDoFinal(seals ? of.text : all, 0, seals ? 200 : all.length);
                });
                check(refused == null ? Arrays.equals(made[0], seals ? all : of.text) : refused instanceof IllegalStateException && seals && done > 0, said + ": " + refused);
            }
            Case next = new Case(of.name, of.tag, 2);
            next.init(cipher, Cipher.ENCRYPT_MODE);
            cipher.engineUpdateAAD(next.aad, 0, 33);
            check(Arrays.equals(cipher.engineDoFinal(next.text, 0, 200), next.sealed()), said + ": the next message");
            check(cipher.memory == null || cipher.memory.pieces == 0, said + ": a message in pieces stays");
        });
    }

    /** With two keys and two texts the same is said: no byte of them. */
    static long quiet() throws Exception {
        List<List<String>> said = List.of(new ArrayList<>(), new ArrayList<>());
        for (int seed = 0; seed < 2; seed++) {
            List<String> lines = said.get(seed);
            refused(seed, (what, of, cipher, thrown, isOver, mode, done) -> {
                for (Throwable each = thrown; each != null; each = each.getCause()) {
                    // The virtual machine words a null pointer, until it has thrown many.
                    lines.add(what + ": " + (each instanceof NullPointerException ? "null pointer" : each));
                }
                lines.add((cipher + " " + cipher.engineGetParameters() + new Fastgcm()).replaceAll("@[0-9a-f]+", ""));
            });
        }
        for (int at = 0; at < said.get(0).size(); at++) {
            check(said.get(0).get(at).equals(said.get(1).get(at)), said.get(0).get(at) + ", and " + said.get(1).get(at));
        }
        return said.get(0).size();
    }
}
