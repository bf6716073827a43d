package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;
import static io.github.fastgcm.Tests.iv;
import static io.github.fastgcm.Tests.theirs;

import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.Key;
import java.security.Provider;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * An error at each point where control leaves the cipher: each call of the library, and each method of a program's objects. The cipher works then as if the
 * call had not been, or refuses until it is initialised; and no text is left that was not verified.
 */
final class Middle {
    /** The provider once more, in which `Broken` has the name `Native` where the cipher and `Place` call it. */
    private static final class Loader extends ClassLoader {
        Loader() {
            super(Middle.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("io.github.fastgcm.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> made = findLoadedClass(name);
            return made != null ? made : define(name);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = file.readAllBytes();
                if (name.startsWith("io.github.fastgcm.Gcm") || name.matches("io.github.fastgcm.(Keyed.*|Message|Place|Xaes)")) {
                    String text = new String(bytes, StandardCharsets.ISO_8859_1);
                    bytes = text.replace("io/github/fastgcm/Native", "io/github/fastgcm/Broken").getBytes(StandardCharsets.ISO_8859_1);
                }
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException thrown) {
                throw new ClassNotFoundException(name, thrown);
            }
        }
    }

    private final Provider provider;
    private final Field calls;
    private final Field fails;
    private final Field isThrown;
    private final byte[] text;
    private final byte[] aad;
    private long count;

    private Middle(Loader loader, int size, int aadSize) throws Exception {
        provider = (Provider) loader.loadClass("io.github.fastgcm.Fastgcm").getDeclaredConstructor().newInstance();
        Class<?> broken = loader.loadClass("io.github.fastgcm.Broken");
        calls = broken.getDeclaredField("calls");
        fails = broken.getDeclaredField("fails");
        isThrown = broken.getDeclaredField("isThrown");
        for (Field field : List.of(calls, fails, isThrown)) {
            field.setAccessible(true);
        }
        text = new byte[size];
        aad = new byte[aadSize];
        new Random(size).nextBytes(text);
        new Random(aadSize).nextBytes(aad);
    }

    private static Set<String> methods(Class<?> of) {
        Set<String> names = new TreeSet<>();
        for (Method method : of.getDeclaredMethods()) {
            boolean isCalled = !java.lang.reflect.Modifier.isPrivate(method.getModifiers()) && !method.isSynthetic();
            if (isCalled) {
                names.add(method.getName());
            }
        }
        return names;
    }

    /** Each call of the library fails once: in messages of each kind, from and to each kind of memory. */
    static long calls() throws Exception {
        check(methods(Broken.class).equals(methods(Native.class)), "a method of Native is not in Broken, or the other way round");
        Loader loader = new Loader();
        long count = 0;
        for (int size : new int[] {100, 2 * Library.PART + 5}) {
            for (int aad : new int[] {13, Library.PART + 7}) {
                Middle middle = new Middle(loader, size, aad);
                for (int place = 0; place < 3; place++) {
                    for (boolean inPlace : new boolean[] {false, true}) {
                        for (boolean used : new boolean[] {false, true}) {
                            for (int what = 0; what < 5; what++) {
                                middle.messages(what, place, inPlace, used);
                            }
                        }
                    }
                }
                count += middle.count;
            }
        }
        return count;
    }

