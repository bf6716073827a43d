package io.github.fastgcm;

import java.security.Provider;
import java.util.List;
import java.util.Map;

/**
 * AES-GCM of fastgcm: a provider for {@code java.security}, {@code Security.insertProviderAt} and {@code Cipher.getInstance}. If its shared library cannot be
 * loaded it has no service, so that Java goes on with other providers.
 */
public final class Fastgcm extends Provider {
    private static final long serialVersionUID = 1;

    /** The name of the provider. */
    public static final String NAME = "Fastgcm";

    static final String VERSION = "0.1.0";

    /** Loads the library, once in the life of this class. */
    public Fastgcm() {
        super(NAME, VERSION, "AES-GCM of fastgcm (AES/GCM/NoPadding)");
        if (Library.PROBLEM != null) {
            return;
        }
        putService(new Gcms(this, "AES/GCM/NoPadding", 0, List.of()));
        for (int words = 2; words <= 4; words++) {
            String object = "2.16.840.1.101.3.4.1." + (20 * words - 34);
            putService(new Gcms(this, "AES_" + 64 * words + "/GCM/NoPadding", 8 * words, List.of(object, "OID." + object)));
        }
    }

    /**
     * Says why this provider has no service.
     *
     * @return one line, or null if it has them
     */
    public static String problem() {
        return Library.PROBLEM;
    }

    /**
     * Says what this machine's processor runs.
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

    private static final class Gcms extends Service {
        private final int keySize;

        Gcms(Provider provider, String name, int keySize, List<String> aliases) {
            super(provider, "Cipher", name, Gcm.class.getName(), aliases, Map.of("SupportedKeyFormats", "RAW"));
            this.keySize = keySize;
        }

        @Override
        public Object newInstance(Object parameter) {
            return new Gcm(keySize);
        }
    }
}
