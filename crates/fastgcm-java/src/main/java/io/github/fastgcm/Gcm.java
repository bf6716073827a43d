package io.github.fastgcm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
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
final class Gcm extends CipherSpi {
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

    /** Native memory: the key, and a message in pieces. The garbage collector frees it if nobody else does. */
    private static final class Memory implements Runnable {
        long key;
        long pieces;

        @Override
        public void run() {
            end();
            if (key != 0) {
                Native.freeKey(key);
                key = 0;
            }
        }

        void end() {
            if (pieces != 0) {
                Native.freePieces(pieces);
                pieces = 0;
            }
        }
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
    private int done;
    /** A wrong tag was found, which has cost the AAD: nothing is opened before the next `init`. */
    private boolean refused;

    Gcm(int keySize) {
        this.keySize = keySize;
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
        return outputSize(size);
    }

    private int outputSize(int size) {
        return seals ? heldSize + size + tag : Math.max(heldSize + size - tag, 0);
    }

    @Override
    protected int engineGetKeySize(Key key) throws InvalidKeyException {
        byte[] bytes = key.getEncoded();
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
            parameters.init(new GCMParameterSpec(8 * tag, iv == null ? randomIv() : iv));
            return parameters;
        } catch (NoSuchAlgorithmException | InvalidParameterSpecException thrown) {
            throw new ProviderException(thrown);
        }
    }

    private byte[] randomIv() {
        byte[] made = new byte[12];
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
        this.random = random;
        byte[] newIv;
        int bits = 128;
        if (parameters == null) {
            newIv = randomIv();
        } else if (parameters instanceof GCMParameterSpec) {
            newIv = ((GCMParameterSpec) parameters).getIV();
            bits = ((GCMParameterSpec) parameters).getTLen();
        } else {
            throw new InvalidAlgorithmParameterException("AlgorithmParameterSpec not of GCMParameterSpec");
        }
        if (newIv == null || newIv.length == 0) {
            throw new InvalidAlgorithmParameterException("IV is empty");
        }
        if (bits < 96 || bits > 128 || bits % 8 != 0) {
            throw new InvalidAlgorithmParameterException("Unsupported TLen value.  Must be one of {128, 120, 112, 104, 96}");
        }
        if (key == null) {
            throw new InvalidKeyException("The key must not be null");
        }
        byte[] bytes = key.getEncoded();
        if (bytes == null) {
            throw new InvalidKeyException("Key encoding must not be null");
        }
        boolean keeps = false;
        try {
            keeps = set(mode == Cipher.ENCRYPT_MODE || mode == Cipher.WRAP_MODE, key.getAlgorithm(), bytes, newIv, bits / 8);
        } finally {
            if (!keeps) {
                Arrays.fill(bytes, (byte) 0);
            }
        }
    }

