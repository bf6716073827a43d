package io.github.fastgcm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** The shared library, which lies in the jar. */
final class Library {
    /** The most bytes of a message that go in one call, so that garbage collection does not wait for long. */
    static final int PART;
    /** The name of the back end in use; null if the library is not. */
    static final String BACKEND;
    /** Why the library is not used; null if it is. */
    static final String PROBLEM;

    static {
        int part = 0;
        String backend = null;
        String problem = null;
        try {
            load();
            Native.bind();
            String wanted = System.getenv("FASTGCM_BACKEND");
            byte[] bytes = (wanted == null ? "" : wanted).getBytes(StandardCharsets.UTF_8);
            part = Native.start(bytes, bytes.length);
            byte[] name = new byte[64];
            backend = new String(name, 0, Native.backend(name, name.length), StandardCharsets.US_ASCII);
        } catch (Exception | LinkageError thrown) {
            Throwable cause = thrown instanceof ExceptionInInitializerError && thrown.getCause() != null ? thrown.getCause() : thrown;
            problem = cause instanceof Missing ? cause.getMessage() : cause.toString();
        }
        PART = part;
        BACKEND = backend;
        PROBLEM = problem;
        if (problem != null) {
            System.err.println("fastgcm is not used, and Java goes on with its other providers: " + problem);
        }
    }

    private Library() {}

    /** Something that the user may want to change. */
    private static final class Missing extends IOException {
        private static final long serialVersionUID = 1;

        Missing(String message) {
            super(message);
        }
    }

    /** The folder of this machine's library within the jar. */
    private static String machine() {
        String architecture = System.getProperty("os.arch");
        String name = "amd64".equals(architecture) ? "x86_64" : architecture;
        return System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT) + "-" + name;
    }

    private static void load() throws IOException {
        String named = System.getProperty("fastgcm.library");
        if (named != null) {
            System.load(Path.of(named).toAbsolutePath().toString());
            return;
        }
        String resource = "/META-INF/native/" + machine() + "/libfastgcm_java.so";
        try (InputStream library = Library.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new Missing("the jar has no library for " + machine());
            }
            byte[] bytes = library.readAllBytes();
            Path file = write(bytes);
            try {
                System.load(file.toString());
            } finally {
                Files.delete(file); // it is mapped
            }
        }
    }

    /**
     * A new file that only this user may change. Its name is not drawn at random: a generator would ask for providers, of which this may be the first. Nobody
     * else's file is taken, because it is only ever created.
     */
    private static Path write(byte[] bytes) throws IOException {
        Path folder = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        var mine = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        Set<StandardOpenOption> options = EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        for (int attempt = 0; ; attempt++) {
            Path file = folder.resolve("fastgcm-" + ProcessHandle.current().pid() + "-" + System.nanoTime() + ".so");
            try (var channel = Files.newByteChannel(file, options, mine)) {
                var buffer = java.nio.ByteBuffer.wrap(bytes);
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
                return file;
            } catch (FileAlreadyExistsException exists) {
                if (attempt == 100) {
                    throw exists;
                }
            }
        }
    }
}
