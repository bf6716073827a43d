import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.encryption.KeyManagementClient;
import org.apache.parquet.crypto.keytools.KmsClient;

/** A key management service with one key (the variable TABLES_KEY: 16 characters), for a test of Parquet and Iceberg: it wraps with AES-GCM itself. */
public final class Kms implements KmsClient, KeyManagementClient {
    private static final long serialVersionUID = 1;

    private static byte[] run(int mode, byte[] iv, byte[] from, int at) {
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            byte[] master = System.getenv("TABLES_KEY").getBytes(StandardCharsets.US_ASCII);
            cipher.init(mode, new SecretKeySpec(master, "AES"), iv == null ? null : new GCMParameterSpec(128, iv));
            byte[] made = cipher.doFinal(from, at, from.length - at);
            return iv != null ? made : ByteBuffer.allocate(12 + made.length).put(cipher.getIV()).put(made).array();
        } catch (java.security.GeneralSecurityException thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    private static byte[] unwrap(byte[] wrapped) {
        return run(Cipher.DECRYPT_MODE, Arrays.copyOf(wrapped, 12), wrapped, 12);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    @Override
    public void initialize(Configuration configuration, String instance, String address, String token) {}

    @Override
    public void initialize(Map<String, String> properties) {}

    @Override
    public String wrapKey(byte[] key, String master) {
        return Base64.getEncoder().encodeToString(run(Cipher.ENCRYPT_MODE, null, key, 0));
    }

    @Override
    public byte[] unwrapKey(String wrapped, String master) {
        return unwrap(Base64.getDecoder().decode(wrapped));
    }

    @Override
    public ByteBuffer wrapKey(ByteBuffer key, String master) {
        return ByteBuffer.wrap(run(Cipher.ENCRYPT_MODE, null, bytes(key), 0));
    }

    @Override
    public ByteBuffer unwrapKey(ByteBuffer wrapped, String master) {
        return ByteBuffer.wrap(unwrap(bytes(wrapped)));
    }
}
