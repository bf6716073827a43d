package io.github.fastgcm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.security.AlgorithmParameters;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.ProviderException;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.InvalidParameterSpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Objects;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.NoSuchPaddingException;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-GCM with the behaviour of the JDK's own provider (SunJCE): what each call returns, and which exception it throws when.
 *
 * <p>Encryption gives out whole blocks; decryption gives out text only in {@code doFinal}.
 */
class Gcm extends Message {
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Gcm.class, "busy", int.class);
        } catch (ReflectiveOperationException thrown) {
            throw new ExceptionInInitializerError(thrown);
        }
    }

    /**
     * 1 while a thread is in a method that changes anything. Two threads at a time are a fault of the program, and must not become a fault of the virtual
     * machine: the library writes where these fields say, and checks nothing.
     */
    @SuppressWarnings("unused")
    private int busy;

    Gcm(int keySize) {
        super(keySize);
    }

    // ---- Questions.

    @Override
    protected void engineSetMode(String mode) throws NoSuchAlgorithmException {
        if (!mode.equalsIgnoreCase("GCM")) {
            throw new NoSuchAlgorithmException("the mode is GCM");
        }
    }

    @Override
    protected void engineSetPadding(String padding) throws NoSuchPaddingException {
        if (!padding.equalsIgnoreCase("NoPadding")) {
            throw new NoSuchPaddingException("the padding is NoPadding");
        }
    }

    @Override
    protected int engineGetBlockSize() {
        return BLOCK;
    }

    @Override
    protected int engineGetOutputSize(int size) {
        checkInitialised();
        if (size < 0) {
            throw new IllegalArgumentException("Input size must be equal to or greater than zero");
        }
        return counted(outputSize(size));
    }

    /** Checks the place of an output: a negative place is an error of its own, and not a lack of room. */
    private static Place output(byte[] to, int at) {
        if (at < 0) {
            throw new ArrayIndexOutOfBoundsException("The output would begin at " + at + " of " + to.length + " bytes");
        }
        return Place.of(to, at);
    }

    @Override
    protected int engineGetKeySize(Key key) throws InvalidKeyException {
        byte[] bytes = key.getEncoded();
        if (bytes == null) {
            throw new InvalidKeyException("Key encoding must not be null");
        }
        Arrays.fill(bytes, (byte) 0);
        checkKeySize(bytes.length);
        return 8 * bytes.length;
    }

    @Override
    protected byte[] engineGetIV() {
        return iv == null ? null : iv.clone();
    }

    @Override
    protected AlgorithmParameters engineGetParameters() {
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("GCM");
            parameters.init(new GCMParameterSpec(8 * tag, iv == null ? randomIv(ivSize(), random) : iv));
            return parameters;
        } catch (NoSuchAlgorithmException | InvalidParameterSpecException thrown) {
            throw new ProviderException(thrown);
        }
    }

    // ---- Initialisation. If it fails, nothing changes except that the message is over.

    @Override
    protected void engineInit(int mode, Key key, SecureRandom random) throws InvalidKeyException {
        enter();
        try {
            restart();
            if (mode == Cipher.DECRYPT_MODE || mode == Cipher.UNWRAP_MODE) {
                throw new InvalidKeyException("No GCMParameterSpec specified");
            }
            init(mode, key, null, random);
        } catch (InvalidAlgorithmParameterException thrown) {
            throw new ProviderException(thrown); // the IV is new
        } finally {
            leave();
        }
    }

    @Override
    protected void engineInit(int mode, Key key, AlgorithmParameters parameters, SecureRandom random)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        enter();
        try {
            restart();
            init(mode, key, parameters == null ? null : parameters.getParameterSpec(GCMParameterSpec.class), random);
        } catch (InvalidParameterSpecException thrown) {
            throw new InvalidAlgorithmParameterException(thrown);
        } finally {
            leave();
        }
    }

    @Override
    protected void engineInit(int mode, Key key, AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        enter();
        try {
            restart();
            init(mode, key, parameters, random);
        } finally {
            leave();
        }
    }

    // ---- One thread at a time.

    private void enter() {
        if (!BUSY.compareAndSet(this, 0, 1)) {
            throw new IllegalStateException("A Cipher is for one thread at a time");
        }
    }

    private void leave() {
        BUSY.setRelease(this, 0);
    }

    // ---- AAD.

    @Override
    protected void engineUpdateAAD(byte[] from, int at, int size) {
        enter();
        try {
            checkAad();
            Objects.checkFromIndexSize(at, size, from.length);
            System.arraycopy(from, at, aadRoom(size), headSize, size);
            headSize += size;
        } finally {
            leave();
        }
    }

    @Override
    protected void engineUpdateAAD(ByteBuffer from) {
        enter();
        try {
            checkAad();
            ByteBuffer read = from.duplicate();
            int size = read.remaining();
            Place.of(read).get(0, aadRoom(size), headSize, size);
            from.position(read.limit());
            headSize += size;
        } catch (InternalError fault) {
            throw vanished(fault);
        } finally {
            leave();
        }
    }

    // ---- Pieces of text.

    @Override
    protected byte[] engineUpdate(byte[] from, int at, int size) {
        enter();
        try {
            checkInitialised();
            Objects.checkFromIndexSize(at, size, from.length);
            byte[] to = new byte[counted(updateSize(size))];
            update(Place.of(from, at), size, Place.of(to, 0));
            return to;
        } finally {
            leave();
        }
    }

    @Override
    protected int engineUpdate(byte[] from, int at, int size, byte[] to, int toAt) throws ShortBufferException {
        enter();
        try {
            checkInitialised();
            Objects.checkFromIndexSize(at, size, from.length);
            Place output = output(to, toAt);
            if (toAt > to.length) {
                throw new ArrayIndexOutOfBoundsException("The output would begin at " + toAt + " of " + to.length + " bytes");
            }
            checkRoom(updateSize(size), to.length - toAt);
            return update(Place.of(from, at), size, output);
        } finally {
            leave();
        }
    }

    @Override
    protected int engineUpdate(ByteBuffer from, ByteBuffer to) throws ShortBufferException {
        enter();
        try {
            checkInitialised();
            ByteBuffer read = from.duplicate(); // no other thread changes its position and limit
            ByteBuffer written = to.duplicate();
            int size = read.remaining();
            checkRoom(updateSize(size), written.remaining());
            if (seals) {
                checkNotSpent();
            }
            int made = buffers(read, written, (in, out) -> update(in, size, out));
            from.position(read.limit());
            to.position(written.position() + made);
            return made;
        } catch (BadPaddingException thrown) {
            throw new ProviderException(thrown); // `update` verifies nothing
        } finally {
            leave();
        }
    }

    // ---- The end of a message.

    @Override
    protected byte[] engineDoFinal(byte[] from, int at, int size) throws IllegalBlockSizeException, BadPaddingException {
        enter();
        try {
            return end(from, at, size);
        } finally {
            leave();
        }
    }

    private byte[] end(byte[] from, int at, int size) throws IllegalBlockSizeException, BadPaddingException {
        byte[] text = input(from, at, size);
        checkInitialised();
        checkTotal((long) size + (seals ? endSize() : 0));
        byte[] to = new byte[(int) outputSize(size)];
        try {
            finish(Place.of(text, at), size, Place.of(to, 0), to.length);
            return to;
        } catch (ShortBufferException thrown) {
            throw new ProviderException(thrown); // there is room for as many
        } catch (BadPaddingException thrown) {
            restart();
            throw thrown;
        }
    }

    @Override
    protected int engineDoFinal(byte[] from, int at, int size, byte[] to, int toAt)
            throws ShortBufferException, IllegalBlockSizeException, BadPaddingException {
        enter();
        try {
            byte[] text = input(from, at, size);
            checkInitialised();
            return finish(Place.of(text, at), size, output(to, toAt), (long) to.length - toAt);
        } finally {
            leave();
        }
    }

    private byte[] input(byte[] from, int at, int size) throws IllegalBlockSizeException {
        byte[] text = from == null ? EMPTY : from;
        if (at < 0 || size < 0 || size > text.length - at) {
            restart();
            throw new IllegalBlockSizeException("input array invalid");
        }
        return text;
    }

    @Override
    protected int engineDoFinal(ByteBuffer from, ByteBuffer to)
            throws ShortBufferException, IllegalBlockSizeException, BadPaddingException {
        enter();
        try {
            checkInitialised();
            ByteBuffer read = from.duplicate();
            ByteBuffer written = to.duplicate();
            int made = buffers(read, written, (in, out) -> finish(in, read.remaining(), out, written.remaining()));
            from.position(read.limit());
            to.position(written.position() + made);
            return made;
        } finally {
            leave();
        }
    }

    /** Work on a place of input and a place of output. Returns how many bytes it has written. */
    private interface Work {
        int of(Place in, Place out) throws ShortBufferException, BadPaddingException;
    }

    private static int buffers(ByteBuffer from, ByteBuffer to, Work work) throws ShortBufferException, BadPaddingException {
        try {
            Place in = Place.of(from);
            try {
                return work.of(in, Place.of(to));
            } finally {
                in.wipe();
            }
        } catch (InternalError fault) {
            throw vanished(fault);
        } finally {
            Reference.reachabilityFence(from);
            Reference.reachabilityFence(to);
        }
    }

    /** The message of a memory fault. */
    private static ProviderException vanished(InternalError fault) {
        return new ProviderException("The memory of a buffer has vanished: its file, which is mapped, was cut short, or cannot be read or written", fault);
    }

    // ---- Keys under a key.

    @Override
    protected byte[] engineWrap(Key key) throws IllegalBlockSizeException, InvalidKeyException {
        byte[] bytes = EMPTY;
        enter();
        try {
            checkInitialised();
            bytes = key.getEncoded();
            if (bytes == null || bytes.length == 0) {
                restart();
                throw new InvalidKeyException("Cannot get an encoding of the key to be wrapped");
            }
            return end(bytes, 0, bytes.length);
        } catch (BadPaddingException thrown) {
            throw new ProviderException(thrown); // an error of decryption
        } finally {
            leave();
            if (bytes != null) {
                Arrays.fill(bytes, (byte) 0);
            }
        }
    }

    @Override
    protected Key engineUnwrap(byte[] wrapped, String algorithm, int type) throws InvalidKeyException, NoSuchAlgorithmException {
        checkInitialised();
        byte[] bytes;
        try {
            bytes = engineDoFinal(wrapped, 0, wrapped.length);
        } catch (BadPaddingException | IllegalBlockSizeException thrown) {
            throw new InvalidKeyException("The wrapped key is not what was wrapped", thrown);
        }
        try {
            switch (type) {
                case Cipher.SECRET_KEY:
                    return new SecretKeySpec(bytes, algorithm);
                case Cipher.PRIVATE_KEY:
                    return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
                case Cipher.PUBLIC_KEY:
                    return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(bytes));
                default:
                    throw new NoSuchAlgorithmException("Unsupported key type");
            }
        } catch (InvalidKeySpecException thrown) {
            throw new InvalidKeyException("Cannot construct that key", thrown);
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }
}
