package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Objects;

/**
 * Where bytes begin: in an array, in memory elsewhere, or in a copy of that memory. The owner of an arena may give its memory back at any time. Where the way
 * into the library cannot notice this, the memory is copied through its buffer, which refuses if the memory is gone.
 */
final class Place {
    /** An array, or what {@link Native#memory} makes of a buffer. */
    final Object memory;
    /** Where the bytes begin, and where the memory ends: positions in an array, or addresses. */
    final long at;
    final long end;
    private final ByteBuffer buffer;
    private final boolean isCopy;

    private Place(Object memory, long at, long end, ByteBuffer buffer, boolean isCopy) {
        this.memory = memory;
        this.at = at;
        this.end = end;
        this.buffer = buffer;
        this.isCopy = isCopy;
    }

    static Place of(byte[] array, int at) {
        return new Place(array, at, array.length, null, false);
    }

    /** Returns what remains of a buffer, which nobody else moves, for reading. */
    static Place reading(ByteBuffer buffer) {
        Place place = of(buffer);
        return place != null ? place : copy(buffer, buffer.remaining());
    }

    /** Returns what remains of a buffer, for writing so many bytes at most. The caller must call {@link #deliver} afterwards. */
    static Place writing(ByteBuffer buffer, long size) {
        Place place = of(buffer);
        return place != null ? place : empty(buffer, (int) Math.min(size, buffer.remaining()));
    }

    /** Returns null if the memory cannot be used where it is. Throws an exception if Java would not read it. */
    private static Place of(ByteBuffer buffer) {
        if (buffer.hasArray()) {
            return new Place(buffer.array(), (long) buffer.arrayOffset() + buffer.position(), buffer.array().length, buffer, false);
        }
        Native.checkAlive(buffer);
        long address = buffer.isDirect() ? Native.address(buffer) : 0;
        return address == 0 ? null : new Place(Native.memory(buffer), address + buffer.position(), address + buffer.capacity(), buffer, false);
    }

    private static Place empty(ByteBuffer buffer, int size) {
        return new Place(new byte[size], 0, size, buffer, true);
    }

    private static Place copy(ByteBuffer buffer, int size) {
        Place copy = empty(buffer, size);
        buffer.duplicate().get((byte[]) copy.memory);
        return copy;
    }

    /** Returns where the bytes at `offset` begin. */
    long at(long offset) {
        return at + Objects.checkIndex(offset, Long.MAX_VALUE);
    }

    /** Returns a copy of the first `size` bytes. */
    Place copied(int size) {
        if (memory instanceof byte[]) {
            return new Place(Arrays.copyOfRange((byte[]) memory, (int) at, (int) at + size), 0, size, buffer, true);
        }
        return copy(buffer, size);
    }

    /** Copies `size` bytes that begin at `offset`. */
    void get(int offset, byte[] to, int toAt, int size) {
        if (memory instanceof byte[]) {
            System.arraycopy(memory, (int) at + offset, to, toAt, size);
        } else {
            buffer.get(buffer.position() + offset, to, toAt, size);
        }
    }

    /** Writes these bytes at `offset`. */
    void put(int offset, byte[] bytes) {
        if (memory instanceof byte[]) {
            System.arraycopy(bytes, 0, memory, (int) at + offset, bytes.length);
        } else {
            buffer.put(buffer.position() + offset, bytes, 0, bytes.length);
        }
    }

    /** Returns whether these bytes are at `offset`, in a time that depends only on their number. */
    boolean has(int offset, byte[] bytes) {
        byte[] there = new byte[bytes.length];
        get(offset, there, 0, there.length);
        return MessageDigest.isEqual(there, bytes);
    }

    /** Moves what was written to a copy to its place. */
    void deliver(int size) {
        if (isCopy) {
            buffer.duplicate().put((byte[]) memory, 0, size);
        }
    }

    /** Wipes a copy, which may have plaintext. */
    void wipe() {
        if (isCopy) {
            Arrays.fill((byte[]) memory, (byte) 0);
        }
    }

    /** Zeroes the first `size` bytes. */
    void zero(int size) {
        if (memory instanceof byte[]) {
            Arrays.fill((byte[]) memory, (int) at, (int) at + size, (byte) 0);
            return;
        }
        byte[] zeros = new byte[Math.min(size, 8192)];
        for (int done = 0; done < size; done += Math.min(zeros.length, size - done)) {
            buffer.put(buffer.position() + done, zeros, 0, Math.min(zeros.length, size - done));
        }
    }

    /** Returns whether these are places in one memory: one array, or all memory outside arrays. */
    boolean isWith(Place other) {
        return memory == other.memory || !(memory instanceof byte[]) && !(other.memory instanceof byte[]);
    }

    /** Returns whether both places begin at one byte. */
    boolean is(Place other) {
        return isWith(other) && at == other.at;
    }

    /**
     * Returns whether `made` bytes that are written to that place would change some of the `size` bytes here that are still to be read. An output that begins
     * where the text begins stays behind the reading, if no bytes wait before the text.
     */
    boolean isSpoiledBy(Place to, long made, int size, boolean mayFollow) {
        return isWith(to) && at < to.at + made && to.at < at + size && !(mayFollow && at == to.at);
    }
}