    /** Returns whether `bytes` are kept. */
    private boolean set(boolean newSeals, String algorithm, byte[] bytes, byte[] newIv, int newTag)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        if (keySize != 0 && bytes.length != keySize) {
            throw new InvalidKeyException("The key must be " + keySize + " bytes");
        }
        if (newSeals && lastKey != null && equal(bytes, lastKey) && Arrays.equals(newIv, lastIv)) {
            throw new InvalidAlgorithmParameterException("Cannot reuse iv for GCM encryption");
        }
        if (!algorithm.equalsIgnoreCase("AES") && !algorithm.equalsIgnoreCase("Rijndael")) {
            throw new InvalidKeyException("Wrong algorithm: AES or Rijndael required");
        }
        checkKeySize(bytes.length);
        boolean isNew = key == null || !equal(bytes, key);
        if (isNew) {
            renew(bytes);
        }
        if (newSeals) {
            if (lastKey != null && lastKey != key) {
                Arrays.fill(lastKey, (byte) 0);
            }
            lastKey = key;
            lastIv = newIv;
        }
        seals = newSeals;
        tag = newTag;
        iv = newIv;
        if (iv.length > head.length) {
            head = new byte[iv.length + 64];
        }
        System.arraycopy(iv, 0, head, 0, iv.length);
        headSize = iv.length;
        spent = false;
        initialised = true;
        return isNew;
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
        headSize = iv == null ? 0 : iv.length;
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
            throw new ProviderException("more than 2 GiB");
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
            byte[] to = new byte[updateSize(size)];
            update(from, at, size, to, 0);
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
            if (toAt > to.length) {
                throw new ArrayIndexOutOfBoundsException("The output would begin at " + toAt + " of " + to.length + " bytes");
            }
            checkRoom(updateSize(size), to.length - toAt);
            return update(from, at, size, to, toAt);
        } finally {
            leave();
        }
    }

    @Override
    protected int engineUpdate(ByteBuffer from, ByteBuffer to) throws ShortBufferException {
        enter();
        try {
            checkInitialised();
            byte[] text = new byte[from.remaining()];
            int made = updateSize(text.length);
            checkRoom(made, to.remaining());
            if (seals) {
                checkNotSpent();
            }
            from.get(text);
            byte[] out = new byte[made];
            update(text, 0, text.length, out, 0);
            to.put(out);
            return made;
        } finally {
            leave();
        }
    }

    private int updateSize(int size) {
        return seals ? heldSize + size & -BLOCK : 0;
    }

    private static void checkRoom(int needed, int room) throws ShortBufferException {
        if (needed > room) {
            throw new ShortBufferException("Output buffer must be at least " + needed + " bytes long");
        }
    }

    private void checkTotal(long size) {
        if (done + heldSize + size > Integer.MAX_VALUE) {
            throw new ProviderException("more than 2 GiB");
        }
    }

    private int update(byte[] from, int at, int size, byte[] to, int toAt) {
        if (!seals) {
            aadEnded = true;
            hold(from, at, size);
            return 0;
        }
        checkNotSpent();
        checkTotal(size);
        begin();
        int made = updateSize(size);
        if (made == 0) {
            hold(from, at, size);
            return 0;
        }
        if (overlaps(from, at, size, to, toAt, made, heldSize == 0)) {
            from = Arrays.copyOfRange(from, at, at + size);
            at = 0;
        }
        int taken = made - heldSize;
        int first = 0;
        if (heldSize > 0) {
            first = BLOCK - heldSize;
            hold(from, at, first);
            text(held, 0, BLOCK, to, toAt, true);
            Arrays.fill(held, (byte) 0);
            heldSize = 0;
            text(from, at + first, taken - first, to, toAt + BLOCK, true);
        } else {
            text(from, at, taken, to, toAt, true);
        }
        hold(from, at + taken, size - taken);
        done += made;
        return made;
    }

    private void hold(byte[] from, int at, int size) {
        if (held.length == 0 && seals) {
            held = new byte[BLOCK];
        }
        held = room(held, heldSize, size);
        System.arraycopy(from, at, held, heldSize, size);
        heldSize += size;
    }

    /** Whether what is written would change what is still to be read. What begins where the text begins follows it, if nothing waits before it. */
    private static boolean overlaps(Object from, long at, long size, Object to, long toAt, long made, boolean mayFollow) {
        return areOne(from, to) && at < toAt + made && toAt < at + size && !(mayFollow && at == toAt);
    }

    /** One array, or memory elsewhere. */
    private static boolean areOne(Object from, Object to) {
        return from == to || !(from instanceof byte[]) && !(to instanceof byte[]);
    }

    /** Begins a message in pieces, with its AAD. */
    private void begin() {
        aadEnded = true;
        long kept = keptKey();
        if (memory.pieces == 0) {
            memory.pieces = Native.pieces(kept, iv, iv.length);
            if (memory.pieces == 0) {
                throw new ProviderException("no memory for a message");
            }
            for (int at = iv.length; at < headSize; at += Library.PART) {
                check(Native.aad(memory.pieces, kept, head, at, Math.min(Library.PART, headSize - at)));
            }
        }
    }

    /** The next text of a message in pieces. */
    private void text(Object from, long at, int size, Object to, long toAt, boolean seals) {
        for (int done = 0; done < size; done += Library.PART) {
            int part = Math.min(Library.PART, size - done);
            check(Native.text(memory.pieces, memory.key, from, at + done, part, to, toAt + done, seals));
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
        checkTotal(seals ? size + tag : size);
        byte[] to = new byte[outputSize(size)];
        try {
            finish(text, at, size, null, to, 0, to.length);
            return to;
        } catch (ShortBufferException thrown) {
            throw new ProviderException(thrown); // it has as many
        } finally {
            restart();
        }
    }

    @Override
    protected int engineDoFinal(byte[] from, int at, int size, byte[] to, int toAt)
            throws ShortBufferException, IllegalBlockSizeException, BadPaddingException {
        enter();
        try {
            byte[] text = input(from, at, size);
            checkInitialised();
            return finish(text, at, size, null, to, toAt, to.length - toAt);
        } finally {
            leave();
        }
    }

    private byte[] input(byte[] from, int at, int size) throws IllegalBlockSizeException {
        byte[] text = from == null ? EMPTY : from;
        if ((at | size | text.length - at - size) < 0) {
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
            ByteBuffer in = from.duplicate(); // whose position and limit no other thread changes
            ByteBuffer out = to.duplicate();
            boolean isCopied = !in.hasArray() && !in.isDirect(); // an array that is read only
            Object text = isCopied ? copy(in) : memory(in);
            long at = isCopied ? 0 : place(in);
            int made = finish(text, at, in.remaining(), in, memory(out), place(out), out.remaining());
            from.position(in.limit());
            to.position(out.position() + made);
            return made;
        } finally {
            java.lang.ref.Reference.reachabilityFence(from);
            java.lang.ref.Reference.reachabilityFence(to);
            leave();
        }
    }

    private static Object memory(ByteBuffer buffer) {
        return buffer.hasArray() ? buffer.array() : Native.memory(buffer);
    }

    private static long place(ByteBuffer buffer) {
        return buffer.position() + (buffer.hasArray() ? buffer.arrayOffset() : Native.address(buffer));
    }

    private static byte[] copy(ByteBuffer from) {
        byte[] copy = new byte[from.remaining()];
        from.duplicate().get(copy);
        return copy;
    }

    /** The end of a message, from `size` bytes of memory (which are those of `buffer`, if that is not null) to memory with so much room. */
    private int finish(Object from, long at, int size, ByteBuffer buffer, Object to, long toAt, int room)
            throws ShortBufferException, BadPaddingException {
        if (seals) {
            checkNotSpent();
            checkRoom(outputSize(size), room);
            checkTotal(size + tag);
        }
        return seals ? seal(from, at, size, buffer, to, toAt) : open(from, at, size, buffer, to, toAt, room);
    }

    private int seal(Object from, long at, int size, ByteBuffer buffer, Object to, long toAt) {
        int made = heldSize + size;
        if (overlaps(from, at, size, to, toAt, made + tag, heldSize == 0)) {
            from = buffer == null ? Arrays.copyOfRange((byte[]) from, (int) at, (int) at + size) : copy(buffer);
            at = 0;
        }
        spent = true;
        if (isShort(made) && (memory == null || memory.pieces == 0)) {
            check(whole(from, at, size, to, toAt));
            ended();
            return made + tag;
        }
        begin();
        text(held, 0, heldSize, to, toAt, true);
        text(from, at, size, to, toAt + heldSize, true);
        check(Native.end(memory.pieces, memory.key, to, toAt + made, tag, true));
        ended();
        return made + tag;
    }

    private boolean isShort(int text) {
        return text <= Library.PART && headSize - iv.length <= Library.PART;
    }

    /** A message in one call. */
    private int whole(Object from, long at, int size, Object to, long toAt) {
        byte[] head = this.head;
        int aad = headSize - iv.length;
        if (!used) {
            return Native.once(key, key.length, head, iv.length, aad, from, at, size, to, toAt, tag, seals);
        }
        return Native.message(keptKey(), head, iv.length, aad, from, at, size, to, toAt, tag, seals);
    }

    private int open(Object from, long at, int size, ByteBuffer buffer, Object to, long toAt, int room)
            throws ShortBufferException, BadPaddingException {
        int made = heldSize + size - tag;
        if (made < 0) {
            throw new AEADBadTagException("Input too short - need tag");
        }
        checkRoom(made, room);
        if (heldSize > 0) {
            int before = heldSize;
            hold(buffer == null ? Arrays.copyOfRange((byte[]) from, (int) at, (int) at + size) : copy(buffer), 0, size);
            heldSize = before;
            from = held;
            at = 0;
        } else if (overlaps(from, at, size, to, toAt, made, true)) {
            from = buffer == null ? Arrays.copyOfRange((byte[]) from, (int) at, (int) at + size) : copy(buffer);
            at = 0;
        }
        aadEnded = true;
        boolean isRight = !refused && (isShort(made) ? opened(whole(from, at, made, to, toAt)) : openedInPieces(from, at, made, to, toAt));
        if (!isRight) {
            refused = headSize > iv.length; // SunJCE goes on with what `update` had, but without AAD
            throw new AEADBadTagException("Tag mismatch");
        }
        ended();
        return made;
    }

    private static boolean opened(int status) {
        if (status != Native.UNAUTHENTIC) {
            check(status);
        }
        return status == 0;
    }

    /** Opens a long message in pieces. What is refused is what it was before, if it was opened in place, or all zero. */
    private boolean openedInPieces(Object from, long at, int size, Object to, long toAt) {
        begin();
        text(from, at, size, to, toAt, false);
        boolean isRight = false;
        try {
            isRight = opened(Native.end(memory.pieces, memory.key, from, at + size, tag, false));
        } finally {
            memory.end();
            if (!isRight) {
                if (areOne(from, to) && at == toAt) {
                    begin();
                    text(to, toAt, size, to, toAt, true);
                    memory.end();
                } else {
                    for (int done = 0; done < size; done += Library.PART) {
                        Native.zero(to, toAt + done, Math.min(Library.PART, size - done));
                    }
                }
            }
        }
        return isRight;
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
