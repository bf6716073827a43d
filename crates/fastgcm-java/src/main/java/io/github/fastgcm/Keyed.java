package io.github.fastgcm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.nio.ByteOrder;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.ProviderException;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.CipherSpi;
import javax.crypto.spec.GCMParameterSpec;

/**
 * What `init` sets: key, IV and direction. A key goes to the library with its first message. Only for a second message is it kept in native memory, which a
 * {@link Cleaner} wipes. So a program that makes a cipher for each message leaves nothing behind.
 */
abstract class Keyed extends CipherSpi {
    static final int BLOCK = 16;
    static final byte[] EMPTY = {};
    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /** Native memory: a key, and a message in pieces. The garbage collector frees it if nobody else has. */
    static final class Memory implements Runnable {
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

    /** There is no cleaner until a key is kept. */
    private static final class Cleaning {
        static final Cleaner CLEANER = Cleaner.create();
    }

    /** The length of each key in bytes, or 0 for any length. */
    private final int keySize;

    private boolean initialised;
    boolean seals;
    int tag = 16;
    /** The bytes behind the tag. */
    byte[] commitment = EMPTY;
    byte[] iv;
    byte[] key;
    /** The number of messages under the key; from the second message on the key is kept. */
    boolean used;
    Memory memory;
    private Cleaner.Cleanable cleanable;
    SecureRandom random;
    /** The values with which the last encryption was initialised. */
    private byte[] lastKey;
    private byte[] lastIv;
    /** True if an encryption has ended, so that the next needs another key or IV. */
    boolean spent;
    /** The IV, and the AAD behind it. */
    byte[] head = new byte[64];
    int headSize;

    Keyed(int keySize) {
        this.keySize = keySize;
    }

    // What differs in another scheme.

    /** The length in bytes of an IV that is drawn. */
    int ivSize() {
        return 12;
    }

    /** Returns true if such an IV is allowed, with a tag of this many bits. */
    void checkParameters(byte[] iv, int bits) throws InvalidAlgorithmParameterException {
        if (bits < 96 || bits > 128 || bits % 8 != 0) {
            throw new InvalidAlgorithmParameterException("Unsupported TLen value.  Must be one of {128, 120, 112, 104, 96}");
        }
    }

    /** Returns where the nonce begins in the IV. */
    int nonceAt() {
        return 0;
    }

    /**
     * Replaces a program's key by the key of a message, in its place, and returns the bytes that go behind the tag.
     *
     * @throws InvalidKeyException if the key is not valid
     */
    byte[] derive(String algorithm, byte[] key, byte[] iv) throws InvalidKeyException {
        return EMPTY;
    }

    int nonceSize() {
        return iv.length - nonceAt();
    }

    /** The length in bytes of the tag and of what follows it. */
    int endSize() {
        return tag + commitment.length;
    }

    static ProviderException tooLong() {
        return new ProviderException("A message has at most 2147483647 bytes, with its tag");
    }

    static byte[] randomIv(int size, SecureRandom random) {
        byte[] made = new byte[size];
        (random == null ? new SecureRandom() : random).nextBytes(made);
        return made.clone(); // a program's generator may keep the array, and change it later
    }

    static void checkKeySize(int size) throws InvalidKeyException {
        if (size != 16 && size != 24 && size != 32) {
            throw new InvalidKeyException("Invalid AES key length: " + size + " bytes");
        }
    }

    void checkInitialised() {
        if (!initialised) {
            throw new IllegalStateException("Operation not initialized.");
        }
    }

    void checkNotSpent() {
        if (spent) {
            throw new IllegalStateException("Must use either different key or iv for GCM encryption");
        }
    }

    void init(int mode, Key key, AlgorithmParameterSpec parameters, SecureRandom random)
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
            // A class of the program may return its own array and change it later: then an IV that is used twice would not be noticed.
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

    /** Sets another key, and wipes all that is left of the previous one. */
    private void renew(byte[] bytes) {
        free();
        if (key != null && key != lastKey) {
            Arrays.fill(key, (byte) 0);
        }
        key = bytes;
        used = false;
    }

    /** Compares in a time that depends only on the lengths. */
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

    long keptKey() {
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

    void free() {
        if (memory != null) {
            cleanable.clean();
            memory = null;
            cleanable = null;
        }
    }

    /** Returns an array with room for so many more bytes. */
    static byte[] room(byte[] array, int used, int more) {
        if (more <= array.length - used) {
            return array;
        }
        int most = Integer.MAX_VALUE - 8;
        if (more > most - used) {
            throw tooLong();
        }
        return Arrays.copyOf(array, (int) Math.min(most, Math.max(2L * array.length, (long) used + more)));
    }
}
