package io.github.fastgcm;

import java.security.ProviderException;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.BadPaddingException;
import javax.crypto.ShortBufferException;

/**
 * A message under a key: its AAD, its text in pieces, and its end. It goes to the library in one call, or, if it is long or comes in pieces, in several calls.
 */
abstract class Message extends Keyed {
    private boolean aadEnded;
    /** When encrypting, the text that does not fill a block yet; when decrypting, all text. */
    byte[] held = EMPTY;
    private int heldSize;
    /** The number of encrypted bytes. */
    private long done;
    /** The bytes of a message in pieces written since {@link #openedInPieces} began. */
    private long written;
    /** True if a wrong tag was found. The AAD is then lost, and nothing is opened before the next `init`. */
    private boolean refused;

    Message(int keySize) {
        super(keySize);
    }

    // Sizes are added here, as long integers: the sizes of a program come near to 2^31.

    /** Returns how many bytes `doFinal` makes of so many more: an array or a buffer may be too small for them. */
    long outputSize(int size) {
        return seals ? (long) heldSize + size + endSize() : Math.max((long) heldSize + size - endSize(), 0);
    }

    /** Returns how many bytes `update` makes of so many more. */
    long updateSize(int size) {
        return seals ? (long) heldSize + size & -BLOCK : 0;
    }

    /** Returns this size, if it fits into an int. */
    static int counted(long size) {
        if (size > Integer.MAX_VALUE) {
            throw tooLong();
        }
        return (int) size;
    }

    static void checkRoom(long needed, long room) throws ShortBufferException {
        if (needed > Integer.MAX_VALUE) {
            throw new ShortBufferException(tooLong().getMessage());
        }
        if (needed > room) {
            throw new ShortBufferException("Output buffer must be at least " + needed + " bytes long");
        }
    }

    /** Ends the message: the next one has this key and IV too. (An encryption that has begun to give out text has spent them.) */
    void restart() {
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

    /** Does this after a call of the library: the key has been used. */
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

    void checkAad() {
        checkInitialised();
        if (seals) {
            checkNotSpent();
        }
        if (aadEnded) {
            throw new IllegalStateException("Update has been called; no more AAD data");
        }
    }

    byte[] aadRoom(int size) {
        head = room(head, headSize, size);
        return head;
    }

    void checkTotal(long size) {
        counted(done + heldSize + size);
    }

    int update(Place from, int size, Place to) {
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

    /** Takes the next text of a message in pieces. */
    private void text(Place from, int offset, int size, Place to, int toOffset) {
        text(from, offset, size, to, toOffset, seals);
    }

    private void text(Place from, int offset, int size, Place to, int toOffset, boolean seals) {
        boolean mayVanish = from.mayVanish || to.mayVanish;
        byte[] own = mayVanish ? new byte[Math.min(Library.PART, size)] : EMPTY;
        try {
            for (long done = 0; done < size; done += Library.PART) {
                int part = (int) Math.min(Library.PART, size - done);
                if (mayVanish) {
                    Place there = Place.of(own, 0);
                    from.get((int) (offset + done), own, 0, part);
                    check(Native.text(memory.pieces, memory.key, there, 0, part, there, 0, seals));
                    written += part; // some of it, if the memory vanishes now
                    to.put((int) (toOffset + done), own, part);
                } else {
                    check(Native.text(memory.pieces, memory.key, from, offset + done, part, to, toOffset + done, seals));
                    written += part;
                }
            }
        } finally {
            Arrays.fill(own, (byte) 0);
        }
    }

    private static void check(int status) {
        if (status != 0) {
            throw new ProviderException("a fault of fastgcm: " + status);
        }
    }

    /** Ends a message, and writes to memory with so much room. */
    int finish(Place from, int size, Place to, long room) throws ShortBufferException, BadPaddingException {
        if (seals) {
            checkNotSpent();
            checkRoom(outputSize(size), room);
            checkTotal((long) size + endSize());
        }
        return seals ? seal(from, size, to) : open(from, size, to, room);
    }

    private int seal(Place from, int size, Place to) {
        int made = heldSize + size; // an int can hold it with the tag
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
                check(end(to, made));
            }
            to.put(made + tag, commitment);
            Report.message();
        } finally {
            ended(); // whatever has happened, the next message does not continue this one
            if (isSpoiled) {
                text.wipe();
            }
        }
        return made + endSize();
    }

    private boolean isShort(int text) {
        return text <= Library.PART && headSize <= Library.PART;
    }

    /** Runs a message in one call. */
    private int whole(Place from, int size, Place to) {
        if (!from.mayVanish && !to.mayVanish) {
            return wholeHere(from, size, to);
        }
        byte[] own = new byte[size + tag];
        Place there = Place.of(own, 0);
        boolean isTorn = false;
        try {
            from.get(0, own, 0, seals ? size : own.length);
            int status = wholeHere(there, size, there);
            if (status == 0) {
                isTorn = true;
                to.put(0, own, seals ? own.length : size);
                isTorn = false;
            }
            return status;
        } finally {
            Arrays.fill(own, (byte) 0);
            if (isTorn && !seals) {
                to.zero(size);
            }
        }
    }

    /** Writes the tag of a message in pieces at `offset`, or compares it with what is there. */
    private int end(Place at, int offset) {
        if (!at.mayVanish) {
            return Native.end(memory.pieces, memory.key, at, offset, tag, seals);
        }
        byte[] own = new byte[tag];
        if (!seals) {
            at.get(offset, own, 0, tag);
        }
        int status = Native.end(memory.pieces, memory.key, Place.of(own, 0), 0, tag, seals);
        if (seals && status == 0) {
            at.put(offset, own);
        }
        return status;
    }

    private int wholeHere(Place from, int size, Place to) {
        int aad = headSize - nonceSize();
        if (!used) {
            return Native.once(key, key.length, head, nonceSize(), aad, from, size, to, tag, seals);
        }
        return Native.message(keptKey(), head, nonceSize(), aad, from, size, to, tag, seals);
    }

    /** Opens a message. If anything but a wrong tag ends it, it is as if it had not begun. */
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
        // Both are compared, whatever the first result is, so that nobody learns which one is wrong.
        boolean isCommitted = text.has(made + tag, commitment);
        boolean isRight = !refused && (isShort(made) ? opened(whole(text, made, to)) : openedInPieces(text, made, to));
        if (isRight && !isCommitted) {
            takeBack(text, to, made, true);
            isRight = false;
        }
        if (!isRight) {
            aadEnded = true;
            refused = headSize > nonceSize(); // SunJCE continues with the text of `update`, but without AAD
            throw new AEADBadTagException("Tag mismatch");
        }
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

    /** Opens a long message in pieces. Whatever ends it, unverified text does not stay: text in place is what it was before, other output is all zero. */
    private boolean openedInPieces(Place from, int size, Place to) {
        boolean hadEnded = aadEnded;
        boolean isRight = false;
        boolean isWhole = false;
        begin();
        written = 0;
        try {
            text(from, 0, size, to, 0);
            isWhole = true;
            isRight = opened(end(from, size));
        } finally {
            memory.end();
            if (!isRight) {
                takeBack(from, to, (int) written, isWhole);
            }
            aadEnded = hadEnded;
        }
        return isRight;
    }

    /** Undoes this many decrypted bytes that are not verified. Where memory has vanished meanwhile, the result would be unknown. */
    private void takeBack(Place from, Place to, int size, boolean isWhole) {
        boolean isAsBefore = false;
        try {
            if (from.is(to) && (isWhole || !to.mayVanish)) {
                begin();
                text(to, 0, size, to, 0, true);
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
}
