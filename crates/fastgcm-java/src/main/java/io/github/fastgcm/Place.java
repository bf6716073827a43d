package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Objects;

/**
 * Where bytes begin: in an array, in memory elsewhere, or in a copy of that. Memory which its owner may give back at any time (that of an arena) is copied
 * through its buffer where the way into the library finds out nothing about it: the buffer refuses then.
 */
final class Place {
    /** An array, or what {@link Native#memory} makes of a buffer. */
    final Object memory;
    /** Where the bytes begin, and where the memory ends: of an array counted from its beginning, else addresses. */
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

    /** What remains of a buffer, which nobody else moves, to be read. */
    static Place reading(ByteBuffer buffer) {
        Place place = of(buffer);
        return place != null ? place : copy(buffer, buffer.remaining());
    }

    /** What remains of a buffer, to be written: so many bytes at most. {@link #deliver} belongs to it. */
    static Place writing(ByteBuffer buffer, long size) {
        Place place = of(buffer);
        return place != null ? place : empty(buffer, (int) Math.min(size, buffer.remaining()));
    }

    /** Null if the memory cannot be used where it lies. An exception if Java would not read it. */
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

    /** Where what is `offset` behind begins. */
    long at(long offset) {
        return at + Objects.checkIndex(offset, Long.MAX_VALUE);
    }

    /** A copy of the first `size` bytes. */
    Place copied(int size) {
        if (memory instanceof byte[]) {
            return new Place(Arrays.copyOfRange((byte[]) memory, (int) at, (int) at + size), 0, size, buffer, true);
        }
        return copy(buffer, size);
    }

    /** Copies `size` bytes, which lie `offset` behind. */
    void get(int offset, byte[] to, int toAt, int size) {
        if (memory instanceof byte[]) {
            System.arraycopy(memory, (int) at + offset, to, toAt, size);
        } else {
            buffer.get(buffer.position() + offset, to, toAt, size);
        }
    }

    /** Writes those bytes, `offset` behind. */
    void put(int offset, byte[] bytes) {
        if (memory instanceof byte[]) {
            System.arraycopy(bytes, 0, memory, (int) at + offset, bytes.length);
        } else {
            buffer.put(buffer.position() + offset, bytes, 0, bytes.length);
        }
    }

    /** Whether those bytes lie `offset` behind. In a time that depends on their number only. */
    boolean has(int offset, byte[] bytes) {
        byte[] there = new byte[bytes.length];
        get(offset, there, 0, there.length);
        return MessageDigest.isEqual(there, bytes);
    }

    /** What was written to a copy goes where it belongs. */
    void deliver(int size) {
        if (isCopy) {
            buffer.duplicate().put((byte[]) memory, 0, size);
        }
    }

    /** A copy may have plaintext. */
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

    /** Whether these are places of one memory: an array, or all that is none. */
    boolean isWith(Place other) {
        return memory == other.memory || !(memory instanceof byte[]) && !(other.memory instanceof byte[]);
    }

    /** The same bytes. */
    boolean is(Place other) {
        return isWith(other) && at == other.at;
    }

    /**
     * Whether `made` bytes that are written to that place would change some of the `size` bytes here that are still to be read. What begins where the text
     * begins follows it, if nothing waits before it.
     */
    boolean isSpoiledBy(Place to, long made, int size, boolean mayFollow) {
        return isWith(to) && at < to.at + made && to.at < at + size && !(mayFollow && at == to.at);
    }
}
