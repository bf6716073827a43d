package io.github.fastgcm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.security.ProviderException;
import java.util.Objects;

/**
 * What the shared library does, by foreign functions, which read and write arrays in place. The other class of this name says what each method does.
 */
final class Native {
    /** The kind of Java's calls of the library. (The compiler would copy a constant into each class that reads it.) */
    static String way() {
        return "foreign functions";
    }

    static final int UNAUTHENTIC = 1;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG; // pointers and sizes too
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final MemoryLayout MEMORY = ValueLayout.ADDRESS; // what may be an array

    // Not critical: Java looks for exceptions that wait only where its thread leaves Java.
    private static final MethodHandle FINGERPRINT = Linker.nativeLinker().downcallHandle(function("fingerprint"), FunctionDescriptor.of(INT));
    private static final MethodHandle START = of("start", INT, MEMORY, LONG);
    private static final MethodHandle BACKEND = of("backend", INT, MEMORY, LONG);
    private static final MethodHandle KEY = of("key", LONG, MEMORY, LONG);
    private static final MethodHandle FREE_KEY = of("key_free", null, LONG);
    private static final MethodHandle DERIVE = of("derive", INT, MEMORY, MEMORY, MEMORY, INT);
    private static final MethodHandle MESSAGE = of("message", INT, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, INT);
    private static final MethodHandle ONCE = of("once", INT, MEMORY, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, INT);
    private static final MethodHandle PIECES = of("pieces", LONG, LONG, MEMORY, LONG);
    private static final MethodHandle FREE_PIECES = of("pieces_free", null, LONG);
    private static final MethodHandle AAD = of("aad", INT, LONG, LONG, MEMORY, LONG, LONG);
    private static final MethodHandle TEXT = of("text", INT, LONG, LONG, MEMORY, LONG, LONG, MEMORY, LONG, INT);
    private static final MethodHandle END = of("end", INT, LONG, LONG, MEMORY, LONG, LONG, INT);

    private Native() {}

