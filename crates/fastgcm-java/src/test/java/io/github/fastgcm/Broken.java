package io.github.fastgcm;

import java.nio.ByteBuffer;

/** Takes the place of {@link Native} in {@link Middle}: one call is no call, and fails in one of two ways. It has each method that `Native` has. */
final class Broken {
    static final int UNAUTHENTIC = Native.UNAUTHENTIC;

    /** How many calls there were, which of them fails (-1: none), and whether it throws something or says so. */
    static int calls;
    static int fails;
    static boolean isThrown;

    private Broken() {}

    private static boolean fails() {
        if (calls++ != fails) {
            return false;
        }
        if (isThrown) {
            throw new IllegalStateException("planted");
        }
        return true;
    }

    static String way() {
        return Native.way();
    }

    static void bind() {
        Native.bind();
    }

    static int start(byte[] backend, int size) {
        return Native.start(backend, size);
    }

    static int backend(byte[] name, int size) {
        return Native.backend(name, size);
    }

    static void checkAlive(ByteBuffer buffer) {
        if (fails()) {
            throw new IllegalStateException("planted");
        }
        Native.checkAlive(buffer);
    }

    static Object memory(ByteBuffer buffer) {
        return Native.memory(buffer);
    }

    static long address(ByteBuffer buffer) {
        return fails() ? 0 : Native.address(buffer);
    }

    static void settle() {
        Native.settle();
        if (calls++ == fails) {
            throw new InternalError("planted");
        }
    }

    static int fingerprint() {
        return Native.fingerprint();
    }

    static long key(byte[] bytes, int size) {
        return fails() ? 0 : Native.key(bytes, size);
    }

    static void freeKey(long key) {
        Native.freeKey(key);
    }

    static int derive(byte[] root, byte[] nonce, byte[] made, boolean commits) {
        return fails() ? 2 : Native.derive(root, nonce, made, commits);
    }

    static int message(long key, byte[] head, int nonce, int aad, Place from, int size, Place to, int tag, boolean seals) {
        return fails() ? 2 : Native.message(key, head, nonce, aad, from, size, to, tag, seals);
    }

    static int once(byte[] key, int keySize, byte[] head, int nonce, int aad, Place from, int size, Place to, int tag, boolean seals) {
        return fails() ? 2 : Native.once(key, keySize, head, nonce, aad, from, size, to, tag, seals);
    }

    static long pieces(long key, byte[] nonce, int size) {
        return fails() ? 0 : Native.pieces(key, nonce, size);
    }

    static void freePieces(long pieces) {
        Native.freePieces(pieces);
    }

    static int aad(long pieces, long key, byte[] aad, int at, int size) {
        return fails() ? 2 : Native.aad(pieces, key, aad, at, size);
    }

    static int text(long pieces, long key, Place from, long offset, int size, Place to, long toOffset, boolean seals) {
        return fails() ? 2 : Native.text(pieces, key, from, offset, size, to, toOffset, seals);
    }

    static int end(long pieces, long key, Place tag, long offset, int size, boolean seals) {
        return fails() ? 2 : Native.end(pieces, key, tag, offset, size, seals);
    }
}
