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

/**
 * What the shared library does, by foreign functions, which read and write arrays where they lie. The other class of this name says what each method does.
 */
final class Native {
    /** How Java calls the library. (A constant would become part of who reads it.) */
    static String way() {
        return "foreign functions";
    }

    static final int UNAUTHENTIC = 1;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG; // pointers and sizes too
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final MemoryLayout MEMORY = ValueLayout.ADDRESS; // what may be an array

    private static final MethodHandle START = of("start", INT, MEMORY, LONG);
    private static final MethodHandle BACKEND = of("backend", INT, MEMORY, LONG);
    private static final MethodHandle KEY = of("key", LONG, MEMORY, LONG);
    private static final MethodHandle FREE_KEY = of("key_free", null, LONG);
    private static final MethodHandle MESSAGE = of("message", INT, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, INT);
    private static final MethodHandle ONCE = of("once", INT, MEMORY, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, MEMORY, LONG, LONG, INT);
    private static final MethodHandle PIECES = of("pieces", LONG, LONG, MEMORY, LONG);
    private static final MethodHandle FREE_PIECES = of("pieces_free", null, LONG);
    private static final MethodHandle AAD = of("aad", INT, LONG, LONG, MEMORY, LONG, LONG);
    private static final MethodHandle TEXT = of("text", INT, LONG, LONG, MEMORY, LONG, LONG, MEMORY, LONG, INT);
    private static final MethodHandle END = of("end", INT, LONG, LONG, MEMORY, LONG, LONG, INT);
    private static final MethodHandle ZERO = of("zero", null, MEMORY, LONG, LONG);

    private Native() {}

    private static MethodHandle of(String name, MemoryLayout result, MemoryLayout... arguments) {
        MemorySegment function = SymbolLookup.loaderLookup().find("fastgcm_java_" + name).orElseThrow();
        FunctionDescriptor type =
                result == null ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments);
        return Linker.nativeLinker().downcallHandle(function, type, Linker.Option.critical(true));
    }

    /** After the library has been loaded: finds all functions, or fails. */
    static void bind() {}

    // What is made of memory and a place is what the compiler can do without: slices take it 100 ns.

    private static MemorySegment start(Object memory) {
        return memory instanceof byte[] ? MemorySegment.ofArray((byte[]) memory) : (MemorySegment) memory;
    }

    private static long at(Object memory, long at) {
        return memory instanceof byte[] ? at : at - ((MemorySegment) memory).address();
    }

    /** No call throws anything: what handles declare is not what they do. */
    private static ProviderException never(Throwable thrown) {
        return new ProviderException(thrown);
    }

    private static int flag(boolean set) {
        return set ? 1 : 0;
    }

    static int start(byte[] backend, int size) {
        try {
            return (int) START.invokeExact(MemorySegment.ofArray(backend), (long) size);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static int backend(byte[] name, int size) {
        try {
            return (int) BACKEND.invokeExact(MemorySegment.ofArray(name), (long) size);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    /** All of the buffer: a call finds out whether its memory is still there. */
    static Object memory(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer.duplicate().clear());
    }

    static long address(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer.duplicate().clear()).address();
    }

    static long key(byte[] bytes, int size) {
        try {
            return (long) KEY.invokeExact(MemorySegment.ofArray(bytes), (long) size);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static void freeKey(long key) {
        try {
            FREE_KEY.invokeExact(key);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static int message(
            long key, byte[] head, int nonce, int aad, Object from, long fromAt, int size, Object to, long toAt, int tag, boolean seals) {
        try {
            return (int) MESSAGE.invokeExact(
                    key, MemorySegment.ofArray(head), (long) nonce, (long) aad,
                    start(from), at(from, fromAt), (long) size, start(to), at(to, toAt), (long) tag, flag(seals));
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static int once(
            byte[] key, int keySize, byte[] head, int nonce, int aad, Object from, long fromAt, int size, Object to, long toAt, int tag,
            boolean seals) {
        try {
            return (int) ONCE.invokeExact(
                    MemorySegment.ofArray(key), (long) keySize, MemorySegment.ofArray(head), (long) nonce, (long) aad,
                    start(from), at(from, fromAt), (long) size, start(to), at(to, toAt), (long) tag, flag(seals));
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static long pieces(long key, byte[] nonce, int size) {
        try {
            return (long) PIECES.invokeExact(key, MemorySegment.ofArray(nonce), (long) size);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static void freePieces(long pieces) {
        try {
            FREE_PIECES.invokeExact(pieces);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static int aad(long pieces, long key, byte[] aad, long at, int size) {
        try {
            return (int) AAD.invokeExact(pieces, key, start(aad), at, (long) size);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static int text(long pieces, long key, Object from, long fromAt, int size, Object to, long toAt, boolean seals) {
        try {
            return (int) TEXT.invokeExact(pieces, key, start(from), at(from, fromAt), (long) size, start(to), at(to, toAt), flag(seals));
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static int end(long pieces, long key, Object tag, long at, int size, boolean seals) {
        try {
            return (int) END.invokeExact(pieces, key, start(tag), at(tag, at), (long) size, flag(seals));
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }

    static void zero(Object to, long at, int size) {
        try {
            ZERO.invokeExact(start(to), at(to, at), (long) size);
        } catch (Throwable thrown) {
            throw never(thrown);
        }
    }
}
