package io.github.fastgcm;

import java.nio.ByteBuffer;

/**
 * What the shared library does, by JNI. (Java 25 and later have another class of this name, which calls foreign functions.) Memory is an array of bytes and
 * a place in it, or what {@link #memory} makes of a buffer and an address. Nothing is checked here. What returns an int returns 0, or {@link #UNAUTHENTIC}, or something else for a fault.
 */
final class Native {
    /** How Java calls the library. (A constant would become part of who reads it.) */
    static String way() {
        return "JNI";
    }

    static final int UNAUTHENTIC = 1;

    private Native() {}

    /** After the library has been loaded. */
    static void bind() {}

    static native int start(byte[] backend, int size);

    static native int backend(byte[] name, int size);

    /** The memory of a buffer that has no array. */
    static Object memory(ByteBuffer buffer) {
        return null;
    }

    /** Where that begins. */
    static native long address(ByteBuffer buffer);

    static native long key(byte[] bytes, int size);

    static native void freeKey(long key);

    static native int message(
            long key, byte[] head, int nonce, int aad, Object from, long fromAt, int size, Object to, long toAt, int tag, boolean seals);

    static native int once(
            byte[] key, int keySize, byte[] head, int nonce, int aad, Object from, long fromAt, int size, Object to, long toAt, int tag,
            boolean seals);

    static native long pieces(long key, byte[] nonce, int size);

    static native void freePieces(long pieces);

    static native int aad(long pieces, long key, byte[] aad, long at, int size);

    static native int text(long pieces, long key, Object from, long fromAt, int size, Object to, long toAt, boolean seals);

    static native int end(long pieces, long key, Object tag, long at, int size, boolean seals);

    static native void zero(Object to, long at, int size);
}
