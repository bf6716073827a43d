package io.github.fastgcm;

import java.io.IOException;
import java.security.AlgorithmParameters;
import java.security.AlgorithmParametersSpi;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.ProviderException;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.InvalidParameterSpecException;

/**
 * Java's parameters of GCM, which come from another provider. They are here for programs that ask one provider for everything, such as {@code SealedObject}
 * with the name of a provider.
 */
final class GcmParameters extends AlgorithmParametersSpi {
    private final AlgorithmParameters theirs = theirs();

    private static AlgorithmParameters theirs() {
        Provider[] providers = Security.getProviders("AlgorithmParameters.GCM");
        try {
            for (Provider provider : providers == null ? new Provider[0] : providers) {
                if (!provider.getName().equals(Fastgcm.NAME)) {
                    return AlgorithmParameters.getInstance("GCM", provider);
                }
            }
        } catch (NoSuchAlgorithmException thrown) {
            throw new ProviderException(thrown);
        }
        throw new ProviderException("no other provider has parameters of GCM");
    }

    @Override
    protected void engineInit(AlgorithmParameterSpec spec) throws InvalidParameterSpecException {
        theirs.init(spec);
    }

    @Override
    protected void engineInit(byte[] encoded) throws IOException {
        theirs.init(encoded);
    }

    @Override
    protected void engineInit(byte[] encoded, String format) throws IOException {
        theirs.init(encoded, format);
    }

    @Override
    protected <T extends AlgorithmParameterSpec> T engineGetParameterSpec(Class<T> of) throws InvalidParameterSpecException {
        return theirs.getParameterSpec(of);
    }

    @Override
    protected byte[] engineGetEncoded() throws IOException {
        return theirs.getEncoded();
    }

    @Override
    protected byte[] engineGetEncoded(String format) throws IOException {
        return theirs.getEncoded(format);
    }

    @Override
    protected String engineToString() {
        return theirs.toString();
    }
}
