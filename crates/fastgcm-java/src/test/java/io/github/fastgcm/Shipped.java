package io.github.fastgcm;

import static io.github.fastgcm.Tests.KEY;
import static io.github.fastgcm.Tests.check;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.AlgorithmParameters;
import java.security.Provider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.crypto.Cipher;
import javax.crypto.SealedObject;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** How programs ship and are started: jars, class loaders, security managers; and how one sees whether a program uses the provider. */
final class Shipped {
    private static final Path JAR = Path.of(System.getProperty("java.class.path").split(":")[0]).toAbsolutePath();
    private Shipped() {}

    /** Another Java with these options. Returns its status and what it says. */
    private static String java(Path folder, Object... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        Arrays.stream(options).map(String::valueOf).forEach(command::add);
        return started(folder, command);
    }

    private static String started(Path folder, List<String> command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile());
        builder.environment().remove("JDK_JAVA_OPTIONS");
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() + " " + said;
    }

    private static void says(String said, int status, String... parts) {
        check(said.startsWith(status + " "), "status " + status + " is due: " + said);
        for (String part : parts) {
            check(said.contains(part), part + " is due: " + said);
        }
    }

    private static Path app(Path folder) throws Exception {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "app.App");
        Path jar = folder.resolve("app.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
                InputStream program = Shipped.class.getResourceAsStream("/app/App.class")) {
            out.putNextEntry(new JarEntry("app/App.class"));
            program.transferTo(out);
        }
        return jar;
    }

    /** The lines of docs/java.md, and of the help, that start programs; and what says whether the provider is used. */
    static long started(Path made) throws Exception {
        Path folder = Files.createDirectories(made.resolve("started")).toRealPath();
        Path app = app(folder);
        says(java(folder, "-jar", JAR, "--help"), 0, JAR + " --check", "-p " + JAR + " --add-modules io.github.fastgcm -jar app.jar");
        says(java(folder, "-jar", JAR, "--chekc"), 2, "--check");
        says(java(folder, "-jar", JAR), 0, "AES-GCM:   of SunJCE", "--security > fastgcm.security");
        says(java(folder, "-jar", JAR, "--check"), 1, "AES-GCM:   of SunJCE", Fastgcm.backend());
        says(java(folder, "-Dos.arch=pdp11", "-jar", JAR, "--check"), 1, "not used:  the jar has no library for linux-pdp11");
        String lines = java(folder, "-jar", JAR, "--security").substring(2);
        Files.writeString(folder.resolve("fastgcm.security"), lines);
        String properties = "-Djava.security.properties=fastgcm.security";
        says(java(folder, properties, "-jar", JAR, "--check"), 0, "AES-GCM:   of Fastgcm");
        // What `-cp` names is not heard beside `-jar`; modules are.
        says(java(folder, properties, "-cp", JAR, "-jar", app), 0, "used: SunJCE");
        says(java(folder, properties, "-p", JAR, "--add-modules", "io.github.fastgcm", "-jar", app), 0, "used: Fastgcm");
        says(java(folder, properties, "-cp", JAR + ":" + app, "app.App"), 0, "used: Fastgcm");
        says(java(folder, properties, "-Dfastgcm.report", "-p", JAR, "--add-modules", "io.github.fastgcm", "-jar", app), 0,
                "fastgcm " + Fastgcm.VERSION + ": the library is loaded: " + Fastgcm.backend(), ": the first message", ": 3 messages were sealed or opened");
        says(java(folder, "-Dfastgcm.report", "-cp", JAR + ":" + app, "app.App", "insert"), 0, "3 messages");
        // What it prints runs, wherever the jar lies.
        Path elsewhere = Files.copy(JAR, Files.createDirectories(folder.resolve("what's here, \"$PWD\"")).resolve("fastgcm.jar"), StandardCopyOption.REPLACE_EXISTING);
        String line = java(folder, "-jar", elsewhere, "--help").lines().filter(each -> each.contains("--check")).findFirst().get();
        String command = System.getProperty("java.home") + "/bin/" + line.replaceAll("--check.*", "--check");
        says(started(folder, List.of("sh", "-c", command)), 1, "AES-GCM:   of SunJCE");
        return 13;
    }

    /** The library by its name, for many applications of one server; and where it cannot be loaded the message says what helps. */
    static long loaded(Path made) throws Exception {
        Path folder = Files.createDirectories(made.resolve("loaded")).toRealPath();
        Path app = app(folder);
        Path library = folder.resolve("libfastgcm_java.so");
        try (JarFile jar = new JarFile(JAR.toFile())) {
            String machine = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
            Files.write(library, jar.getInputStream(jar.getJarEntry("META-INF/native/linux-" + machine + "/libfastgcm_java.so")).readAllBytes());
        }
        says(java(folder, "-cp", JAR + ":" + app, "app.App", "deployed", JAR), 0, "deployed: 8");
        says(java(folder, "-Dfastgcm.library=" + library, "-cp", JAR + ":" + app, "app.App", "deployed", JAR), 0, "deployed: 8");
        try (var left = Files.list(folder)) {
            check(left.count() == 2, "a copy is left");
        }
        Path nowhere = folder.resolve("nowhere");
        says(java(folder, "-Djava.io.tmpdir=" + nowhere, "-jar", JAR, "--check"), 1, nowhere.toString(), "-Dfastgcm.library=");
        // A library whose functions are others.
        Path unfit = Files.write(Files.createDirectories(made.resolve("unfit")).toRealPath().resolve("unfit.so"), new String(Files.readAllBytes(library), StandardCharsets.ISO_8859_1)
                .replace("Native_fingerprint", "Native_fingerprinX").replace("fastgcm_java_fingerprint", "fastgcm_java_fingerprinX")
                .getBytes(StandardCharsets.ISO_8859_1));
        says(java(folder, "-Dfastgcm.library=" + unfit, "-jar", JAR, "--check"), 1, "not used:  " + unfit, "does not fit the classes of this jar");
        says(java(folder, "-Dfastgcm.library=" + unfit, "-cp", JAR + ":" + app, "app.App", "insert"), 0, "used: SunJCE");
        // A folder that is full, here for files of this size; and one in which others may put their library in the place of ours.
        Path open = Files.createTempDirectory(made, "open").toRealPath();
        String full = "ulimit -f 64; exec '" + System.getProperty("java.home") + "/bin/java' -XX:-UsePerfData '-Djava.io.tmpdir=" + open + "' -jar '" + JAR + "' --check";
        says(started(folder, List.of("bash", "-c", full)), 1, "not used:  its library cannot be written to java.io.tmpdir, " + open);
        for (int mode : new int[] {0777, 0775, 01777, 0755}) {
            Files.setAttribute(open, "unix:mode", mode);
            boolean isSafe = mode == 01777 || mode == 0755;
            for (Path inside : new Path[] {open, Files.createDirectories(open.resolve("inside"))}) {
                says(java(folder, "-Djava.io.tmpdir=" + inside, "-jar", JAR, "--check"), 1, isSafe ? Fastgcm.backend() : open + ", which has no sticky bit");
            }
        }
        try (var left = Files.list(open)) {
            check(left.count() == 1, "a part of the library is left");
        }
        long count = 15;
        for (String mount : Files.readAllLines(Path.of("/proc/mounts"))) {
            String[] words = mount.split(" ");
            boolean isTaken = words[3].contains("noexec") && words[2].equals("tmpfs") && Files.isWritable(Path.of(words[1]));
            if (isTaken) {
                says(java(folder, "-Djava.io.tmpdir=" + words[1], "-jar", JAR, "--check"), 1, words[1], "-Dfastgcm.library=");
                says(java(folder, "-Djava.io.tmpdir=" + words[1], "-Dfastgcm.library=" + library, "-jar", JAR, "--check"), 1, Fastgcm.backend());
                count += 2;
                break;
            }
        }
        return count;
    }

    /** Under a security manager the jar has the rights, and its program has none but that to name a provider. (Java 24 and later have no security manager.) */
    static long secured(Path made) throws Exception {
        Path folder = Files.createDirectories(made.resolve("secured")).toRealPath();
        Path app = app(folder);
        if (Runtime.version().feature() >= 24) {
            says(java(folder, "-cp", JAR + ":" + app, "app.App", "insert"), 0, "used: Fastgcm");
            return 1;
        }
        Files.writeString(folder.resolve("policy"), "grant codeBase \"file:" + JAR + "\" { permission java.security.AllPermission; };\n"
                + "grant codeBase \"file:" + app + "\" { permission java.security.SecurityPermission \"insertProvider\"; };\n");
        for (String report : new String[] {"-Dnothing", "-Dfastgcm.report"}) {
            says(java(folder, "-Djava.security.manager", "-Djava.security.policy=policy", report, "-cp", JAR + ":" + app, "app.App", "insert"), 0, "used: Fastgcm");
        }
        return 2;
    }

    /** The jar with its classes in another package, as maven-shade makes it; or without the line that gives Java 25 other classes. */
    private static Path shaded(Path folder, boolean isRelocated) throws Exception {
        Path shaded = folder.resolve(isRelocated ? "relocated.jar" : "shaded.jar");
        try (JarFile jar = new JarFile(JAR.toFile()); JarOutputStream out = new JarOutputStream(Files.newOutputStream(shaded))) {
            for (JarEntry entry : java.util.Collections.list(jar.entries())) {
                String text = new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.ISO_8859_1);
                String name = entry.getName();
                if (name.equals("META-INF/MANIFEST.MF")) {
                    continue;
                }
                if (isRelocated && name.endsWith(".class")) {
                    name = name.replace("io/github/fastgcm", "hidden/in/fastgcm");
                    text = text.replace("io/github/fastgcm", "hidden/in/fastgcm").replace("io.github.fastgcm", "hidden.in.fastgcm");
                }
                out.putNextEntry(new JarEntry(name));
                out.write(text.getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        return shaded;
    }

    static long repacked(Path made) throws Exception {
        Path folder = Files.createDirectories(made.resolve("repacked")).toRealPath();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {shaded(folder, true).toUri().toURL()}, null)) {
            Class<?> relocated = loader.loadClass("hidden.in.fastgcm.Fastgcm");
            Provider provider = (Provider) relocated.getDeclaredConstructor().newInstance();
            check(provider.getServices().isEmpty(), "a provider without a library has services");
            String problem = (String) relocated.getMethod("problem").invoke(null);
            check(problem.contains("hidden.in.fastgcm") && problem.contains("do not relocate"), problem);
        }
        Path shaded = shaded(folder, false);
        says(java(folder, "-cp", shaded, "io.github.fastgcm.Main", "--check"), 1, ", by JNI", Runtime.version().feature() >= 25 ? "Multi-Release" : "");
        return 2;
    }

    /** What other classes of Java ask a provider for. */
    static long asked() throws Exception {
        long before = Fastgcm.messages();
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", "Fastgcm");
        cipher.init(Cipher.ENCRYPT_MODE, KEY);
        SealedObject sealed = new SealedObject("a secret", cipher);
        check(sealed.getObject(KEY, "Fastgcm").equals("a secret") && sealed.getObject(KEY, "SunJCE").equals("a secret"), "SealedObject");
        check(Fastgcm.messages() == before + 2, "two messages, one of them opened by the other provider");
        try {
            sealed.getObject(new SecretKeySpec(new byte[16], "AES"), "Fastgcm");
            throw new AssertionError("opened with a wrong key");
        } catch (java.security.InvalidKeyException right) {
            check(Fastgcm.messages() == before + 2, "what is refused is counted");
        }
        for (int bits = 96; bits <= 128; bits += 8) {
            GCMParameterSpec spec = new GCMParameterSpec(bits, new byte[12]);
            AlgorithmParameters ours = AlgorithmParameters.getInstance("GCM", "Fastgcm");
            AlgorithmParameters theirs = AlgorithmParameters.getInstance("GCM", "SunJCE");
            ours.init(spec);
            theirs.init(spec);
            check(Arrays.equals(ours.getEncoded(), theirs.getEncoded()) && ours.toString().equals(theirs.toString()), "parameters");
            AlgorithmParameters read = AlgorithmParameters.getInstance("GCM", "Fastgcm");
            read.init(theirs.getEncoded("ASN.1"), "ASN.1");
            check(read.getParameterSpec(GCMParameterSpec.class).getTLen() == bits && read.getEncoded("ASN.1").length > 12, "read parameters");
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(new Fastgcm());
        Provider read = (Provider) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        cipher = Cipher.getInstance("AES/GCM/NoPadding", read);
        cipher.init(Cipher.ENCRYPT_MODE, KEY, new GCMParameterSpec(128, ByteBuffer.allocate(12).array()));
        check(cipher.doFinal(new byte[3]).length == 19, "a provider that was read from a stream");
        return 9;
    }
}