    private byte[] sealed(int number) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(number));
        cipher.updateAAD(aad);
        return cipher.doFinal(text);
    }

    private static final String[] PLACES = {"an array", "direct", "mapped"};

    private static ByteBuffer buffer(int place, int size) throws Exception {
        if (place < 2) {
            return place == 1 ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
        }
        Path file = Files.createTempFile("fastgcm", "");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
        }
    }

    private static byte[] bytes(ByteBuffer of) {
        byte[] bytes = new byte[of.capacity()];
        of.duplicate().clear().get(bytes);
        return bytes;
    }

    /** Seals; seals in two pieces; opens; opens what came in two pieces; or refuses a forgery: and each time another call fails, until none does. */
    private void messages(int what, int place, boolean inPlace, boolean used) throws Exception {
        for (int call = 0; ; call++) {
            for (boolean thrown : new boolean[] {false, true}) {
                Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", provider);
                fails.setInt(null, -1);
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(0));
                if (used) {
                    cipher.doFinal(new byte[5]);
                }
                calls.setInt(null, 0);
                fails.setInt(null, call);
                isThrown.setBoolean(null, thrown);
                boolean hasFailed = what < 2 ? seals(cipher, what == 1, place, inPlace) : opens(cipher, what == 3, what == 4, place, inPlace);
                String said = "kind " + what + ", call " + call + ", " + PLACES[place] + (inPlace ? ", in place" : "");
                check(hasFailed == calls.getInt(null) > call || call < calls.getInt(null), said + ": it should have failed");
                fails.setInt(null, -1);
                // Whatever has been: the next message is right.
                cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(2));
                cipher.updateAAD(aad);
                check(Arrays.equals(cipher.doFinal(text), sealed(2)), said + ": the next message that is sealed");
                cipher.init(Cipher.DECRYPT_MODE, KEY, iv(2));
                cipher.updateAAD(aad);
                check(Arrays.equals(cipher.doFinal(sealed(2)), text), said + ": the next message that is opened");
                count++;
                if (!hasFailed && thrown) {
                    return;
                }
            }
        }
    }

    private interface Call {
        int run() throws Exception;
    }

    /** Returns whether the planted failure came out. */
    private static boolean hasFailed(Call call) throws Exception {
        try {
            call.run();
            return false;
        } catch (java.security.ProviderException | IllegalStateException thrown) {
            boolean isPlanted = thrown.getMessage().matches("planted|The memory of a buffer has vanished.*|a direct buffer without an address|no memory for .*|a fault of fastgcm: 2");
            check(isPlanted, "another exception: " + thrown);
            return true;
        }
    }

    private boolean seals(Cipher cipher, boolean isCut, int place, boolean inPlace) throws Exception {
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv(1));
        cipher.updateAAD(aad);
        ByteBuffer from = buffer(place, text.length + 16);
        ByteBuffer to = inPlace ? from.duplicate() : buffer(place, text.length + 16);
        from.put(text).flip();
        boolean hasFailed = false;
        if (isCut) {
            from.limit(text.length / 2);
            hasFailed = hasFailed(() -> cipher.update(from, to));
            from.limit(text.length);
        }
        boolean hasFailedNow = !hasFailed && hasFailed(() -> cipher.doFinal(from, to));
        if (!hasFailed && !hasFailedNow) {
            check(Arrays.equals(bytes(to), sealed(1)), "sealed");
            return false;
        }
        // The IV is used up; or nothing has happened, and the call is made again.
        fails.setInt(null, -1);
        try {
            if (hasFailed) {
                from.limit(text.length / 2);
                cipher.update(from, to);
                from.limit(text.length);
            }
            cipher.doFinal(from, to);
            check(Arrays.equals(bytes(to), sealed(1)), "sealed after a failure");
        } catch (IllegalStateException right) {
            check(right.getMessage().contains("different key or iv"), "refused: " + right);
        }
        return true;
    }

    private boolean opens(Cipher cipher, boolean isCut, boolean isForged, int place, boolean inPlace) throws Exception {
        cipher.init(Cipher.DECRYPT_MODE, KEY, iv(1));
        cipher.updateAAD(aad);
        byte[] sealed = sealed(1);
        if (isForged) {
            sealed[sealed.length - 1] ^= 1;
        }
        ByteBuffer from = buffer(place, sealed.length);
        ByteBuffer to = inPlace ? from.duplicate() : buffer(place, sealed.length);
        from.put(sealed).flip();
        byte[] before = bytes(to);
        if (isCut) {
            from.limit(text.length / 2);
            int at = from.position();
            if (hasFailed(() -> cipher.update(from, to))) {
                check(from.position() == at, "the position has moved");
                fails.setInt(null, -1);
                cipher.update(from, to);
                fails.setInt(null, Integer.MAX_VALUE);
                from.limit(sealed.length);
                cipher.doFinal(from, to);
                check(Arrays.equals(Arrays.copyOf(bytes(to), text.length), text), "opened after a failure");
                return true;
            }
            from.limit(sealed.length);
        }
        boolean hasFailed = false;
        try {
            hasFailed = hasFailed(() -> cipher.doFinal(from, to));
            if (!hasFailed) {
                check(!isForged && Arrays.equals(Arrays.copyOf(bytes(to), text.length), text), "opened");
                return false;
            }
        } catch (AEADBadTagException right) {
            check(isForged, "an authentic message is refused");
        }
        byte[] left = bytes(to);
        for (int at = 0; at < left.length; at++) {
            check(left[at] == before[at] || left[at] == 0, "byte " + at + " is neither what was there nor 0");
        }
        if (!hasFailed || isForged || inPlace && (isCut || place == 2)) { // the output of all that came in pieces lay where the input of the last one is
            return hasFailed;
        }
        fails.setInt(null, -1);
        cipher.doFinal(from, to); // as if the call had not been
        check(Arrays.equals(Arrays.copyOf(bytes(to), text.length), text), "opened after a failure");
        return true;
    }

    /** A program's key, parameters or source of random numbers throws something, or returns nothing. The message before is over, and nothing else has changed. */
    static long callbacks() throws Exception {
        int count = 0;
        for (int kind = 0; kind < 12; kind++) {
            for (boolean begun : new boolean[] {false, true}) {
                Gcm cipher = new Gcm(0); // after an `init` that throws something, `Cipher` would refuse all by itself
                cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, iv(1), null);
                if (begun) {
                    cipher.engineUpdate(new byte[40], 0, 40);
                }
                boolean hasThrown = false;
                try {
                    if (kind < 9) {
                        cipher.engineInit(Cipher.ENCRYPT_MODE, key(kind), kind < 5 ? iv(2) : parameters(kind), null);
                    } else if (kind == 9) {
                        cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, random());
                    } else if (kind == 10) {
                        cipher.engineInit(Cipher.ENCRYPT_MODE, key(0), null);
                    } else {
                        cipher.engineWrap(key(0));
                    }
                } catch (RuntimeException | Error | java.security.GeneralSecurityException thrown) {
                    hasThrown = true;
                }
                check(hasThrown, "kind " + kind + " throws nothing");
                check(Arrays.equals(cipher.engineGetIV(), iv(1).getIV()), "the IV has changed");
                try {
                    byte[] sealed = cipher.engineDoFinal(new byte[9], 0, 9);
                    boolean goesOn = begun && kind == 11; // to wrap a key is to end a message: there was no end
                    check(goesOn || !begun && Arrays.equals(sealed, theirs(iv(1), new byte[9])), "kind " + kind + ": an IV is used twice, or another message");
                } catch (IllegalStateException right) {
                    check(begun && right.getMessage().contains("different key or iv"), "refused: " + right);
                }
                cipher.engineInit(Cipher.ENCRYPT_MODE, KEY, iv(3), null);
                check(Arrays.equals(cipher.engineDoFinal(new byte[9], 0, 9), theirs(iv(3), new byte[9])), "the next message");
                count++;
            }
        }
        return count;
    }

    private static byte[] theirs(GCMParameterSpec iv, byte[] text) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "SunJCE");
        cipher.init(Cipher.ENCRYPT_MODE, KEY, iv);
        return cipher.doFinal(text);
    }

    private static Key key(int kind) {
        return new SecretKeySpec(new byte[16], "AES") {
            private static final long serialVersionUID = 1;

            @Override
            public byte[] getEncoded() {
                if (kind == 0 || kind == 1) {
                    throw kind == 0 ? new IllegalStateException("planted") : new Planted();
                }
                return kind == 2 ? null : super.getEncoded();
            }

            @Override
            public String getAlgorithm() {
                if (kind == 3) {
                    throw new IllegalStateException("planted");
                }
                return kind == 4 ? null : super.getAlgorithm();
            }
        };
    }

    private static final class Planted extends IllegalArgumentException {
        private static final long serialVersionUID = 1;
    }

    private static GCMParameterSpec parameters(int kind) {
        return new GCMParameterSpec(128, new byte[12]) {
            @Override
            public byte[] getIV() {
                if (kind == 5) {
                    throw new IllegalStateException("planted");
                }
                return kind == 6 ? null : super.getIV();
            }

            @Override
            public int getTLen() {
                if (kind == 7) {
                    throw new IllegalStateException("planted");
                }
                return kind == 8 ? Integer.MIN_VALUE : super.getTLen();
            }
        };
    }

    private static SecureRandom random() {
        return new SecureRandom() {
            private static final long serialVersionUID = 1;

            @Override
            public void nextBytes(byte[] to) {
                throw new IllegalStateException("planted");
            }
        };
    }
}
