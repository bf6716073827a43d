package io.github.fastgcm;

/** Native memory: a key, and a message in pieces. The garbage collector frees it if nobody else has. */
final class Memory implements Runnable {
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
