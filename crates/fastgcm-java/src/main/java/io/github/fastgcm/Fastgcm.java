package io.github.fastgcm;

import java.security.Provider;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * AES-GCM of fastgcm: a provider for {@code java.security}, {@code Security.insertProviderAt} and {@code Cipher.getInstance}. If its shared library cannot be
 * loaded, the provider has no service, so Java continues with other providers.
 *
 * <p>Input must not change while a call runs: a ciphertext that another thread changes while it is opened may become a text that nobody has sealed. Copy
 * memory that others can write to.
 */
public final class Fastgcm extends Provider {
    private static final long serialVersionUID = 1;

    /** The name of the provider. */
    public static final String NAME = "Fastgcm";

    static final String VERSION = "0.1.0";

    /** Loads the library, once in the lifetime of this class. */
    public Fastgcm() {
        super(NAME, VERSION, "AES-GCM of fastgcm (AES/GCM/NoPadding)");
        Report.begin();
        if (Library.PROBLEM == null) {
            Library.privileged(this::putServices);
        }
    }

    private Void putServices() {
        putService(new Made(this, "AlgorithmParameters", "GCM", GcmParameters.class, List.of(), GcmParameters::new));
        putService(cipher("AES/GCM/NoPadding", 0, List.of()));
        for (int words = 2; words <= 4; words++) {
            String object = "2.16.840.1.101.3.4.1." + (20 * words - 34);
            putService(cipher("AES_" + 64 * words + "/GCM/NoPadding", 8 * words, List.of(object, "OID." + object)));
        }
        putService(new Made(this, "Cipher", "XAES-256-GCM", Xaes.class, List.of(), () -> new Xaes(false)));
        putService(new Made(this, "Cipher", "KC-XAES-256-GCM", Xaes.class, List.of(), () -> new Xaes(true)));
        return null;
    }

    /**
     * Says why this provider has no service.
     *
     * @return one line, or null if the provider has its services
     */
    public static String problem() {
        return Library.PROBLEM;
    }

    /**
     * Says which back end this machine's processor runs.
     *
     * @return the name of the back end, or null if there is a {@link #problem}
     */
    public static String backend() {
        return Library.BACKEND;
    }

    /**
     * Says how Java calls the library.
     *
     * @return "JNI" or "foreign functions"
     */
    public static String way() {
        return Native.way();
    }

    /**
     * Counts what this provider has done, so that one can see whether a program uses it. With the property {@code fastgcm.report} the standard error reports
     * the first message, and the number at the end of the program.
     *
     * @return the number of messages that all ciphers of this class have sealed, or opened and found right
     */
    public static long messages() {
        return Report.messages();
    }

    // A provider that is read from a stream has no service, because services are not written to it.
    private Object readResolve() {
        return new Fastgcm();
    }

    private Service cipher(String name, int keySize, List<String> aliases) {
        return new Made(this, "Cipher", name, Gcm.class, aliases, () -> new Gcm(keySize));
    }

    /** A service that is created without the name of its class. */
    private static final class Made extends Service {
        private final Supplier<Object> maker;

        Made(Provider provider, String type, String name, Class<?> of, List<String> aliases, Supplier<Object> maker) {
            super(provider, type, name, of.getName(), aliases, type.equals("Cipher") ? Map.of("SupportedKeyFormats", "RAW") : null);
            this.maker = maker;
        }

        @Override
        public Object newInstance(Object parameter) {
            return maker.get();
        }
    }
}
