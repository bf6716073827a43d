package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.security.AlgorithmParameters;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.ProviderException;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Calls drawn at random, of a cipher of the JDK's own provider and of one of ours: the same answers, the same exceptions, the same bytes everywhere. */
final class RandomCalls {
    private static final String[] NAMES = {
        "AES/GCM/NoPadding", "AES/GCM/NoPadding", "AES/GCM/NoPadding", "AES_128/GCM/NoPadding", "AES_192/GCM/NoPadding", "AES_256/GCM/NoPadding"
    };

    private final Random random;
    private final int longest;
    private final Key[] keys;
    private final byte[][] ivs;
    /** What has been done to the present ciphers, for whoever looks for a fault. */
    private List<String> log = new ArrayList<>();

    private Cipher theirs;
    private Cipher ours;
    /** `init` has failed. SunJCE goes on with some of what it was given then, we with what was there before: nothing is compared before another one. */
    private boolean isLost;
    /** It may also have forgotten which IV it had last: this pair of ciphers has no other call. */
    private boolean isOver;
    /** Text has come before this call. */
    private boolean isUpdated;
    /** What is left of a message that can be opened. */
    private byte[] ciphertext = {};
    /** A message that has been refused, as it was sealed: it is tried again. */
    private byte[] again = {};

    private RandomCalls(long seed, int longest) {
        random = new Random(seed);
        this.longest = longest;
        keys = new Key[] {key(16), key(16), key(24), key(32), key(32), key(5), new SecretKeySpec(bytes(16), "DES"), without()};
        ivs = new byte[][] {bytes(12), bytes(12), bytes(1), bytes(16), bytes(61), bytes(200)};
    }

    /** Returns how many calls have returned something. */
    static long run(long seed, int ciphers, int longest) throws Exception {
        RandomCalls calls = new RandomCalls(seed, longest);
        long count = 0;
        for (int cipher = 0; cipher < ciphers; cipher++) {
            calls.log = new ArrayList<>();
            String name = calls.one(NAMES);
            calls.theirs = Cipher.getInstance(name, "SunJCE");
            calls.ours = Cipher.getInstance(name, "Fastgcm");
            calls.isLost = false;
            calls.isUpdated = false;
            calls.isOver = false;
            for (int call = 0; call < 24 && !calls.isOver; call++) {
                count += calls.call() ? 1 : 0;
            }
        }
        return count;
    }

    private byte[] bytes(int size) {
        byte[] made = new byte[size];
        random.nextBytes(made);
        return made;
    }

    private Key key(int size) {
        return new SecretKeySpec(bytes(size), "AES");
    }

    private static Key without() {
        return new Key() {
            private static final long serialVersionUID = 1;

            @Override
            public String getAlgorithm() {
                return "AES";
            }

            @Override
            public String getFormat() {
                return null;
            }

            @Override
            public byte[] getEncoded() {
                return null;
            }
        };
    }

    @SafeVarargs
    private <T> T one(T... of) {
        return of[random.nextInt(of.length)];
    }

    private boolean chance(int of) {
        return random.nextInt(of) == 0;
    }

    private int size() {
        switch (random.nextInt(6)) {
            case 0:
                return random.nextInt(3);
            case 1:
                return 16 * random.nextInt(5);
            case 2:
                return random.nextInt(longest);
            default:
                return random.nextInt(80);
        }
    }

    private interface Call {
        Object of(Cipher cipher) throws Exception;
    }

    /** Answers, or classes of exceptions: equal, or it is a fault. Returns the answer of both; null if there is none. */
    private Object both(String what, Call theirCall, Call ourCall) {
        log.add(what);
        Object theirs = answer(theirCall, this.theirs);
        Object ours = answer(ourCall, this.ours);
        boolean equal = theirs instanceof byte[] && ours instanceof byte[] ? Arrays.equals((byte[]) theirs, (byte[]) ours) : theirs.equals(ours);
        if (!equal && isOld(theirs, ours)) {
            isLost = true;
            return null;
        }
        check(equal, () -> "SunJCE: " + show(theirs) + "\nours:   " + show(ours));
        log.add("    " + show(ours));
        // What SunJCE opens then is another text, from Java 21 on.
        isLost |= Runtime.version().feature() >= 21 && ours == AEADBadTagException.class && !what.contains("new array");
        isLost |= Runtime.version().feature() < 21 && ours == ShortBufferException.class; // of buffers it has ended the AAD
        return ours instanceof Class ? null : ours;
    }

