import java.nio.charset.StandardCharsets;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.crypto.keytools.KmsClient;

/** A key management service with one key, for a test: it wraps with AES-GCM itself. */
public final class Kms implements KmsClient {
    private static final SecretKeySpec MASTER = new SecretKeySpec("0123456789abcdef".getBytes(StandardCharsets.US_ASCII), "AES");

    @Override
    public void initialize(Configuration configuration, String instance, String address, String token) {}

    @Override
    public String wrapKey(byte[] key, String master) {
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, MASTER);
            byte[] sealed = cipher.doFinal(key);
            return Base64.getEncoder().encodeToString(cipher.getIV()) + " " + Base64.getEncoder().encodeToString(sealed);
        } catch (java.security.GeneralSecurityException thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    @Override
    public byte[] unwrapKey(String wrapped, String master) {
        try {
            String[] words = wrapped.split(" ");
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.DECRYPT_MODE, MASTER, new GCMParameterSpec(128, Base64.getDecoder().decode(words[0])));
            return cipher.doFinal(Base64.getDecoder().decode(words[1]));
        } catch (java.security.GeneralSecurityException thrown) {
            throw new IllegalStateException(thrown);
        }
    }
}
