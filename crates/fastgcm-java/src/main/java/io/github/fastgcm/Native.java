package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * What the shared library does, by JNI. (Java 25 and later have another class of this name, which calls foreign functions.) A text or a tag is a place and an
 * offset from it. The library checks that all of it lies within its memory. A method that returns an int returns 0, or {@link #UNAUTHENTIC}, or another number
 * for a fault; a method that returns an address returns 0 for a fault.
 */
final class Native {
    /** The kind of Java's calls of the library. (The compiler would copy a constant into each class that reads it.) */
    static String way() {
        return "JNI";
    }

    static final int UNAUTHENTIC = 1;

    private Native() {}

    /** Runs after the library has been loaded. */
    static void bind() {}

    static native int start(byte[] backend, int size);

    static native int backend(byte[] name, int size);

    /** Refuses memory that was given back, or that belongs to another thread, with Java's own exception. */
    static void checkAlive(ByteBuffer buffer) {
        if (buffer.hasRemaining()) {
            buffer.get(buffer.position());
        }
    }

    /** Returns the memory of a buffer without an array: addresses are enough. */
    static Object memory(ByteBuffer buffer) {
        return null;
    }

    /** Returns where that memory begins, with a minus sign if it may vanish while it is used: it belongs to an arena, or is a mapped file. 0 is no address. */
    static native long address(ByteBuffer buffer);

    /**
     * Throws the exception of a fault in memory that Java itself has read or written. Java would throw it some time later: when compiled code asks the runtime
     * for something, as it does for arrays of arrays. (A return from native code is no such time before Java 18.)
     */
    static void settle() {
        Objects.requireNonNull(new byte[7][0]);
    }

    /** Returns {@link Library#FINGERPRINT}, if the library is that of these classes. */
    static native int fingerprint();

    static native long key(byte[] bytes, int size);

    static native void freeKey(long key);

    /** Derives 64 bytes for a message of XAES-256-GCM: its key, then its commitment if it commits. The root key has 32 bytes, the nonce 24. */
    static native int derive(byte[] root, byte[] nonce, byte[] made, boolean commits);

    static int message(
            long key, byte[] head, int nonce, int aad, Place from, int size, Place to, int tag, boolean seals) {
        return messageAt(key, head, nonce, aad, from.memory, from.at, from.end, size, to.memory, to.at, to.end, tag, seals);
    }

    private static native int messageAt(
            long key, byte[] head, int nonce, int aad, Object from, long fromAt, long fromEnd, int size, Object to, long toAt, long toEnd,
            int tag, boolean seals);

    static int once(
            byte[] key, int keySize, byte[] head, int nonce, int aad, Place from, int size, Place to, int tag, boolean seals) {
        return onceAt(key, keySize, head, nonce, aad, from.memory, from.at, from.end, size, to.memory, to.at, to.end, tag, seals);
    }

    private static native int onceAt(
            byte[] key, int keySize, byte[] head, int nonce, int aad, Object from, long fromAt, long fromEnd, int size, Object to, long toAt,
            long toEnd, int tag, boolean seals);

    static native long pieces(long key, byte[] nonce, int size);

    static native void freePieces(long pieces);

    static native int aad(long pieces, long key, byte[] aad, int at, int size);

    static int text(long pieces, long key, Place from, long offset, int size, Place to, long toOffset, boolean seals) {
        return textAt(pieces, key, from.memory, from.at(offset), from.end, size, to.memory, to.at(toOffset), to.end, seals);
    }

    private static native int textAt(
            long pieces, long key, Object from, long fromAt, long fromEnd, int size, Object to, long toAt, long toEnd, boolean seals);

    static int end(long pieces, long key, Place tag, long offset, int size, boolean seals) {
        return endAt(pieces, key, tag.memory, tag.at(offset), tag.end, size, seals);
    }

    private static native int endAt(long pieces, long key, Object tag, long at, long end, int size, boolean seals);
}
