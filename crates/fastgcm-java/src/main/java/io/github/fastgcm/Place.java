package io.github.fastgcm;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.ProviderException;
import java.util.Arrays;
import java.util.Objects;

/**
 * Where bytes begin: in an array, or in memory elsewhere. Such memory may vanish while it is used: the owner of an arena gives it back (a call by foreign
 * functions holds it, one by JNI does not), or another process cuts the file that is mapped there. Memory that may vanish is reached through its buffer only:
 * there Java throws an exception, where a fault in the library would end the virtual machine.
 */
final class Place {
    /** The least size of a page, in bytes. */
    private static final int PAGE = 4096;

    /** An array, or what {@link Native#memory} makes of a buffer. */
    final Object memory;
    /** The start of the bytes, and the end of the memory: positions in an array, or addresses. */
    final long at;
    final long end;
    /** Returns true if the library must not access this memory, because it may vanish. */
    final boolean mayVanish;
    private final ByteBuffer buffer;
    private final boolean isCopy;

    private Place(Object memory, long at, long end, ByteBuffer buffer, boolean mayVanish, boolean isCopy) {
        this.memory = memory;
        this.at = at;
        this.end = end;
        this.buffer = buffer;
        this.mayVanish = mayVanish;
        this.isCopy = isCopy;
    }

    static Place of(byte[] array, int at) {
        return new Place(array, at, array.length, null, false, false);
    }

    /** Returns what remains of a buffer, which nobody else moves. Throws an exception if Java would not read it. */
    static Place of(ByteBuffer buffer) {
        if (buffer.hasArray()) {
            return new Place(buffer.array(), (long) buffer.arrayOffset() + buffer.position(), buffer.array().length, buffer, false, false);
        }
        Native.checkAlive(buffer);
        if (!buffer.isDirect()) {
            return copy(buffer, buffer.remaining()); // read-only: its array is not given out
        }
        long address = Native.address(buffer);
        if (address == 0 && buffer.capacity() > 0) {
            throw new ProviderException("a direct buffer without an address");
        }
        long start = Math.abs(address);
        return new Place(Native.memory(buffer), start + buffer.position(), start + buffer.capacity(), buffer, address <= 0, false);
    }

    private static Place copy(ByteBuffer buffer, int size) {
        byte[] copy = new byte[size];
        buffer.duplicate().get(copy);
        return new Place(copy, 0, size, buffer, false, true);
    }

    /** Returns where the bytes at `offset` begin. */
    long at(long offset) {
        return at + Objects.checkIndex(offset, Long.MAX_VALUE);
    }

    /** Returns a copy of the first `size` bytes. */
    Place copied(int size) {
        if (memory instanceof byte[]) {
            return new Place(Arrays.copyOfRange((byte[]) memory, (int) at, (int) at + size), 0, size, buffer, false, true);
        }
        Place copy = copy(buffer, size);
        settle();
        return copy;
    }

    /** Copies `size` bytes that begin at `offset`. */
    void get(int offset, byte[] to, int toAt, int size) {
        if (memory instanceof byte[]) {
            System.arraycopy(memory, (int) at + offset, to, toAt, size);
        } else {
            buffer.get(buffer.position() + offset, to, toAt, size);
            settle();
        }
    }

    /** Writes these bytes at `offset`. */
    void put(int offset, byte[] bytes) {
        put(offset, bytes, bytes.length);
    }

    /** Writes the first `size` of these bytes at `offset`. */
    void put(int offset, byte[] bytes, int size) {
        if (memory instanceof byte[]) {
            System.arraycopy(bytes, 0, memory, (int) at + offset, size);
        } else {
            buffer.put(buffer.position() + offset, bytes, 0, size);
            settle();
        }
    }

    /** Throws now what Java would throw later: after a fault in memory it goes on until something makes it look. */
    private void settle() {
        if (mayVanish) {
            Native.settle();
        }
    }

    /** Returns whether these bytes are at `offset`, in a time that depends only on their number. */
    boolean has(int offset, byte[] bytes) {
        byte[] there = new byte[bytes.length];
        get(offset, there, 0, there.length);
        return MessageDigest.isEqual(there, bytes);
    }

    /** Wipes a copy, which may have plaintext. */
    void wipe() {
        if (isCopy) {
            Arrays.fill((byte[]) memory, (byte) 0);
        }
    }

    /** Zeroes the first `size` bytes, as far as they exist: a file is cut at a page. */
    void zero(int size) {
        if (memory instanceof byte[]) {
            Arrays.fill((byte[]) memory, (int) at, (int) at + size, (byte) 0);
            return;
        }
        byte[] zeros = new byte[PAGE];
        InternalError fault = null;
        for (int done = 0; done < size; ) {
            int part = (int) Math.min(PAGE - (at + done) % PAGE, size - done);
            try {
                put(done, zeros, part);
            } catch (InternalError thrown) {
                fault = thrown;
            }
            done += part;
        }
        if (fault != null) {
            throw fault;
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