    /** Java 17 alone: what is too short for a tag is another error, and of a wrong tag and too little room the former comes first. */
    private static boolean isOld(Object theirs, Object ours) {
        List<Object> other = List.of(ShortBufferException.class, ProviderException.class);
        boolean tooShort = other.contains(theirs) && (ours == AEADBadTagException.class || ours == InvalidKeyException.class);
        return Runtime.version().feature() < 21 && (tooShort || theirs == AEADBadTagException.class && ours == ShortBufferException.class);
    }

    private void check(boolean holds, java.util.function.Supplier<String> fault) {
        if (!holds) {
            throw new AssertionError(String.join("\n", log) + "\n" + fault.get());
        }
    }

    private static String show(Object answer) {
        return answer instanceof byte[] ? ((byte[]) answer).length + " bytes, " + Arrays.hashCode((byte[]) answer) : String.valueOf(answer);
    }

    private Throwable thrown;

    private Object answer(Call call, Cipher cipher) {
        try {
            Object answer = call.of(cipher);
            return answer == null ? "null" : answer;
        } catch (Exception exception) {
            thrown = exception;
            return exception.getClass();
        }
    }

    private boolean call() throws Exception {
        switch (isLost ? 0 : random.nextInt(12)) {
            case 0:
            case 1:
                boolean done = initialise();
                isLost = !done;
                return done;
            case 2:
                return begin();
            case 3:
            case 4:
                return aad();
            case 5:
            case 6:
            case 7:
                return text(false);
            case 8:
            case 9:
                return text(true);
            case 10:
                return wrap();
            default:
                return ask();
        }
    }

    /** Anything, right or wrong. */
    private boolean initialise() throws Exception {
        int first = log.size();
        boolean done = initialised();
        isOver = !done && (log.get(first).contains("wrong key") || log.get(first).contains("without parameters"));
        return done;
    }

    private boolean initialised() throws Exception {
        int mode = one(1, 1, 2, 2, 3, 4);
        Key key = chance(3) ? one(keys) : keys[random.nextInt(5)];
        byte[] iv = one(ivs);
        int tag = chance(8) ? one(0, 64, 88, 100, 136) : one(96, 104, 112, 120, 128, 128, 128, 128);
        byte[] drawn = bytes(16);
        ciphertext = new byte[0];
        int number = Arrays.asList(keys).indexOf(key);
        String what = "init " + mode + (number < 5 ? " " : " wrong key ") + number + " " + Arrays.asList(ivs).indexOf(iv) + " " + tag;
        switch (random.nextInt(10)) {
            case 0:
                Call none = cipher -> {
                    cipher.init(mode, key, fixed(drawn));
                    return "";
                };
                return both(what + " without parameters", none, none) != null;
            case 1:
                AlgorithmParameterSpec other = one(null, new IvParameterSpec(new byte[12]));
                Call others = cipher -> {
                    cipher.init(mode, key, other, fixed(drawn));
                    return "";
                };
                return both(what + " with " + other, others, others) != null;
            case 2:
                AlgorithmParameters parameters = AlgorithmParameters.getInstance("GCM");
                parameters.init(new GCMParameterSpec(one(96, 128), iv));
                Call encoded = cipher -> {
                    cipher.init(mode, key, parameters);
                    return "";
                };
                return both(what + " with AlgorithmParameters", encoded, encoded) != null;
            default:
                Call usual = cipher -> {
                    cipher.init(mode, key, new GCMParameterSpec(tag, iv));
                    return "";
                };
                return both(what, usual, usual) != null;
        }
    }

    private static SecureRandom fixed(byte[] bytes) {
        return new SecureRandom() {
            private static final long serialVersionUID = 1;

            @Override
            public void nextBytes(byte[] to) {
                System.arraycopy(bytes, 0, to, 0, to.length);
            }
        };
    }

