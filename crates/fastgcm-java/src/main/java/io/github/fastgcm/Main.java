package io.github.fastgcm;

import java.security.Provider;
import java.security.Security;
import javax.crypto.Cipher;

/** What the jar says about this machine: {@code java -jar fastgcm-java.jar}. With {@code --security} the lines that put the provider first. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--security")) {
            int place = 1;
            System.out.println("security.provider." + place++ + "=" + Fastgcm.NAME);
            for (Provider provider : Security.getProviders()) {
                if (!provider.getName().equals(Fastgcm.NAME)) {
                    System.out.println("security.provider." + place++ + "=" + provider.getName());
                }
            }
            return;
        }
        Provider provider = new Fastgcm();
        System.out.println("provider:  " + provider + " for Java " + Runtime.version());
        if (Fastgcm.problem() != null) {
            System.out.println("not used:  " + Fastgcm.problem());
            return;
        }
        System.out.println("back end:  " + Fastgcm.backend() + ", by " + Fastgcm.way());
        String first = Cipher.getInstance("AES/GCM/NoPadding").getProvider().getName();
        System.out.println("AES-GCM:   of " + first + " unless a program names another provider");
        if (!first.equals(Fastgcm.NAME)) {
            System.out.println("to use it: java -jar fastgcm-java.jar --security > fastgcm.security");
            System.out.println("           java -Djava.security.properties=fastgcm.security -cp fastgcm-java.jar:... YourProgram");
        }
    }
}
