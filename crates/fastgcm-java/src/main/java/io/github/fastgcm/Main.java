package io.github.fastgcm;

import java.io.PrintStream;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.Provider;
import java.security.Security;
import javax.crypto.Cipher;

/** Prints a report about this machine: {@code java -jar} and the jar's name. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            check();
            return;
        }
        switch (arguments.length == 1 ? arguments[0] : "") {
            case "--security":
                security();
                return;
            case "--check":
                System.exit(check() ? 0 : 1);
                return;
            case "--help":
            case "-h":
                help(System.out);
                return;
            default:
                help(System.err);
                System.exit(2);
        }
    }

    /** Returns the file from which this program came, as a user would type it. */
    private static String jar() {
        CodeSource source = Main.class.getProtectionDomain().getCodeSource();
        try {
            String path = Path.of(source.getLocation().toURI()).toString();
            return path.matches("[A-Za-z0-9_./+-]+") ? path : "'" + path.replace("'", "'\\''") + "'";
        } catch (Exception none) {
            return "fastgcm-java-" + Fastgcm.VERSION + ".jar"; // the place is not a file
        }
    }

    private static void help(PrintStream to) {
        String jar = jar();
        to.println("AES-GCM of fastgcm " + Fastgcm.VERSION + " for Java 17 and later, as a provider of JCA");
        to.println();
        to.println("java -jar " + jar + " --check       whether it runs here, and whether it comes first; status 0 if it does");
        to.println("java -jar " + jar + " --security    the lines that put it before this Java's providers");
        to.println();
        uses(to, jar);
    }

    private static void uses(PrintStream to, String jar) {
        String properties = "java -Djava.security.properties=fastgcm.security ";
        to.println("To use it in a program that is not changed:");
        to.println("    java -jar " + jar + " --security > fastgcm.security");
        to.println("    " + properties + "-p " + jar + " --add-modules " + Main.class.getPackageName() + " -jar app.jar");
        to.println("    " + properties + "-cp " + jar + ":app.jar Program");
        to.println("With -Dfastgcm.report the standard error of the program says whether it is used.");
    }

    /** Returns the list of providers with this one before all others. */
    private static void security() {
        int place = 1;
        System.out.println("security.provider." + place++ + "=" + Fastgcm.NAME);
        for (Provider provider : Security.getProviders()) {
            if (!provider.getName().equals(Fastgcm.NAME)) {
                System.out.println("security.provider." + place++ + "=" + provider.getName());
            }
        }
    }

    /** Returns whether a program that is started like this one uses the provider. */
    private static boolean check() throws Exception {
        Provider provider = new Fastgcm();
        System.out.println("provider:  " + provider + " for Java " + Runtime.version());
        if (Fastgcm.problem() != null) {
            System.out.println("not used:  " + Fastgcm.problem());
            return false;
        }
        System.out.println("back end:  " + Fastgcm.backend() + ", by " + Fastgcm.way());
        if (Runtime.version().feature() >= 25 && Fastgcm.way().equals("JNI")) {
            System.out.println("           The jar has lost its line `Multi-Release: true`. With that line Java 25 calls foreign functions, which takes less time.");
        }
        String first = Cipher.getInstance("AES/GCM/NoPadding").getProvider().getName();
        boolean isFirst = first.equals(Fastgcm.NAME);
        System.out.println("AES-GCM:   of " + first + " in a program that is started with the same options and names no provider");
        if (!isFirst) {
            System.out.println();
            uses(System.out, jar());
        }
        return isFirst;
    }
}
