package app;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.Provider;
import java.security.Security;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** A program in a package of its own, as its users start it. `insert` names the provider; `deployed JAR` has it from class loaders of their own, one after another. */
public final class App {
    private App() {}

    private static String used(Cipher cipher) throws Exception {
        for (int message = 0; message < 3; message++) {
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[32], "AES"), new GCMParameterSpec(128, ByteBuffer.allocate(12).putInt(message).array()));
            cipher.doFinal(new byte[100_000]);
        }
        return cipher.getProvider().getName();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 2) {
            int times = 0;
            for (int application = 0; application < 8; application++) {
                try (URLClassLoader loader = new URLClassLoader(new URL[] {Path.of(arguments[1]).toUri().toURL()}, null)) {
                    Provider provider = (Provider) loader.loadClass("io.github.fastgcm.Fastgcm").getDeclaredConstructor().newInstance();
                    times += provider.getService("Cipher", "AES/GCM/NoPadding") == null ? 0 : 1;
                    used(Cipher.getInstance("AES/GCM/NoPadding", provider));
                }
            }
            System.out.println("deployed: " + times);
            return;
        }
        if (arguments.length == 1) {
            Security.insertProviderAt((Provider) Class.forName("io.github.fastgcm.Fastgcm").getDeclaredConstructor().newInstance(), 1);
        }
        System.out.println("used: " + used(Cipher.getInstance("AES/GCM/NoPadding")));
    }
}
