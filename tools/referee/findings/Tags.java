import java.security.Provider;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * BouncyCastle (1.72): a manner. It seals and opens with a tag of five bytes, which SP 800-38D has not (4, 8, and 12 to 16), where the caller asks for
 * that.
 *
 * <p>java -cp bcprov.jar Tags.java org.bouncycastle.jce.provider.BouncyCastleProvider (libbcprov-java; status 1: it does)
 */
final class Tags {
    public static void main(String[] arguments) throws Exception {
        var provider = (Provider) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        var text = "a text".getBytes();
        var work = text;
        for (int mode : new int[] {Cipher.ENCRYPT_MODE, Cipher.DECRYPT_MODE}) {
            var cipher = Cipher.getInstance("AES/GCM/NoPadding", provider);
            cipher.init(mode, new SecretKeySpec(new byte[16], "AES"), new GCMParameterSpec(40, new byte[12]));
            work = cipher.doFinal(work);
        }
        boolean takes = java.util.Arrays.equals(work, text);
        System.out.println("opens a tag of five bytes: " + takes);
        System.exit(takes ? 1 : 0);
    }
}
