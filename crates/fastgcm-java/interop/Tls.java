import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS of Java (JSSE), with whatever providers this Java has: `server STORE VERSION SUITE` says its port and sends back what it gets (8 bytes of length first); `client STORE VERSION
 * SUITE PORT FILE` asks a server of HTTP for a file, and prints its digest; `cost STORE VERSION SUITE MIB` prints the processor time that so much takes, sealed and
 * opened by one thread.
 */
public final class Tls {
    private Tls() {}

    private static SSLContext context(String store) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream file = new FileInputStream(store)) {
            keys.load(file, "secret".toCharArray());
        }
        KeyManagerFactory mine = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        mine.init(keys, "secret".toCharArray());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("it", keys.getCertificate(keys.aliases().nextElement()));
        TrustManagerFactory others = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        others.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(mine.getKeyManagers(), others.getTrustManagers(), null);
        return context;
    }

    public static void main(String[] arguments) throws Exception {
        SSLContext context = context(arguments[1]);
        String[] versions = {arguments[2]};
        String[] suites = {arguments[3]};
        switch (arguments[0]) {
            case "server":
                SSLServerSocket server = (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0);
                server.setEnabledProtocols(versions);
                server.setEnabledCipherSuites(suites);
                System.out.println(server.getLocalPort());
                try (SSLSocket socket = (SSLSocket) server.accept()) {
                    DataInputStream from = new DataInputStream(socket.getInputStream());
                    byte[] all = new byte[(int) from.readLong()];
                    from.readFully(all);
                    socket.getOutputStream().write(all);
                }
                break;
            case "client":
                try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", Integer.parseInt(arguments[4]))) {
                    socket.setEnabledProtocols(versions);
                    socket.setEnabledCipherSuites(suites);
                    OutputStream to = socket.getOutputStream();
                    to.write(("GET /" + arguments[5] + " HTTP/1.0\r\n\r\n").getBytes());
                    byte[] all = socket.getInputStream().readAllBytes();
                    System.out.println(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(all)));
                }
                break;
            default:
                cost(context, versions, suites, Integer.parseInt(arguments[4]));
        }
    }

    private static void cost(SSLContext context, String[] versions, String[] suites, int mebibytes) throws Exception {
        SSLEngine client = context.createSSLEngine();
        SSLEngine server = context.createSSLEngine();
        for (SSLEngine engine : new SSLEngine[] {client, server}) {
            engine.setEnabledProtocols(versions);
            engine.setEnabledCipherSuites(suites);
            engine.setUseClientMode(engine == client);
        }
        ByteBuffer text = ByteBuffer.allocate(16384);
        new Random(1).nextBytes(text.array());
        ByteBuffer wire = ByteBuffer.allocate(40_000);
        ByteBuffer opened = ByteBuffer.allocate(40_000);
        ByteBuffer[] wires = {ByteBuffer.allocate(100_000), ByteBuffer.allocate(100_000)};
        for (int turn = 0; turn < 100; turn++) { // the handshake, and tickets behind it
            SSLEngine from = turn % 2 == 0 ? client : server;
            ByteBuffer to = wires[turn % 2];
            ByteBuffer back = wires[1 - turn % 2];
            from.wrap(ByteBuffer.allocate(0), to);
            back.flip();
            opened.clear();
            from.unwrap(back, opened);
            back.compact();
            for (Runnable task; (task = from.getDelegatedTask()) != null; ) {
                task.run();
            }
        }
        if (wires[0].position() + wires[1].position() > 0) {
            throw new AssertionError("the handshake has not ended");
        }
        long wanted = mebibytes * 64L;
        long start = 0;
        for (long record = -wanted / 4; record < wanted; record++) {
            if (record == 0) {
                start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            }
            text.clear();
            wire.clear();
            opened.clear();
            while (text.hasRemaining()) {
                SSLEngineResult result = client.wrap(text, wire);
                if (result.getStatus() != SSLEngineResult.Status.OK) {
                    throw new AssertionError(result);
                }
            }
            wire.flip();
            while (server.unwrap(wire, opened).bytesConsumed() > 0) {
                // the next record
            }
            if (opened.position() != 16384) {
                throw new AssertionError("a record of " + opened.position());
            }
        }
        if (!ByteBuffer.wrap(text.array()).equals(opened.flip())) {
            throw new AssertionError("another text");
        }
        System.out.printf("%.3f%n", (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / 1e9);
    }
}
