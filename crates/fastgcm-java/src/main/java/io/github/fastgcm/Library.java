package io.github.fastgcm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The shared library, which is in the jar. */
final class Library {
    /** The most bytes of a message that go into one call, so that garbage collection does not wait for long. */
    static final int PART;
    /** The name of the back end in use; null if the library is not in use. */
    static final String BACKEND;
    /** The reason why the library is not used, or null if it is used. */
    static final String PROBLEM;

    static {
        Loaded loaded = privileged(Loaded::new);
        PART = loaded.part;
        BACKEND = loaded.backend;
        PROBLEM = loaded.problem;
        if (PROBLEM != null) {
            System.err.println("fastgcm is not used, and Java goes on with its other providers: " + PROBLEM);
        }
    }

    /** The result of loading the library. */
    private static final class Loaded {
        int part;
        String backend;
        String problem;

        Loaded() {
            try {
                load();
                checkFit();
                String wanted = System.getenv("FASTGCM_BACKEND");
                byte[] bytes = (wanted == null ? "" : wanted).getBytes(StandardCharsets.UTF_8);
                part = Native.start(bytes, bytes.length);
                byte[] name = new byte[64];
                backend = new String(name, 0, Native.backend(name, name.length), StandardCharsets.US_ASCII);
            } catch (Exception | LinkageError thrown) {
                Throwable cause = thrown instanceof ExceptionInInitializerError && thrown.getCause() != null ? thrown.getCause() : thrown;
                problem = cause instanceof Missing ? cause.getMessage() : cause.toString();
            }
        }
    }

    /** The hash of the functions that these classes call: a library with others must not be called. It changes with `native!` in jni.rs. */
    private static final int FINGERPRINT = 0x77cf179f;

    private static void checkFit() throws Missing {
        String reason;
        try {
            Native.bind();
            int found = Native.fingerprint();
            if (found == FINGERPRINT) {
                return;
            }
            reason = "its functions have the hash " + Integer.toHexString(found) + ", and " + Integer.toHexString(FINGERPRINT) + " are due";
        } catch (UnsatisfiedLinkError thrown) {
            reason = thrown.getMessage();
        }
        String named = System.getProperty("fastgcm.library");
        throw new Missing((named == null ? "its library" : named) + " does not fit the classes of this jar, fastgcm-java " + Fastgcm.VERSION + " (" + reason
                + "): name the library of this jar (META-INF/native), or none");
    }

    /** Does what this jar may do by itself, whoever calls it: under a security manager its programs need no rights for that. */
    @SuppressWarnings("removal")
    static <T> T privileged(java.security.PrivilegedAction<T> action) {
        return java.security.AccessController.doPrivileged(action);
    }

    static String property(String name) {
        return privileged(() -> System.getProperty(name));
    }

    private Library() {}

    /** A setting that the user may want to change. */
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

    private static final String NAMED = "name its file by -Dfastgcm.library=/path/to/libfastgcm_java.so (it lies in the jar, in META-INF/native)";

    private static void load() throws IOException {
        // A tool that moves classes to another package changes such a name wherever it is written in one piece.
        String name = String.join(".", "io", "github", "fastgcm");
        if (!Library.class.getPackageName().equals(name)) {
            throw new Missing("the jar's classes are in the package " + Library.class.getPackageName()
                    + ", and its library serves those in " + name + ": do not relocate them");
        }
        String named = System.getProperty("fastgcm.library");
        if (named != null) {
            load(Path.of(named).toAbsolutePath());
            return;
        }
        try {
            load(machine());
        } catch (Missing missing) {
            // That one is for glibc, and cannot be loaded where the C library is musl.
            try {
                load(machine() + "-musl");
            } catch (Missing another) {
                throw missing;
            }
        }
    }

    /** Loads the jar's library for a machine. */
    private static void load(String machine) throws IOException {
        try (InputStream library = Library.class.getResourceAsStream("/META-INF/native/" + machine + "/libfastgcm_java.so")) {
            if (library == null) {
                throw new Missing("the jar has no library for " + machine);
            }
            Path folder = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
            try {
                copied(library.readAllBytes(), folder);
            } catch (IOException | UnsatisfiedLinkError thrown) {
                throw new Missing("its library cannot be written to java.io.tmpdir, " + folder + ", and loaded from there (" + thrown
                        + "). Where no program may run from that folder, " + NAMED);
            }
        }
    }

    /** Loads a file. Java loads each file for one class loader only: others, of applications that are deployed again, get copies beside it. */
    private static void load(Path file) throws IOException {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError thrown) {
            if (!String.valueOf(thrown.getMessage()).contains("already loaded in another classloader")) {
                throw thrown;
            }
            byte[] bytes = Files.readAllBytes(file);
            try {
                copied(bytes, file.getParent());
            } catch (IOException | UnsatisfiedLinkError beside) {
                try {
                    copied(bytes, Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath());
                } catch (IOException | UnsatisfiedLinkError elsewhere) {
                    throw new Missing(file + " is loaded for another application, and a copy can be loaded neither from its folder nor from"
                            + " java.io.tmpdir (" + beside + "; " + elsewhere + "): let applications share the jar, or let this one write there");
                }
            }
        }
    }

    /** Loads these bytes from a file that is deleted afterwards. */
    private static void copied(byte[] bytes, Path folder) throws IOException {
        Path place = folder.toRealPath();
        checkOthers(place);
        Path file = create(place);
        try {
            Files.write(file, bytes);
            System.load(file.toString());
        } finally {
            Files.delete(file); // it is mapped, or nothing
        }
    }

    /** Refuses a folder in which others may put their file in the place of ours: they may write there, or above, and no sticky bit keeps them from ours. */
    private static void checkOthers(Path folder) throws IOException {
        for (Path at = folder; at != null; at = at.getParent()) {
            int mode = (Integer) Files.getAttribute(at, "unix:mode");
            if ((mode & 0022) != 0 && (mode & 01000) == 0) {
                throw new IOException("other users could replace the library: they may write to " + at + ", which has no sticky bit");
            }
        }
    }

    /**
     * Creates a file that only this user may change. Its name is not drawn at random: a generator would ask for providers, and this one may be the first. The
     * file of somebody else is never taken, because the file must not exist before.
     */
    private static Path create(Path folder) throws IOException {
        var mine = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        for (int attempt = 0; ; attempt++) {
            Path file = folder.resolve("fastgcm-" + ProcessHandle.current().pid() + "-" + System.nanoTime() + ".so");
            try {
                return Files.createFile(file, mine);
            } catch (FileAlreadyExistsException exists) {
                if (attempt == 100) {
                    throw exists;
                }
            }
        }
    }
}
