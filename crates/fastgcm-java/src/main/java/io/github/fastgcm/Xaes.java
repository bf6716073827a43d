package io.github.fastgcm;

import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.security.ProviderException;
import java.util.Arrays;

/**
 * XAES-256-GCM (C2SP), and KC-XAES-256-GCM (IACR ePrint 2025/758), which commits to its key: AES-256-GCM whose key and nonce come from a root key and an IV of
 * 24 bytes. The commitment follows the tag. Otherwise the cipher behaves as AES-GCM does.
 */
final class Xaes extends Gcm {
    private static final int KEY = 32;
    private static final int IV = 24;
    private static final int NONCE = 12;

    private final boolean commits;

    Xaes(boolean commits) {
        super(KEY);
        this.commits = commits;
    }

    @Override
    protected void engineSetMode(String mode) throws NoSuchAlgorithmException {
        if (!mode.equalsIgnoreCase("None")) {
            throw new NoSuchAlgorithmException("the mode is None");
        }
    }

    @Override
    int ivSize() {
        return IV;
    }

    @Override
    int nonceAt() {
        return IV - NONCE;
    }

    @Override
    void checkParameters(byte[] iv, int bits) throws InvalidAlgorithmParameterException {
        if (bits != 128) {
            throw new InvalidAlgorithmParameterException("Unsupported TLen value.  Must be 128");
        }
        if (iv.length != IV) {
            throw new InvalidAlgorithmParameterException("The IV must be " + IV + " bytes");
        }
    }

    @Override
    byte[] derive(String algorithm, byte[] key, byte[] iv) throws InvalidKeyException {
        if (key.length != KEY) {
            throw new InvalidKeyException("The key must be " + KEY + " bytes");
        }
        byte[] made = new byte[64];
        try {
            if (Native.derive(key, iv, made, commits) != 0) {
                throw new ProviderException("a fault of fastgcm");
            }
            System.arraycopy(made, 0, key, 0, KEY);
            return Arrays.copyOfRange(made, KEY, commits ? 64 : KEY);
        } finally {
            Arrays.fill(made, (byte) 0);
        }
    }
}
