"""Other people's programs with the provider: TLS between Java and OpenSSL, a Kafka broker and its clients.

    python crates/fastgcm-java/interop/programs.py [--java HOME] OUT JAR [tls | kafka]...

`target/java-kafka` is what kafka/pom.xml makes. Java says itself which provider each cipher came from.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
KAFKA = HERE.parents[2] / "target/java-kafka/lib"
SUITES = [("TLSv1.3", "TLS_AES_128_GCM_SHA256"), ("TLSv1.3", "TLS_AES_256_GCM_SHA384")]
SUITES += [("TLSv1.2", f"TLS_ECDHE_RSA_WITH_AES_{bits}") for bits in ("128_GCM_SHA256", "256_GCM_SHA384")]
OPENSSL = {"TLSv1.3": "-tls1_3", "TLSv1.2": "-tls1_2"}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **{"stdout": subprocess.PIPE, **options}).stdout


def used(log):
    """The ciphers' providers, as Java's own log has them: all of AES-GCM are ours."""
    lines = [line for line in log.splitlines() if "AES" in line and "GCM" in line and "algorithm from: " in line]
    assert lines and all(line.rstrip().endswith("from: Fastgcm") for line in lines), f"{len(lines)} ciphers, {lines[:3]}"
    return len(lines)


class Java:
    def __init__(self, out, jar, home):
        self.out, self.jar = out, jar
        self.java = f"{home}/bin/java" if home else "java"
        self.properties = out / "fastgcm.security"
        self.properties.write_bytes(run(self.java, "-jar", jar, "--security"))
        self.options = [f"-Djava.security.properties={self.properties}", "--enable-native-access=ALL-UNNAMED"]
        self.says = ["-Djava.security.debug=provider,engine=cipher"]
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", out / "key.pem", "-out", out / "certificate.pem", stderr=subprocess.DEVNULL)  # fmt: skip
        self.store = out / "store.p12"
        run("openssl", "pkcs12", "-export", "-in", out / "certificate.pem", "-inkey", out / "key.pem", "-out", self.store, "-passout", "pass:secret")
        run("keytool", "-importcert", "-noprompt", "-alias", "it", "-file", out / "certificate.pem", "-keystore", out / "trust.p12", "-storepass", "secret",
            stderr=subprocess.DEVNULL)  # fmt: skip

    def command(self, *arguments, path=(), options=()):
        return [self.java, *self.options, *options, "-cp", os.pathsep.join(map(str, [self.jar, *path])), *map(str, arguments)]


def tls(java):
    """Both directions of both versions, between Java and OpenSSL's programs, with records of each size."""
    classes = java.out / "classes"
    run("javac", "-d", classes, HERE / "Tls.java")
    data = os.urandom(5_000_003)
    (java.out / "file").write_bytes(b"HTTP/1.0 200 OK\r\n\r\n" + data)
    digest = hashlib.sha256(b"HTTP/1.0 200 OK\r\n\r\n" + data).hexdigest()
    ciphers, port = 0, 24433
    for version, suite in SUITES:
        arguments = [java.store, version, suite]
        # OpenSSL is the client: Java opens what it sends, and seals it again.
        server = java.command("Tls", "server", *arguments, path=[classes], options=java.says)
        with open(java.out / "server.log", "w+") as log, subprocess.Popen(server, stdout=subprocess.PIPE, stderr=log, text=True) as process:
            client = ["openssl", "s_client", "-quiet", OPENSSL[version], "-connect", f"127.0.0.1:{process.stdout.readline().strip()}"]
            got = run(*client, input=len(data).to_bytes(8, "big") + data, stderr=subprocess.DEVNULL, timeout=120)
            assert process.wait(60) == 0 and got == data, f"{version} {suite}: {len(got)} bytes"
        ciphers += used((java.out / "server.log").read_text())
        # Java is the client.
        port += 1
        server = ["openssl", "s_server", "-HTTP", "-accept", str(port), OPENSSL[version], "-cert", java.out / "certificate.pem", "-key", java.out / "key.pem"]
        with subprocess.Popen(list(map(str, server)), cwd=java.out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                client = java.command("Tls", "client", *arguments, port, "file", path=[classes], options=java.says)
                for attempt in range(20):
                    done = subprocess.run(client, capture_output=True, text=True, timeout=120)
                    if done.returncode == 0:
                        break
                    time.sleep(0.5)  # it has not begun to listen
                assert done.stdout.strip() == digest, f"{version} {suite}: {done.stdout} {done.stderr[-2000:]}"
            finally:
                process.kill()
        ciphers += used(done.stderr)
        print(f"   {version} {suite}", flush=True)
    print(f"java::programs::tls ok {ciphers}", flush=True)


def kafka(java):
    """A broker of Kafka, a producer and a consumer, which meet by TLS."""
    folder = java.out / "kafka"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    libraries = [KAFKA / "*"]
    secret = f"ssl.keystore.location={java.store}\nssl.keystore.password=secret\nssl.keystore.type=PKCS12\nssl.truststore.location={java.out}/trust.p12\nssl.truststore.password=secret\nssl.cipher.suites=TLS_AES_256_GCM_SHA384\nssl.enabled.protocols=TLSv1.3\n"
    (folder / "server.properties").write_text(
        f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:19093\nlisteners=SSL://localhost:19092,CONTROLLER://localhost:19093\n"
        f"controller.listener.names=CONTROLLER\nlistener.security.protocol.map=SSL:SSL,CONTROLLER:PLAINTEXT\ninter.broker.listener.name=SSL\nlog.dirs={folder}/logs\n"
        f"offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n{secret}"
    )
    (folder / "client.properties").write_text(f"security.protocol=SSL\nbootstrap.servers=localhost:19092\nlinger.ms=50\n{secret}")
    client = folder / "client.properties"
    quiet = {"stderr": subprocess.DEVNULL}
    run(*java.command("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAQACAAAAAAAAAAA", "-c", folder / "server.properties", path=libraries), **quiet)
    lines = [f"{number} {os.urandom(700).hex()}" for number in range(20_000)]
    with open(folder / "broker.log", "w") as log:
        broker = subprocess.Popen(java.command("kafka.Kafka", folder / "server.properties", path=libraries, options=java.says), stdout=log, stderr=log)
        try:
            topic = ["--bootstrap-server", "localhost:19092", "--topic", "sealed"]
            make = java.command("org.apache.kafka.tools.TopicCommand", "--create", *topic, "--command-config", client, path=libraries)
            for attempt in range(30):
                if subprocess.run(make, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120).returncode == 0:
                    break
                assert broker.poll() is None, (folder / "broker.log").read_text()[-3000:]
            producer = java.command("kafka.tools.ConsoleProducer", *topic, "--producer.config", client, path=libraries, options=java.says)
            with open(folder / "producer.log", "w") as said:
                run(*producer, input="\n".join(lines).encode(), stderr=said, timeout=300)
            consumer = ["--consumer.config", client, "--from-beginning", "--max-messages", len(lines), "--timeout-ms", "60000"]
            consumer = java.command("org.apache.kafka.tools.consumer.ConsoleConsumer", *topic, *consumer, path=libraries, options=java.says)
            with open(folder / "consumer.log", "w") as said:
                got = run(*consumer, stderr=said, timeout=300).decode().split("\n")
        finally:
            broker.terminate()
            broker.wait(60)
    got = [line for line in got if line and line[0].isdigit()]
    assert sorted(got) == sorted(lines), f"{len(got)} messages"
    ciphers = [used((folder / f"{name}.log").read_text()) for name in ("broker", "producer", "consumer")]
    print(f"java::programs::kafka ok {len(got)}", flush=True)
    print(f"   {ciphers} ciphers were initialised in broker, producer and consumer")


ALL = {"tls": tls, "kafka": kafka}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("jar", type=pathlib.Path)
    options.add_argument("--java")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    java = Java(out, options.jar.resolve(), options.java)
    for name in options.names or ALL:
        ALL[name](java)


if __name__ == "__main__":
    main()
