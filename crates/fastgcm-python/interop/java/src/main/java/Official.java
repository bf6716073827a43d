import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.services.kms.KmsClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.SdkPartType;
import software.amazon.encryption.s3.CommitmentPolicy;
import software.amazon.encryption.s3.S3EncryptionClient;
import software.amazon.encryption.s3.algorithms.AlgorithmSuite;
import software.amazon.encryption.s3.materials.KmsKeyring;

/**
 * The official client for Java, as a program that goes on: {@code Official S3 KMS KMS-KEY}. It reads and answers as {@code official.py} does.
 */
public class Official {
    private static final int PART = 5 << 20;

    public static void main(String[] arguments) throws Exception {
        URI endpoint = URI.create(arguments[0]);
        // Ceph 16 knows no checksums behind a body.
        RequestChecksumCalculation sums = RequestChecksumCalculation.WHEN_REQUIRED;
        S3Client plain = S3Client.builder().endpointOverride(endpoint).forcePathStyle(true).requestChecksumCalculation(sums).build();
        S3AsyncClient async = S3AsyncClient.builder()
                .endpointOverride(endpoint)
                .forcePathStyle(true)
                .requestChecksumCalculation(sums)
                .overrideConfiguration(of -> of.addExecutionInterceptor(new NoExpect()))
                .build();
        KmsClient kms = KmsClient.builder().endpointOverride(URI.create(arguments[1])).build();
        S3EncryptionClient client = S3EncryptionClient.builderV4()
                .wrappedClient(plain)
                .wrappedAsyncClient(async)
                .keyring(KmsKeyring.builder().kmsClient(kms).wrappingKeyId(arguments[2]).build())
                .encryptionAlgorithm(AlgorithmSuite.ALG_AES_256_GCM_HKDF_SHA512_COMMIT_KEY)
                .commitmentPolicy(CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT)
                .build();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            // In a thread of its own: the client may wait for ever (4.0.1 does so for an object that is shorter than a tag).
            var answer = CompletableFuture.supplyAsync(() -> {
                try {
                    run(client, words[0], words[1], Path.of(words[2]));
                    return "ok";
                } catch (Exception error) {
                    return error.getClass().getSimpleName();
                }
            });
            System.out.println(answer.completeOnTimeout("Timeout", 120, TimeUnit.SECONDS).get());
        }
        System.exit(0); // threads of the client go on
    }

    /** The client does not understand how moto's server says {@code 100 Continue}. */
    private static class NoExpect implements ExecutionInterceptor {
        @Override
        public SdkHttpRequest modifyHttpRequest(Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
            return context.httpRequest().toBuilder().removeHeader("Expect").build();
        }
    }

    private static void run(S3EncryptionClient client, String what, String name, Path file) throws Exception {
        var context = S3EncryptionClient.withAdditionalConfiguration(Map.of("name", "object"));
        switch (what) {
            case "put" -> client.putObject(to -> to.bucket("bucket").key(name).overrideConfiguration(context), RequestBody.fromFile(file));
            case "series" -> series(client, name, Files.readAllBytes(file));
            case "get" -> Files.write(file, client.getObjectAsBytes(of -> of.bucket("bucket").key(name).overrideConfiguration(context)).asByteArray());
            default -> throw new IllegalArgumentException(what);
        }
    }

    private static void series(S3EncryptionClient client, String name, byte[] text) {
        var context = S3EncryptionClient.withAdditionalConfiguration(Map.of("name", "object"));
        String id = client.createMultipartUpload(to -> to.bucket("bucket").key(name).overrideConfiguration(context)).uploadId();
        var parts = new ArrayList<CompletedPart>();
        for (int start = 0; start == 0 || start < text.length; start += PART) {
            int number = parts.size() + 1, end = Math.min(start + PART, text.length);
            boolean last = end == text.length;
            var body = RequestBody.fromBytes(Arrays.copyOfRange(text, start, end));
            var etag = client.uploadPart(
                    to -> to.bucket("bucket").key(name).uploadId(id).partNumber(number).sdkPartType(
                            last ? SdkPartType.LAST : SdkPartType.DEFAULT),
                    body).eTag();
            parts.add(CompletedPart.builder().partNumber(number).eTag(etag).build());
        }
        client.completeMultipartUpload(to -> to.bucket("bucket").key(name).uploadId(id).multipartUpload(all -> all.parts(parts)));
    }
}