    /** A message that can be opened, or one with a fault. */
    private boolean begin() throws Exception {
        Key key = keys[random.nextInt(5)];
        GCMParameterSpec parameters = new GCMParameterSpec(one(96, 104, 112, 120, 128, 128, 128), one(ivs));
        byte[] aad = bytes(one(0, 1, 20, size()));
        if (aad.length > 0) {
            aad[0] |= 1; // SunJCE goes on without the AAD after a wrong tag, and zeros change no hash that is zero
        }
        byte[] text = bytes(size());
        Cipher sealer = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        sealer.init(Cipher.ENCRYPT_MODE, key, parameters);
        sealer.updateAAD(aad);
        byte[] sealed = sealer.doFinal(text);
        again = new byte[0];
        if (chance(4)) {
            again = sealed.clone();
            sealed[random.nextInt(sealed.length)] ^= 1;
        }
        boolean done = both("open a message of " + aad.length + " and " + text.length, cipher -> {
            cipher.init(Cipher.DECRYPT_MODE, key, parameters);
            cipher.updateAAD(aad);
            return "";
        }, cipher -> {
            cipher.init(Cipher.DECRYPT_MODE, key, parameters);
            cipher.updateAAD(aad);
            return "";
        }) != null;
        ciphertext = done ? sealed : new byte[0];
        isLost = !done;
        return done;
    }

    private boolean aad() {
        byte[] aad = bytes(size());
        int from = random.nextInt(aad.length + 1);
        if (chance(2)) {
            Call array = cipher -> {
                cipher.updateAAD(aad, from, aad.length - from);
                return "";
            };
            return both("AAD, " + (aad.length - from), array, array) != null;
        }
        int kind = random.nextInt(4);
        Call buffer = cipher -> {
            ByteBuffer made = buffer(kind, aad, from, aad.length);
            cipher.updateAAD(made);
            return made.position();
        };
        return both("AAD, buffer " + kind + ", " + (aad.length - from), buffer, buffer) != null;
    }

    /** A buffer whose bytes are those, with a position and a limit: of an array behind an offset, direct, or one of these that is read only. */
    private static ByteBuffer buffer(int kind, byte[] bytes, int from, int to) {
        ByteBuffer buffer = kind % 2 == 0 ? ByteBuffer.allocate(bytes.length + 3) : ByteBuffer.allocateDirect(bytes.length + 3);
        buffer.position(3);
        buffer = buffer.slice();
        buffer.put(bytes);
        buffer.position(from).limit(to);
        return kind >= 2 ? buffer.asReadOnlyBuffer() : buffer;
    }

    private static byte[] content(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.duplicate().clear().get(bytes);
        return bytes;
    }

    /** Text, or the end of it: of the message that can be opened as much as there is left, or anything. */
    private boolean text(boolean last) {
        boolean done = anyText(last);
        isUpdated = last ? isUpdated && !done : isUpdated || done;
        if (last && !done && chance(2)) {
            ciphertext = again;
            again = new byte[0];
        }
        return done;
    }