    private static MethodHandle of(String name, MemoryLayout result, MemoryLayout... arguments) {
        FunctionDescriptor type =
                result == null ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments);
        return Linker.nativeLinker().downcallHandle(function(name), type, Linker.Option.critical(true));
    }

    private static MemorySegment function(String name) {
        return SymbolLookup.loaderLookup().find("fastgcm_java_" + name)
                .orElseThrow(() -> new UnsatisfiedLinkError("it has no function fastgcm_java_" + name));
    }

    /** Finds all functions after the library has been loaded, or fails. */
    static void bind() {}

    // The compiler must not make slices of memory and a place, which take 100 ns. So the bounds are checked here.

    private static MemorySegment start(Place place) {
        return place.memory instanceof byte[] ? MemorySegment.ofArray((byte[]) place.memory) : (MemorySegment) place.memory;
    }

    /** Returns where `size` bytes begin, if they are within the memory. */
    private static long at(Place place, long offset, long size) {
        if (place.memory instanceof byte[]) {
            return Objects.checkFromIndexSize(place.at(offset), size, ((byte[]) place.memory).length);
        }
        MemorySegment memory = (MemorySegment) place.memory;
        return Objects.checkFromIndexSize(place.at(offset) - memory.address(), size, memory.byteSize());
    }

    /** Returns the length of a text with its tag. */
    private static long with(int size, int tag) {
        return (long) size + Objects.checkIndex(tag, 17);
    }

    /** Returns the memory of an array, which must have `size` bytes. */
    private static MemorySegment array(byte[] array, long size) {
        Objects.checkFromIndexSize(0, size, array.length);
        return MemorySegment.ofArray(array);
    }

    /** The nonce, and the AAD behind it. */
    private static MemorySegment head(byte[] head, int nonce, int aad) {
        Objects.checkFromIndexSize(nonce, aad, head.length);
        return array(head, nonce);
    }

    /** No function throws anything. A call throws if its memory is gone, or belongs to another thread. */
    private static RuntimeException told(Throwable thrown) {
        if (thrown instanceof Error) {
            throw (Error) thrown;
        }
        return thrown instanceof RuntimeException ? (RuntimeException) thrown : new ProviderException(thrown);
    }

    private static int flag(boolean set) {
        return set ? 1 : 0;
    }

    static int start(byte[] backend, int size) {
        try {
            return (int) START.invokeExact(array(backend, size), (long) size);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int backend(byte[] name, int size) {
        try {
            return (int) BACKEND.invokeExact(array(name, size), (long) size);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    /** Does not read: a thread that reads while another thread closes the arena would be interrupted, as if a program had read. */
    static void checkAlive(ByteBuffer buffer) {
        MemorySegment memory = MemorySegment.ofBuffer(buffer);
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("Already closed");
        }
        if (!memory.isAccessibleBy(Thread.currentThread())) {
            throw new WrongThreadException("Attempted access outside owning thread");
        }
    }

    /** Returns all of the buffer: a call finds out whether its memory is still there. */
    static Object memory(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer.duplicate().clear());
    }

    /** No memory of an arena vanishes, because each call holds it. */
    static long address(ByteBuffer buffer) {
        MemorySegment memory = MemorySegment.ofBuffer(buffer.duplicate().clear());
        return memory.isMapped() ? -memory.address() : memory.address();
    }

    static void settle() {
        fingerprint();
    }

    static int fingerprint() {
        try {
            return (int) FINGERPRINT.invokeExact();
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static long key(byte[] bytes, int size) {
        try {
            return (long) KEY.invokeExact(array(bytes, size), (long) size);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static void freeKey(long key) {
        try {
            FREE_KEY.invokeExact(key);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int derive(byte[] root, byte[] nonce, byte[] made, boolean commits) {
        try {
            return (int) DERIVE.invokeExact(array(root, 32), array(nonce, 24), array(made, 64), flag(commits));
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int message(
            long key, byte[] head, int nonce, int aad, Place from, int size, Place to, int tag, boolean seals) {
        try {
            return (int) MESSAGE.invokeExact(
                    key, head(head, nonce, aad), (long) nonce, (long) aad,
                    start(from), at(from, 0, seals ? size : with(size, tag)), (long) size,
                    start(to), at(to, 0, seals ? with(size, tag) : size), (long) tag, flag(seals));
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int once(
            byte[] key, int keySize, byte[] head, int nonce, int aad, Place from, int size, Place to, int tag, boolean seals) {
        try {
            return (int) ONCE.invokeExact(
                    array(key, keySize), (long) keySize, head(head, nonce, aad), (long) nonce, (long) aad,
                    start(from), at(from, 0, seals ? size : with(size, tag)), (long) size,
                    start(to), at(to, 0, seals ? with(size, tag) : size), (long) tag, flag(seals));
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static long pieces(long key, byte[] nonce, int size) {
        try {
            return (long) PIECES.invokeExact(key, array(nonce, size), (long) size);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static void freePieces(long pieces) {
        try {
            FREE_PIECES.invokeExact(pieces);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int aad(long pieces, long key, byte[] aad, int at, int size) {
        try {
            Objects.checkFromIndexSize(at, size, aad.length);
            return (int) AAD.invokeExact(pieces, key, MemorySegment.ofArray(aad), (long) at, (long) size);
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int text(long pieces, long key, Place from, long offset, int size, Place to, long toOffset, boolean seals) {
        try {
            return (int) TEXT.invokeExact(
                    pieces, key, start(from), at(from, offset, size), (long) size, start(to), at(to, toOffset, size), flag(seals));
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }

    static int end(long pieces, long key, Place tag, long offset, int size, boolean seals) {
        try {
            return (int) END.invokeExact(pieces, key, start(tag), at(tag, offset, size), (long) size, flag(seals));
        } catch (Throwable thrown) {
            throw told(thrown);
        }
    }
}
