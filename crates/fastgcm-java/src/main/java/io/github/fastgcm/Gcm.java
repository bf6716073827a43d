package io.github.fastgcm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
import javax.crypto.AEADBadTagException;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.CipherSpi;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.NoSuchPaddingException;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-GCM as the JDK's own provider (SunJCE) has it: what each call returns, and which exception it throws when.
 *
 * <p>Text that is encrypted comes out in whole blocks; what is decrypted comes out of {@code doFinal} only. A message goes to the library in one call, or, if
 * it is long or comes in pieces, as a message in pieces. A key goes with its first message. Only when it has a second one it is kept in native memory, which
 * a {@link Cleaner} wipes: so a program that makes a cipher for each message leaves nothing behind.
 */
class Gcm extends CipherSpi {
    private static final int BLOCK = 16;
    private static final byte[] EMPTY = {};
    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Gcm.class, "busy", int.class);
        } catch (ReflectiveOperationException thrown) {
            throw new ExceptionInInitializerError(thrown);
        }
    }

    /** Of which there is none until a key is kept. */
    private static final class Cleaning {
        static final Cleaner CLEANER = Cleaner.create();
    }

    /** Bytes of each key, or 0: any. */
    private final int keySize;
    /**
     * 1 while a thread is in a method that changes anything. Two at a time would be a fault of the program, and must not be one of the virtual machine:
     * the library writes where these fields say, and checks nothing.
     */
    @SuppressWarnings("unused")
    private int busy;

    // What `init` sets.
    private boolean initialised;
    private boolean seals;
    private int tag = 16;
    /** What stands behind the tag. */
    private byte[] commitment = EMPTY;
    private byte[] iv;
    private byte[] key;
    /** How many messages the key has had; a second one makes it worth keeping. */
    private boolean used;
    private Memory memory;
    private Cleaner.Cleanable cleanable;
    private SecureRandom random;
    /** What the last encryption was initialised with. */
    private byte[] lastKey;
    private byte[] lastIv;
    /** An encryption has ended, and wants another key or IV. */
    private boolean spent;

    // A message.
    /** The IV, and the AAD behind it. */
    private byte[] head = new byte[64];
    private int headSize;
    private boolean aadEnded;
    /** Of a text that is encrypted what fills no block yet; of one that is decrypted all. */
    private byte[] held = EMPTY;
    private int heldSize;
    /** How much has been encrypted. */
    private long done;
    /** How much of a message in pieces has gone to its output since {@link #openedInPieces} began. */
    private long written;
    /** A wrong tag was found, which has cost the AAD: nothing is opened before the next `init`. */
    private boolean refused;

    Gcm(int keySize) {
        this.keySize = keySize;
    }

    // ---- What another scheme has otherwise.

    /** Bytes of an IV that is drawn. */
    int ivSize() {
        return 12;
    }

    /** Whether there may be such an IV, with a tag of so many bits. */
    void checkParameters(byte[] iv, int bits) throws InvalidAlgorithmParameterException {
        if (bits < 96 || bits > 128 || bits % 8 != 0) {
            throw new InvalidAlgorithmParameterException("Unsupported TLen value.  Must be one of {128, 120, 112, 104, 96}");
        }
    }

    /** Where the nonce begins in the IV. */
    int nonceAt() {
        return 0;
    }

    /**
     * Makes a message's key of a program's key, in its place, and returns what stands behind the tag.
     *
     * @throws InvalidKeyException if the key is none
     */
    byte[] derive(String algorithm, byte[] key, byte[] iv) throws InvalidKeyException {
        return EMPTY;
    }

    private int nonceSize() {
        return iv.length - nonceAt();
    }

    /** Bytes of the tag, and of what stands behind it. */
    private int endSize() {
        return tag + commitment.length;
    }

    // ---- What is asked.

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

    // Sizes are added here, and as long integers: those of a program come near to 2^31.

    /** How many bytes `doFinal` makes of so many more: an array or a buffer may not have as many. */
    private long outputSize(int size) {
        return seals ? (long) heldSize + size + endSize() : Math.max((long) heldSize + size - endSize(), 0);
    }

    /** How many bytes `update` makes of so many more. */
    private long updateSize(int size) {
        return seals ? (long) heldSize + size & -BLOCK : 0;
    }

    private static ProviderException tooLong() {
        return new ProviderException("A message has at most 2147483647 bytes, with its tag");
    }

    /** That size, if an int has it. */
    private static int counted(long size) {
        if (size > Integer.MAX_VALUE) {
            throw tooLong();
        }
        return (int) size;
    }

    private static void checkRoom(long needed, long room) throws ShortBufferException {
        if (needed > Integer.MAX_VALUE) {
            throw new ShortBufferException(tooLong().getMessage());
        }
        if (needed > room) {
            throw new ShortBufferException("Output buffer must be at least " + needed + " bytes long");
        }
    }

    /** The place of an output: a negative one is no lack of room. */
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

    private static byte[] randomIv(int size, SecureRandom random) {
        byte[] made = new byte[size];
        (random == null ? new SecureRandom() : random).nextBytes(made);
        return made;
    }

    private static void checkKeySize(int size) throws InvalidKeyException {
        if (size != 16 && size != 24 && size != 32) {
            throw new InvalidKeyException("Invalid AES key length: " + size + " bytes");
        }
    }

    private void checkInitialised() {
        if (!initialised) {
            throw new IllegalStateException("Operation not initialized.");
        }
    }

    private void checkNotSpent() {
        if (spent) {
            throw new IllegalStateException("Must use either different key or iv for GCM encryption");
        }
    }

    // ---- Initialisation. If it fails, nothing has changed but that the message is over.

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

    private void init(int mode, Key key, AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        byte[] newIv;
        int bits = 128;
        if (parameters == null) {
            newIv = randomIv(ivSize(), random);
        } else if (parameters instanceof GCMParameterSpec) {
            newIv = ((GCMParameterSpec) parameters).getIV();
            bits = ((GCMParameterSpec) parameters).getTLen();
        } else {
            throw new InvalidAlgorithmParameterException("AlgorithmParameterSpec not of GCMParameterSpec");
        }
        if (newIv == null || newIv.length == 0) {
            throw new InvalidAlgorithmParameterException("IV is empty");
        }
        if (parameters != null && parameters.getClass() != GCMParameterSpec.class) {
            // A class of the program's may give its own array and change it later: an IV that is used twice would not be found then.
            newIv = newIv.clone();
        }
        checkParameters(newIv, bits);
        if (key == null) {
            throw new InvalidKeyException("The key must not be null");
        }
        byte[] bytes = key.getEncoded();
        if (bytes == null) {
            throw new InvalidKeyException("Key encoding must not be null");
        }
        try {
            byte[] newCommitment = derive(key.getAlgorithm(), bytes, newIv);
            set(mode == Cipher.ENCRYPT_MODE || mode == Cipher.WRAP_MODE, key.getAlgorithm(), bytes, newIv, bits / 8, random);
            commitment = newCommitment;
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    private void set(boolean newSeals, String algorithm, byte[] bytes, byte[] newIv, int newTag, SecureRandom newRandom)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        if (keySize != 0 && bytes.length != keySize) {
            throw new InvalidKeyException("The key must be " + keySize + " bytes");
        }
        byte[] newKey = key != null && equal(bytes, key) ? key : bytes.clone();
        boolean taken = false;
        try {
            if (newSeals && lastKey != null && equal(newKey, lastKey) && Arrays.equals(newIv, lastIv)) {
                throw new InvalidAlgorithmParameterException("Cannot reuse iv for GCM encryption");
            }
            if (!"AES".equalsIgnoreCase(algorithm) && !"Rijndael".equalsIgnoreCase(algorithm)) {
                throw new InvalidKeyException("Wrong algorithm: AES or Rijndael required");
            }
            checkKeySize(newKey.length);
            head = room(head, 0, newIv.length); // the last thing that can fail
            taken = true;
        } finally {
            if (!taken && newKey != key) {
                Arrays.fill(newKey, (byte) 0);
            }
        }
        if (newKey != key) {
            renew(newKey);
        }
        if (newSeals) {
            if (lastKey != null && lastKey != key) {
                Arrays.fill(lastKey, (byte) 0);
            }
            lastKey = key;
            lastIv = newIv;
        }
        random = newRandom;
        seals = newSeals;
        tag = newTag;
        iv = newIv;
        System.arraycopy(iv, nonceAt(), head, 0, nonceSize());
        headSize = nonceSize();
        spent = false;
        initialised = true;
    }

    /** Another key: what there is of the one before is wiped. */
    private void renew(byte[] bytes) {
        free();
        if (key != null && key != lastKey) {
            Arrays.fill(key, (byte) 0);
        }
        key = bytes;
        used = false;
    }

    /** In a time that depends on the lengths only. */
    private static boolean equal(byte[] one, byte[] other) {
        if (one.length != other.length || one.length % 8 != 0) {
            return false;
        }
        long differences = 0;
        for (int at = 0; at < one.length; at += 8) {
            differences |= (long) WORDS.get(one, at) ^ (long) WORDS.get(other, at);
        }
        return differences == 0;
    }

    // ---- The life of native memory.

    private void enter() {
        if (!BUSY.compareAndSet(this, 0, 1)) {
            throw new IllegalStateException("A Cipher is for one thread at a time");
        }
    }

    private void leave() {
        BUSY.setRelease(this, 0);
    }

    private long keptKey() {
        if (memory == null) {
            Memory made = new Memory();
            cleanable = Cleaning.CLEANER.register(this, made);
            memory = made;
        }
        if (memory.key == 0) {
            memory.key = Native.key(key, key.length);
            if (memory.key == 0) {
                throw new ProviderException("no memory for a key");
            }
        }
        return memory.key;
    }

    private void free() {
        if (memory != null) {
            cleanable.clean();
            memory = null;
            cleanable = null;
        }
    }

    /** The message is over: the next one has the same key and IV. (An encryption that has begun to put out text has spent them.) */
    private void restart() {
        if (memory != null && memory.pieces != 0) {
            spent |= seals;
            ended();
        } else {
            forget();
        }
    }

    private void forget() {
        headSize = iv == null ? 0 : nonceSize();
        aadEnded = false;
        if (seals) {
            Arrays.fill(held, 0, heldSize, (byte) 0);
        }
        if (held.length > BLOCK) {
            held = EMPTY;
        }
        heldSize = 0;
        done = 0;
        refused = false;
    }

    /** The same after a call of the library: the key has been used. */
    private void ended() {
        if (memory != null) {
            memory.end();
            if (!used) {
                free();
            }
        }
        used = true;
        forget();
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
            int size = from.remaining();
            from.get(aadRoom(size), headSize, size);
            headSize += size;
        } finally {
            leave();
        }
    }

    private void checkAad() {
        checkInitialised();
        if (seals) {
            checkNotSpent();
        }
        if (aadEnded) {
            throw new IllegalStateException("Update has been called; no more AAD data");
        }
    }

    private byte[] aadRoom(int size) {
        head = room(head, headSize, size);
        return head;
    }

    /** An array with room for so many more bytes. */
    private static byte[] room(byte[] array, int used, int more) {
        if (more <= array.length - used) {
            return array;
        }
        int most = Integer.MAX_VALUE - 8;
        if (more > most - used) {
            throw tooLong();
        }
        return Arrays.copyOf(array, (int) Math.min(most, Math.max(2L * array.length, (long) used + more)));
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
            ByteBuffer read = from.duplicate(); // whose position and limit no other thread changes
            ByteBuffer written = to.duplicate();
            int size = read.remaining();
            checkRoom(updateSize(size), written.remaining());
            if (seals) {
                checkNotSpent();
            }
            int made = buffers(read, written, updateSize(size), (in, out) -> update(in, size, out));
            from.position(read.limit());
            to.position(written.position() + made);
            return made;
        } catch (BadPaddingException thrown) {
            throw new ProviderException(thrown); // `update` verifies nothing
        } finally {
            leave();
        }
    }

    private void checkTotal(long size) {
        counted(done + heldSize + size);
    }

    private int update(Place from, int size, Place to) {
        if (!seals) {
            hold(from, 0, size);
            aadEnded = true;
            return 0;
        }
        checkNotSpent();
        checkTotal(size);
        int made = (int) updateSize(size);
        boolean isSpoiled = made > 0 && from.isSpoiledBy(to, made, size, heldSize == 0);
        Place text = isSpoiled ? from.copied(size) : from;
        begin();
        try {
            if (made == 0) {
                hold(text, 0, size);
                return 0;
            }
            int first = 0;
            if (heldSize > 0) {
                first = BLOCK - heldSize;
                hold(text, 0, first);
                text(Place.of(held, 0), 0, BLOCK, to, 0);
                Arrays.fill(held, (byte) 0);
                heldSize = 0;
            }
            int taken = made - (first > 0 ? BLOCK : 0);
            text(text, first, taken, to, made - taken);
            hold(text, first + taken, size - first - taken);
            to.deliver(made);
            done += made;
            return made;
        } catch (RuntimeException | Error thrown) {
            spent = true; // some of the text may have gone out under this IV
            ended();
            throw thrown;
        } finally {
            if (isSpoiled) {
                text.wipe();
            }
        }
    }

    private void hold(Place from, int offset, int size) {
        if (held.length == 0 && seals) {
            held = new byte[BLOCK];
        }
        held = room(held, heldSize, size);
        from.get(offset, held, heldSize, size);
        heldSize += size;
    }

    /** Begins a message in pieces, with its AAD. If it fails, nothing has begun. */
    private void begin() {
        long kept = keptKey();
        if (memory.pieces == 0) {
            memory.pieces = Native.pieces(kept, head, nonceSize());
            if (memory.pieces == 0) {
                throw new ProviderException("no memory for a message");
            }
            boolean hasAad = false;
            try {
                for (long at = nonceSize(); at < headSize; at += Library.PART) {
                    check(Native.aad(memory.pieces, kept, head, (int) at, (int) Math.min(Library.PART, headSize - at)));
                }
                hasAad = true;
            } finally {
                if (!hasAad) {
                    memory.end();
                }
            }
        }
        aadEnded = true;
    }

    /** The next text of a message in pieces. */
    private void text(Place from, int offset, int size, Place to, int toOffset) {
        for (long done = 0; done < size; done += Library.PART) {
            int part = (int) Math.min(Library.PART, size - done);
            check(Native.text(memory.pieces, memory.key, from, offset + done, part, to, toOffset + done, seals));
            written += part;
        }
    }

    private static void check(int status) {
        if (status != 0) {
            throw new ProviderException("a fault of fastgcm: " + status);
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
            throw new ProviderException(thrown); // it has as many
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
            int made = buffers(read, written, outputSize(read.remaining()), (in, out) -> finish(in, read.remaining(), out, written.remaining()));
            from.position(read.limit());
            to.position(written.position() + made);
            return made;
        } finally {
            leave();
        }
    }

    /** What is done with a place of input and one of output: returns how many bytes it has written. */
    private interface Work {
        int of(Place in, Place out) throws ShortBufferException, BadPaddingException;
    }

    private static int buffers(ByteBuffer from, ByteBuffer to, long most, Work work) throws ShortBufferException, BadPaddingException {
        Place in = Place.reading(from);
        try {
            Place out = Place.writing(to, most);
            try {
                return work.of(in, out);
            } finally {
                out.wipe();
            }
        } finally {
            in.wipe();
            Reference.reachabilityFence(from);
            Reference.reachabilityFence(to);
        }
    }

    /** The end of a message, to memory with so much room. */
    private int finish(Place from, int size, Place to, long room) throws ShortBufferException, BadPaddingException {
        if (seals) {
            checkNotSpent();
            checkRoom(outputSize(size), room);
            checkTotal((long) size + endSize());
        }
        return seals ? seal(from, size, to) : open(from, size, to, room);
    }

    private int seal(Place from, int size, Place to) {
        int made = heldSize + size; // an int has it with the tag
        boolean isSpoiled = from.isSpoiledBy(to, made + endSize(), size, heldSize == 0);
        Place text = isSpoiled ? from.copied(size) : from;
        spent = true;
        try {
            if (isShort(made) && (memory == null || memory.pieces == 0)) {
                check(whole(text, size, to));
            } else {
                begin();
                text(Place.of(held, 0), 0, heldSize, to, 0);
                text(text, 0, size, to, heldSize);
                check(Native.end(memory.pieces, memory.key, to, made, tag, true));
            }
            to.put(made + tag, commitment);
            to.deliver(made + endSize());
            Report.message();
        } finally {
            ended(); // whatever has happened: the next message does not go on with this one
            if (isSpoiled) {
                text.wipe();
            }
        }
        return made + endSize();
    }

    private boolean isShort(int text) {
        return text <= Library.PART && headSize <= Library.PART;
    }

    /** A message in one call. */
    private int whole(Place from, int size, Place to) {
        int aad = headSize - nonceSize();
        if (!used) {
            return Native.once(key, key.length, head, nonceSize(), aad, from, size, to, tag, seals);
        }
        return Native.message(keptKey(), head, nonceSize(), aad, from, size, to, tag, seals);
    }

    /** If anything but a wrong tag ends it, it is as if it had not begun. */
    private int open(Place from, int size, Place to, long room) throws ShortBufferException, BadPaddingException {
        long left = (long) heldSize + size - endSize();
        if (left < 0) {
            throw new AEADBadTagException("Input too short - need tag");
        }
        checkRoom(left, room);
        int made = (int) left;
        Place text = from;
        if (heldSize > 0) {
            int before = heldSize;
            hold(from, 0, size);
            heldSize = before;
            text = Place.of(held, 0);
        } else if (from.isSpoiledBy(to, made, size, true)) {
            text = from.copied(size);
        }
        // Both are compared, whatever the first says; and so is one only where the other is right.
        boolean isCommitted = text.has(made + tag, commitment);
        boolean isRight = !refused && (isShort(made) ? opened(whole(text, made, to)) : openedInPieces(text, made, to));
        if (isRight && !isCommitted) {
            takeBack(text, to, made);
            isRight = false;
        }
        if (!isRight) {
            aadEnded = true;
            refused = headSize > nonceSize(); // SunJCE goes on with what `update` had, but without AAD
            throw new AEADBadTagException("Tag mismatch");
        }
        to.deliver(made);
        Report.message();
        ended();
        return made;
    }

    private static boolean opened(int status) {
        if (status != Native.UNAUTHENTIC) {
            check(status);
        }
        return status == 0;
    }

    /** Opens a long message in pieces. What is not verified is what it was before, if it was opened in place, or all zero; whatever ends it. */
    private boolean openedInPieces(Place from, int size, Place to) {
        boolean hadEnded = aadEnded;
        boolean isRight = false;
        begin();
        written = 0;
        try {
            text(from, 0, size, to, 0);
            isRight = opened(Native.end(memory.pieces, memory.key, from, size, tag, false));
        } finally {
            memory.end();
            if (!isRight) {
                takeBack(from, to, (int) written);
            }
            aadEnded = hadEnded;
        }
        return isRight;
    }

    /** So much has been decrypted, and is not verified. */
    private void takeBack(Place from, Place to, int size) {
        boolean isAsBefore = false;
        try {
            if (from.is(to)) {
                begin();
                for (long done = 0; done < size; done += Library.PART) {
                    int part = (int) Math.min(Library.PART, size - done);
                    check(Native.text(memory.pieces, memory.key, to, done, part, to, done, true));
                }
                isAsBefore = true;
            }
        } finally {
            if (memory != null) {
                memory.end();
            }
            if (!isAsBefore) {
                to.zero(size);
            }
        }
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
            throw new ProviderException(thrown); // that is an error of decryption
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