    private boolean anyText(boolean last) {
        byte[] text = ciphertext.length > 0 ? (last ? ciphertext : Arrays.copyOf(ciphertext, random.nextInt(ciphertext.length + 1))) : bytes(size());
        ciphertext = Arrays.copyOfRange(ciphertext, Math.min(text.length, ciphertext.length), ciphertext.length);
        int size = text.length;
        int before = random.nextInt(4);
        byte[] input = new byte[before + size + random.nextInt(4)];
        System.arraycopy(text, 0, input, before, size);
        int needed = chance(6) ? random.nextInt(size + 40) : size + 40;
        int outAt = random.nextInt(4);
        byte[] pattern = bytes(outAt + needed);
        String what = (last ? "doFinal " : "update ") + size;
        switch (random.nextInt(7)) {
            case 0:
                Call fresh = cipher -> last ? cipher.doFinal(input, before, size) : cipher.update(input, before, size);
                return both(what + ", new array", fresh, fresh) != null;
            case 1:
                Call least = cipher -> last && size == 0 ? cipher.doFinal() : last ? cipher.doFinal(text) : cipher.update(text);
                return both(what + ", whole array", least, least) != null;
            case 2:
            case 3: {
                byte[] theirOut = pattern.clone();
                byte[] ourOut = pattern.clone();
                int to = chance(12) ? pattern.length + random.nextInt(3) : outAt; // at its end, or beyond
                Object made = both(
                        what + " to an array with room for " + (pattern.length - to),
                        cipher -> last ? cipher.doFinal(input, before, size, theirOut, to) : cipher.update(input, before, size, theirOut, to),
                        cipher -> last ? cipher.doFinal(input, before, size, ourOut, to) : cipher.update(input, before, size, ourOut, to));
                written(made, theirOut, ourOut, pattern, outAt, false);
                return made != null;
            }
            case 4: { // one array, at any distance
                int shift = chance(2) ? 0 : random.nextInt(41) - 20;
                int at = 30;
                byte[] our = bytes(at + size + 80);
                System.arraycopy(text, 0, our, at, size);
                byte[] their = our.clone();
                byte[] ourInput = our.clone();
                Object made = both(
                        what + " within an array, moved by " + shift,
                        cipher -> last ? cipher.doFinal(ourInput, at, size, their, at + shift) : cipher.update(ourInput, at, size, their, at + shift),
                        cipher -> last ? cipher.doFinal(our, at, size, our, at + shift) : cipher.update(our, at, size, our, at + shift));
                written(made, their, our, ourInput, at + shift, shift == 0);
                return made != null;
            }
            default: {
                int kind = random.nextInt(4);
                int outKind = random.nextInt(2);
                boolean within = chance(3) && kind == outKind;
                int shift = chance(2) ? 0 : random.nextInt(41) - 20;
                ByteBuffer theirIn = buffer(kind, input, before, before + size);
                ByteBuffer ourIn = buffer(kind, input, before, before + size);
                ByteBuffer theirTo = buffer(outKind, pattern, outAt, pattern.length);
                ByteBuffer ourTo = buffer(outKind, pattern, outAt, pattern.length);
                if (within) {
                    byte[] all = bytes(30 + size + 80);
                    System.arraycopy(text, 0, all, 30, size);
                    theirIn = buffer(kind, all, 30, 30 + size);
                    ourIn = buffer(kind, all, 30, 30 + size);
                    theirTo = buffer(kind, all, 30 + shift, all.length);
                    ourTo = ourIn.duplicate();
                    ourTo.limit(all.length).position(30 + shift);
                }
                byte[] unchanged = content(ourTo);
                ByteBuffer[] buffers = {theirIn, ourIn, theirTo, ourTo};
                Object made = both(
                        what + " of buffer " + kind + " to " + outKind + (within ? " within, moved by " + shift : " with room for " + needed),
                        cipher -> last ? cipher.doFinal(buffers[0], buffers[2]) : cipher.update(buffers[0], buffers[2]),
                        cipher -> last ? cipher.doFinal(buffers[1], buffers[3]) : cipher.update(buffers[1], buffers[3]));
                // Of what SunJCE copies first it keeps where to write it, from Java 21 on: the next call writes there.
                isOver = made == null && thrown instanceof ShortBufferException && (kind == 2 || within);
                check(theirIn.position() == ourIn.position() && theirTo.position() == ourTo.position(), () -> "positions: SunJCE "
                        + buffers[0].position() + ", " + buffers[2].position() + "; ours " + buffers[1].position() + ", " + buffers[3].position());
                written(made, content(theirTo), content(ourTo), unchanged, within ? 30 + shift : outAt, within && shift == 0);
                return made != null;
            }
        }
    }

    /**
     * The same bytes everywhere. Where a tag was wrong they are what they were `before`; but we may have written zeros, unless all of the message was opened in place. (SunJCE writes zeros
     * too, from Java 21 on, and to other places also.)
     */
    private void written(Object made, byte[] theirs, byte[] ours, byte[] before, int at, boolean inPlace) {
        boolean mayWrite = !inPlace || isUpdated;
        boolean isRefused = made == null && thrown instanceof AEADBadTagException;
        byte[] expected = isRefused ? before : theirs;
        for (int i = 0; i < ours.length; i++) {
            int where = i;
            check(ours[i] == expected[i] || isRefused && mayWrite && i >= at && ours[i] == 0, () -> "byte " + where + " of " + ours.length + " differs, from " + at + " on");
        }
    }

    private boolean wrap() {
        byte[] wrapped = ciphertext.length > 0 ? ciphertext : bytes(size());
        Key key = one(keys);
        ciphertext = new byte[0];
        if (chance(2)) {
            Call call = cipher -> cipher.wrap(key);
            return both("wrap", call, call) != null;
        }
        int type = one(Cipher.SECRET_KEY, Cipher.SECRET_KEY, Cipher.PRIVATE_KEY, Cipher.PUBLIC_KEY);
        Call call = cipher -> cipher.unwrap(wrapped, type == Cipher.SECRET_KEY ? "AES" : "EC", type).getEncoded();
        return both("unwrap " + type, call, call) != null;
    }

    private boolean ask() {
        int size = size();
        Call call = one(
                cipher -> cipher.getOutputSize(size),
                cipher -> cipher.getIV() == null ? null : cipher.getIV(),
                cipher -> cipher.getIV() == null ? null : cipher.getParameters().getEncoded(),
                cipher -> cipher.getBlockSize());
        return both("ask", call, call) != null;
    }
}
