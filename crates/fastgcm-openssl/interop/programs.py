"""Other people's programs with the OpenSSL provider: programs.py FASTGCM.SO EVP [NAME...]. EVP is the folder of sources.sh.

Each program runs with the provider and with OpenSSL alone. The bytes must be right both times. counted.c says what the provider did: it must be
all of it, or nothing. `NAME: with it/without it` are best times of three, which nothing depends on."""

import contextlib, hashlib, http.server, os, pathlib, random, re, shutil, socket, subprocess, sys, tempfile, threading, time

module, evp, wanted = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
here = pathlib.Path(__file__).resolve().parent
folder = pathlib.Path(tempfile.mkdtemp(prefix="fastgcm-programs-"))
folder.chmod(0o755)
os.chdir(folder)
configuration = (here / "../fastgcm.cnf").read_text()
(folder / "openssl.cnf").write_text(configuration.replace("\nmodule = fastgcm.so\n", f"\nmodule = {folder}/fastgcm.so\n"))
subprocess.run(["cc", "-shared", "-fPIC", "-O1", f'-DMODULE="{module}"', "-o", "fastgcm.so", here / "counted.c"], check=True)
request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -out c.pem -keyout k.pem"
subprocess.run(["openssl", *request.split()], check=True, capture_output=True)
(folder / "ck.pem").write_text((folder / "c.pem").read_text() + (folder / "k.pem").read_text())
LONG = 64 << 20
data = random.Random(1).randbytes(LONG)


def environment(counter):
    """For a program that counts there; None: OpenSSL alone."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OPENSSL_", "FASTGCM_"))}
    if counter is None:
        return clean | {"OPENSSL_CONF": "/dev/null"}
    (folder / counter).write_bytes(bytes(24))
    (folder / counter).chmod(0o666)
    return clean | {"OPENSSL_CONF": f"{folder}/openssl.cnf", "FASTGCM_COUNTED": f"{folder}/{counter}"}


def done(counter, least=1):
    """At least so many bytes went through the provider."""
    for _ in range(100):  # A server frees its contexts when it notices that the client has gone.
        keys, messages, count = memoryview((folder / counter).read_bytes()).cast("Q")
        if keys and messages and count >= least:
            return
        time.sleep(0.05)
    sys.exit(f"{counter}: the provider made {keys} keys, {messages} messages and {count} bytes, not {least}")


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def server(command, at, env, **options):
    """A server that runs meanwhile."""
    with open("server.log", "wb") as log:
        process = subprocess.Popen(list(map(str, command)), env=env, stdout=log, stderr=log, **options)
    try:
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", at)):
                break
            if process.poll() is not None:
                sys.exit(f"{command}: {pathlib.Path('server.log').read_text()}")
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait()


def output(command, env, **options):
    run = subprocess.run(list(map(str, command)), env=env, capture_output=True, **options)
    if run.returncode:
        sys.exit(f"{command}: {run.returncode} {run.stdout[-2000:]} {run.stderr[-2000:]}")
    return run.stdout


def both(name, run, least=LONG, sides=("server", "client")):
    """Runs it with the provider and without, and tells the times. `run(server, client)` returns what must be `True`; its counters are its name's."""
    times = {True: [], False: []}
    for provided in [True, False] * 3:
        environments = [environment(f"{name}.{side}" if provided else None) for side in ("server", "client")]
        before, children = time.monotonic(), os.times()
        assert run(*environments), f"{name}: wrong bytes"
        times[provided].append((time.monotonic() - before, os.times().children_user - children.children_user))
        if provided:
            for side in sides:
                done(f"{name}.{side}", least)
    best = [[min(time[which] for time in times[provided]) for provided in (True, False)] for which in (0, 1)]
    print(f"{name}: {best[0][0]:.2f}/{best[0][1]:.2f} s, processor (user) {best[1][0]:.2f}/{best[1][1]:.2f} s")


SUITES = [(version, bits) for version in ("1.2", "1.3") for bits in (128, 256)]


def curl_with(version, bits):
    names = {"1.2": f"ECDHE-RSA-AES{bits}-GCM-SHA{256 if bits == 128 else 384}", "1.3": f"TLS_AES_{bits}_GCM_SHA{256 if bits == 128 else 384}"}
    command = ["curl", "-sS", "--cacert", "c.pem", f"--tlsv{version}", "--tls-max", version]
    return command + ["--ciphers" if version == "1.2" else "--tls13-ciphers", names[version]]


def curl(at, version, bits, env):
    """Three files over one connection: are they right?"""
    command = curl_with(version, bits) + ["-w", "%{stderr}%{num_connects} "]
    for length in (0, 1, LONG):
        command += ["-o", f"got{length}", f"https://localhost:{at}/{length}"]
    run = subprocess.run(command, env=env, capture_output=True, text=True)
    assert run.stderr.split() == ["1", "0", "0"], run.stderr
    return all(pathlib.Path(f"got{length}").read_bytes() == data[:length] for length in (0, 1, LONG))


def with_curl(name, command, at):
    """This server with curl, by each version and length of key."""
    for version, bits in SUITES:

        def run(here, there):
            with server(command, at, here):
                return curl(at, version, bits, there)

        both(f"{name} TLS {version} AES-{bits}", run)
    return len(SUITES)


def haproxy():
    class Files(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            length = int(self.path[1:])
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(memoryview(data)[:length])

        def log_message(self, *_):
            pass

    files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=files.serve_forever, daemon=True).start()
    at = port()
    timeouts = "timeout client 30s\n timeout server 30s\n timeout connect 5s\n"
    pathlib.Path("haproxy.cfg").write_text(
        f"defaults\n mode http\n {timeouts}frontend f\n bind 127.0.0.1:{at} ssl crt ck.pem ssl-min-ver TLSv1.2\n default_backend b\n"
        f"backend b\n server s 127.0.0.1:{files.server_port}\n"
    )

    return with_curl("HAProxy", ["haproxy", "-db", "-f", "haproxy.cfg"], at)


def node():
    shared = output(["node", "-p", "process.config.variables.node_shared_openssl"], environment(None)).strip() == b"true"
    script = """const c = require('crypto'), text = require('fs').readFileSync('long');
        const a = c.createCipheriv('aes-256-gcm', Buffer.alloc(32, 1), Buffer.alloc(12, 2)); const sealed = Buffer.concat([a.update(text), a.final()]);
        const b = c.createDecipheriv('aes-256-gcm', Buffer.alloc(32, 1), Buffer.alloc(12, 2)); b.setAuthTag(a.getAuthTag());
        console.log(c.createHash('sha256').update(sealed).digest('hex'), Buffer.concat([b.update(sealed), b.final()]).equals(text));
        setTimeout(() => { for (let i = 0; i < 3; i++) global.gc(); }, 10);"""
    pathlib.Path("long").write_bytes(data)
    said = []
    options = ["--expose-gc"] + ([] if shared else ["--openssl-shared-config"])
    for counter in ("node", None):
        said.append(output(["node", *options, "-e", script], environment(counter)))
    assert said[0] == said[1] and b" true" in said[0], said
    done("node", 2 * LONG)
    return len(said)


def scripted(name, *command):
    """A script that seals and opens: it says the same with the provider and without."""
    said = [output(command, environment(counter)) for counter in (name, None)]
    assert said[0] == said[1] and len(said[0]) > 60, said
    done(name, 2_000_000)
    return len(said)


# Each script seals with keys, nonces, tags and texts of all lengths, opens that, refuses a wrong tag, and says what all of it was. Their libraries call EVP
# each in an order of its own.

PHP = """$all = hash_init('sha256');
    foreach ([16, 24, 32] as $key) foreach ([12, 8, 16, 1] as $nonce) foreach ([4, 8, 12, 13, 16] as $short) foreach ([0, 1, 16, 1000, 100000] as $n) {
        $with = ['aes-' . 8 * $key . '-gcm', str_repeat('k', $key), OPENSSL_RAW_DATA, str_repeat('n', $nonce)];
        $text = str_repeat('t', $n);
        $sealed = openssl_encrypt($text, ...$with, tag: $tag, aad: 'aad', tag_length: $short);
        hash_update($all, $sealed . $tag);
        if (openssl_decrypt($sealed, ...$with, tag: $tag, aad: 'aad') !== $text) exit(1);
        $tag[0] = chr(ord($tag[0]) ^ 1);
        if (openssl_decrypt($sealed, ...$with, tag: $tag, aad: 'aad') !== false) exit(2);
    }
    echo hash_final($all);"""

RUBY = """require 'openssl'
    all = OpenSSL::Digest.new('SHA256')
    [16, 24, 32].product([12, 8, 16], [4, 12, 16], [0, 1, 17, 100_000]) do |key, nonce, short, n|
      of = proc { |way| c = OpenSSL::Cipher.new("aes-#{8 * key}-gcm").send(way); c.key = 'k' * key; c.iv_len = nonce; c.iv = 'n' * nonce; c }
      seal = of[:encrypt]
      seal.auth_data = 'aad'
      sealed = [n / 2, n - n / 2].map { |part| part > 0 ? seal.update('t' * part) : '' }.join + seal.final
      all << sealed << tag = seal.auth_tag(short)
      open = of[:decrypt]
      (open.auth_tag = tag; open.auth_data = 'aad')
      exit 1 unless (n > 0 ? open.update(sealed) : '') + open.final == 't' * n
      open = of[:decrypt]
      tag.setbyte(0, tag.getbyte(0) ^ 1)
      (open.auth_tag = tag; open.auth_data = 'aad')
      begin
        open.update(sealed) if n > 0
        open.final
        exit 2
      rescue OpenSSL::Cipher::CipherError
      end
    end
    puts all"""

ERLANG = """application:start(crypto),
    All = [begin
        [K, I, T] = [binary:copy(<<"x">>, N) || N <- [KN, IN, TN]],
        {C, Tag} = crypto:crypto_one_time_aead(A, K, I, T, <<"aad">>, Short, true),
        T = crypto:crypto_one_time_aead(A, K, I, C, <<"aad">>, Tag, false),
        <<First, Rest/binary>> = Tag,
        error = crypto:crypto_one_time_aead(A, K, I, C, <<"aad">>, <<(First bxor 1), Rest/binary>>, false),
        [C, Tag]
    end || {A, KN} <- [{aes_128_gcm, 16}, {aes_192_gcm, 24}, {aes_256_gcm, 32}], IN <- [12, 16, 8], Short <- [4, 8, 12, 16], TN <- [0, 1, 16, 1000, 100000]],
    io:format("~64.16.0b", [binary:decode_unsigned(crypto:hash(sha256, All))]), halt()."""

PYCA = """if True:
    import hashlib, itertools
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    all = hashlib.sha256()
    for key, nonce, n in itertools.product((16, 24, 32), (8, 12, 16), (0, 1, 16, 1000, 100000)):
        key, nonce, text = b"k" * key, b"n" * nonce, b"t" * n
        sealed = AESGCM(key).encrypt(nonce, text, b"aad")
        all.update(sealed)
        assert AESGCM(key).decrypt(nonce, sealed, b"aad") == text
        pieces = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
        [pieces.authenticate_additional_data(piece) for piece in (b"a", b"ad")]
        assert pieces.update(text[: n // 3]) + pieces.update(text[n // 3 :]) + pieces.finalize() + pieces.tag == sealed
        pieces = Cipher(algorithms.AES(key), modes.GCM(nonce)).decryptor()
        pieces.authenticate_additional_data(b"aad")
        assert pieces.update(sealed[:-16]) + pieces.finalize_with_tag(sealed[-16:]) == text
        try:
            exit(AESGCM(key).decrypt(nonce, sealed[:-1] + bytes([sealed[-1] ^ 1]), b"aad") and 2)
        except InvalidTag:
            pass
    print(all.hexdigest())"""


def cms():
    """What one of them has sealed as a message of CMS (AuthEnvelopedData), the other opens."""
    pathlib.Path("long").write_bytes(data)
    for bits in (128, 256):
        for seals in (True, False):
            sealing, opening = (environment("cms" if provided else None) for provided in (seals, not seals))
            output(["openssl", "cms", "-encrypt", "-binary", f"-aes-{bits}-gcm", *"-in long -outform DER -out sealed c.pem".split()], sealing)
            output(["openssl", "cms", "-decrypt", *"-binary -inform DER -in sealed -recip c.pem -inkey k.pem -out opened".split()], opening)
            assert pathlib.Path("opened").read_bytes() == data, f"CMS AES-{bits}"
            done("cms", LONG)
    return 4


def strongswan():
    """strongSwan's own test vectors, which its daemon tries when it begins. (It ends then, for want of other plugins.)"""
    tried = "charon { load = test-vectors openssl random nonce\n crypto_test { on_add = yes\n required = yes }\n filelog { stderr { lib = 2 } } }\n"
    pathlib.Path("strongswan.conf").write_text(tried)
    count = []
    for counter in ("strongswan", None):
        env = environment(counter) | {"STRONGSWAN_CONF": f"{folder}/strongswan.conf"}
        run = subprocess.run(["timeout", "20", "/usr/lib/ipsec/charon"], env=env, capture_output=True, text=True)
        count.append(sum(map(int, re.findall(r"enabled +AES_GCM_.*: passed (\d+) test vectors", run.stderr))))
    assert count[0] == count[1] > 0, (count, run.stderr)
    done("strongswan", 1000)
    return count[0]


def php():
    return scripted("PHP", "php", "-r", PHP)


def ruby():
    return scripted("Ruby", "ruby", "-e", RUBY)


def erlang():
    return scripted("Erlang", "erl", "-noshell", "-eval", ERLANG)


def pyca():
    """Debian's `cryptography`: that of PyPI has an OpenSSL of its own."""
    return scripted("pyca", "/usr/bin/python3", "-c", PYCA)


def openvpn():
    """Two networks with a tunnel between them, whose packets are sealed one by one, and whose keys change every two seconds."""
    networks = [f"fastgcm-{os.getpid()}-{side}" for side in "ab"]
    ip = lambda *command: subprocess.run(["ip", *" ".join(command).split()], capture_output=True).returncode == 0
    inside = lambda side, *command: ["ip", "netns", "exec", networks[side], *map(str, command)]
    pathlib.Path("long").write_bytes(data)
    output(["openssl", "dhparam", "-dsaparam", "-out", "dh.pem", "2048"], environment(None))
    try:
        if not (os.path.exists("/dev/net/tun") and all(ip("netns add", network) for network in networks)):
            print("SKIPPED OpenVPN: no network can be made here")
            return 2
        made = ip(f"link add name side0 netns {networks[0]} type veth peer name side1 netns {networks[1]}")
        for side, network in enumerate(networks):
            made &= ip(f"-n {network} addr add 10.9.0.{side + 1}/24 dev side{side}") and ip(f"-n {network} link set side{side} up")
        assert made, "a pair of networks"
        for bits in (128, 256):

            def run(here, there):
                common = f"--dev tun --ca c.pem --cert c.pem --key k.pem --data-ciphers AES-{bits}-GCM --reneg-sec 2"
                first = f"{common} --ifconfig 10.8.0.1 10.8.0.2 --tls-server --dh dh.pem".split()
                second = f"{common} --ifconfig 10.8.0.2 10.8.0.1 --tls-client --remote 10.9.0.1".split()
                with contextlib.ExitStack() as running:
                    for side, (command, env) in enumerate(((first, here), (second, there))):
                        process = subprocess.Popen(inside(side, "openvpn", *command), env=env, stdout=subprocess.DEVNULL)
                        running.callback(lambda process=process: (process.terminate(), process.wait()))
                    sender = subprocess.Popen(inside(0, "socat", "-u", "OPEN:long", "TCP-LISTEN:5000,reuseaddr"))
                    running.callback(sender.kill)
                    return output(inside(1, "socat", "-u", "TCP:10.8.0.1:5000,retry=100,interval=0.2", "-"), environment(None)) == data

            both(f"OpenVPN AES-{bits}", run)
    finally:
        [ip("netns del", network) for network in networks]
    return 2


def ssh():
    at = port()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"], check=True)
    shutil.copy("key.pub", "authorized")
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    pathlib.Path("long").write_bytes(data)
    options = f"-D -e -f /dev/null -p {at} -h {folder}/key -o ListenAddress=127.0.0.1 -o AuthorizedKeysFile={folder}/authorized -o StrictModes=no"
    for bits in (128, 256):
        to = f"-F none -p {at} -i key -c aes{bits}-gcm@openssh.com -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -q localhost"

        def run(here, there):
            with server(["/usr/sbin/sshd", *options.split(), "-o", "PermitRootLogin=yes"], at, here):
                there_and_back = output(["ssh", *to.split(), "cat"], there, input=data)
                return there_and_back == data

        both(f"OpenSSH AES-{bits}", run, 2 * LONG)
    return 2


def redis():
    at = port()
    options = f"--port 0 --tls-port {at} --tls-cert-file c.pem --tls-key-file k.pem --tls-ca-cert-file c.pem --tls-auth-clients no --save --bind 127.0.0.1"
    to = f"-p {at} --tls --cacert c.pem"

    for version in ("1.2", "1.3"):

        def run(here, there):
            with server(["redis-server", *options.split(), "--tls-protocols", f"TLSv{version}"], at, here):
                assert output(["redis-cli", *to.split(), "-x", "set", "key"], there, input=data) == b"OK\n"
                return output(["redis-cli", *to.split(), "get", "key"], there)[:-1] == data

        both(f"Redis TLS {version}", run, sides=["server"])  # The client frees no context before it ends.
    return 2


def postgresql():
    at = port()
    binaries = max(pathlib.Path("/usr/lib/postgresql").iterdir()) / "bin"
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    pathlib.Path("pg").mkdir()
    shutil.chown("pg", "postgres", "postgres")
    output([*as_user, binaries / "initdb", "-D", "pg", "-A", "trust"], environment(None))
    for name in ("c.pem", "k.pem"):
        shutil.copy(name, "pg")
        shutil.chown(f"pg/{name}", "postgres", "postgres")
        pathlib.Path("pg", name).chmod(0o600)
    settings = ["ssl=on", "ssl_cert_file=c.pem", "ssl_key_file=k.pem", "unix_socket_directories=", "fsync=off"]
    command = [*as_user, binaries / "postgres", "-D", "pg", "-p", at, *(part for setting in settings for part in ("-c", setting))]
    digest = hashlib.sha256(b"0123456789abcdef" * (LONG // 16) + b"\n").hexdigest()
    for version in ("1.2", "1.3"):
        to = f"host=localhost port={at} user=postgres dbname=postgres sslmode=verify-ca sslrootcert=c.pem "
        to += f"ssl_min_protocol_version=TLSv{version} ssl_max_protocol_version=TLSv{version}"

        def run(here, there):
            with server(command, at, here):
                for _ in range(100):
                    if subprocess.run([binaries / "psql", to, "-c", "select"], env=there, capture_output=True).returncode == 0:
                        break
                    time.sleep(0.1)
                got = output([binaries / "psql", to, "-At", "-c", f"select repeat('0123456789abcdef', {LONG // 16})"], there)
                return hashlib.sha256(got).hexdigest() == digest

        both(f"PostgreSQL TLS {version}", run)
    return 2


def bind():
    at = port()
    pathlib.Path("zone").write_text("@ 60 SOA a b 1 2 3 4 5\n@ 60 NS a\na 60 A 192.0.2.7\n")
    pathlib.Path("named.conf").write_text(
        f'options {{ directory "{folder}"; pid-file none; session-keyfile none; recursion no; dnssec-validation no; listen-on {{ none; }};\n'
        f' listen-on-v6 {{ none; }}; listen-on port {at} tls t {{ 127.0.0.1; }}; }};\ncontrols {{ }};\n'
        f'tls t {{ cert-file "{folder}/c.pem"; key-file "{folder}/k.pem"; ciphers "ECDHE-RSA-AES256-GCM-SHA384"; }};\n'
        'zone "example" { type primary; file "zone"; };\n'
    )

    def run(here, there):
        with server(["/usr/sbin/named", "-g", "-c", "named.conf"], at, here):
            while "all zones loaded" not in pathlib.Path("server.log").read_text():  # It listens before that.
                time.sleep(0.01)
            return output(["dig", "+tls", "+short", "-p", at, "@127.0.0.1", "a.example"], there) == b"192.0.2.7\n"

    both("BIND, DNS over TLS", run, 50)
    return 1


def evp_test():
    """OpenSSL's own tests of EVP, with their data, in a static OpenSSL of its own."""
    program, data_folder, count = evp / "openssl/test/evp_test", evp / "openssl/test/recipes/30-test_evp_data", 0
    for name in ("evpciph_aes_common.txt", "evpmac_common.txt", "evpciph_aes_stitched.txt", "evpciph_aes_wrap.txt", "evpciph_aes_cts.txt"):
        output([program, "-config", "openssl.cnf", data_folder / name], environment("evp_test"), cwd=folder)
        count += 1
        if name == "evpciph_aes_common.txt":
            done("evp_test", 1000)
    return count


def pyarrow():
    """Parquet's encryption: its OpenSSL is static, and reads OPENSSL_CONF too."""
    script = """if True:
        import pyarrow as pa, pyarrow.parquet as pq, pyarrow.parquet.encryption as pe, hashlib
        class Store(pe.KmsClient):
            def wrap_key(self, key, _): return key.hex()
            def unwrap_key(self, key, _): return bytes.fromhex(key if isinstance(key, str) else key.decode())
        factory, table = pe.CryptoFactory(lambda _: Store()), pa.table({"n": pa.array(range(1_000_000), pa.int64())})
        for bits in 128, 256:
            config = pe.EncryptionConfiguration(footer_key="f", uniform_encryption=True, double_wrapping=False, data_key_length_bits=bits)
            properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
            with pq.ParquetWriter("file", table.schema, encryption_properties=properties, use_dictionary=False, compression="none") as writer:
                writer.write_table(table)
            properties = factory.file_decryption_properties(pe.KmsConnectionConfig())
            print(pq.ParquetFile("file", decryption_properties=properties).read().equals(table) or exit(1))"""
    said = [output([sys.executable, "-c", script], environment(counter)) for counter in ("pyarrow", None)]
    assert said == [b"True\nTrue\n"] * 2, said
    done("pyarrow", 16_000_000)
    return len(said)


def libsrtp():
    """libsrtp's own tests, in which a provider as the default of all has failed."""
    said = output(["make", "-C", evp / "libsrtp2", "runtest"], environment("libsrtp"))
    done("libsrtp", 100_000)
    return said.count(b"_driver") + said.count(b"test_srtp")


def valgrind():
    """No error of memory in the provider, and no leak; valgrind has neither VAES nor AVX-512."""
    memcheck = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]
    program, tests = evp / "openssl/test/evp_test", evp / "openssl/test/recipes/30-test_evp_data/evpciph_aes_common.txt"
    output([*memcheck, program, "-config", "openssl.cnf", tests], environment("valgrind"))
    done("valgrind", 1000)
    return 1


def files():
    """The folder `files` with three files, each of which has its length as its name."""
    pathlib.Path("files").mkdir(exist_ok=True)
    for length in (0, 1, LONG):
        pathlib.Path("files", str(length)).write_bytes(data[:length])


def nginx():
    """Tells also the user time of each GiB, of the server and of the client."""
    files()
    gib, at = 4, port()
    with open("files/gib", "wb") as sparse:
        sparse.truncate(1 << 30)
    pathlib.Path("nginx.conf").write_text(
        f"daemon off; master_process off; pid nginx.pid; error_log nginx.log; events {{}}\nhttp {{ access_log off; client_body_temp_path a; "
        f"proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;\nserver {{ listen 127.0.0.1:{at} ssl; ssl_certificate c.pem; "
        f"ssl_certificate_key k.pem; root {folder}/files; ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers AESGCM; }} }}\n"
    )
    command = ["nginx", "-p", folder, "-c", "nginx.conf"]
    suites = with_curl("nginx", command, at)
    for version, bits in SUITES:
        user = []  # of the server and of the client, by each run of `both`: with the provider, and without

        def run(here, there):
            begun = os.times().children_user
            with server(command, at, here):
                output(curl_with(version, bits) + ["-o", "/dev/null", f"https://localhost:{at}/gib"] * gib, there)
                client = os.times().children_user - begun
            user.append((os.times().children_user - begun - client, client))
            return True

        both(f"{gib} GiB, nginx TLS {version} AES-{bits}", run, gib << 30)
        best = [[min(times) / gib for times in zip(*user[without::2])] for without in (0, 1)]
        told = ", ".join(f"{side} {there:.3f}/{not_there:.3f}" for side, there, not_there in zip(("server", "client"), *best))
        print(f"nginx TLS {version} AES-{bits}: {told} s of user time for each GiB")
    return suites


def lighttpd():
    files()
    at = port()
    pathlib.Path("lighttpd.conf").write_text(
        f'server.modules = ("mod_openssl")\nserver.document-root = "{folder}/files"\nserver.port = {at}\nserver.bind = "127.0.0.1"\n'
        f'ssl.engine = "enable"\nssl.pemfile = "{folder}/ck.pem"\nssl.openssl.ssl-conf-cmd = ("MinProtocol" => "TLSv1.2")\n'
    )

    return with_curl("lighttpd", ["lighttpd", "-D", "-f", "lighttpd.conf"], at)


def apache():
    files()
    at = port()
    modules = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in ("mpm_event", "authz_core", "ssl"))
    pathlib.Path("apache.conf").write_text(
        f"{modules}ServerRoot {folder}\nServerName localhost\nListen 127.0.0.1:{at}\nPidFile {folder}/apache.pid\nErrorLog {folder}/apache.log\n"
        f"DocumentRoot {folder}/files\nSSLEngine on\nSSLCertificateFile {folder}/ck.pem\nSSLProtocol -all +TLSv1.2 +TLSv1.3\n"
    )

    return with_curl("Apache", ["apache2", "-D", "FOREGROUND", "-f", f"{folder}/apache.conf"], at)


def stunnel():
    """Two of them around a server without TLS: what goes in is what comes out."""
    files()
    at, entry, plain = port(), port(), port()
    handler = lambda *arguments: http.server.SimpleHTTPRequestHandler(*arguments, directory="files")
    http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
    threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", plain), handler).serve_forever, daemon=True).start()
    common = "foreground = quiet\npid =\n"
    for version in ("1.2", "1.3"):
        only = f"sslVersionMin = TLSv{version}\nsslVersionMax = TLSv{version}\n"
        pathlib.Path("there.conf").write_text(f"{common}[s]\naccept = 127.0.0.1:{at}\nconnect = 127.0.0.1:{plain}\ncert = ck.pem\n{only}")
        pathlib.Path("here.conf").write_text(
            f"{common}[c]\nclient = yes\naccept = 127.0.0.1:{entry}\nconnect = 127.0.0.1:{at}\nverifyChain = yes\nCAfile = c.pem\n{only}"
        )

        def run(here, there):
            with server(["stunnel4", "there.conf"], at, here), server(["stunnel4", "here.conf"], entry, there):
                return output(["curl", "-sS", f"http://127.0.0.1:{entry}/{LONG}"], environment(None)) == data

        both(f"stunnel TLS {version}", run)
    return 2


def socat():
    at = port()
    pathlib.Path("long").write_bytes(data)
    for version in ("1.2", "1.3"):
        only = f"openssl-min-proto-version=TLS{version},openssl-max-proto-version=TLS{version}"
        listen = f"OPENSSL-LISTEN:{at},bind=127.0.0.1,reuseaddr,fork,cert=ck.pem,verify=0,{only}"

        def run(here, there):
            with server(["socat", "-U", listen, "OPEN:long,rdonly"], at, here):
                return output(["socat", "-u", f"OPENSSL:localhost:{at},cafile=c.pem,{only}", "-"], there) == data

        both(f"socat TLS {version}", run)
    return 2


def mosquitto():
    at = port()
    pathlib.Path("long").write_bytes(data)
    for version in ("1.2", "1.3"):
        pathlib.Path("mosquitto.conf").write_text(
            f"listener {at} 127.0.0.1\nallow_anonymous true\ncertfile {folder}/c.pem\nkeyfile {folder}/k.pem\ntls_version tlsv{version}\nuser root\n"
        )
        to = f"-h localhost -p {at} --cafile c.pem --tls-version tlsv{version} -t topic -q 1".split()

        def run(here, there):
            with server(["mosquitto", "-c", "mosquitto.conf"], at, here):
                output(["mosquitto_pub", *to, "-r", "-f", "long"], there)
                return output(["mosquitto_sub", *to, "-N", "-C", "1"], there) == data

        both(f"Mosquitto TLS {version}", run, 2 * LONG)
    return 2


def mariadb():
    at = port()
    pathlib.Path("my").mkdir()
    shutil.chown("my", "mysql", "mysql")
    output(["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={folder}/my", "--auth-root-authentication-method=normal"], environment(None))
    for name in ("c.pem", "k.pem"):
        shutil.copy(name, "my")
        shutil.chown(f"my/{name}", "mysql", "mysql")
    settings = f"--no-defaults --user=mysql --datadir={folder}/my --socket={folder}/my/socket --bind-address=127.0.0.1 --port={at} --max-allowed-packet=128M"
    settings += f" --ssl-cert={folder}/my/c.pem --ssl-key={folder}/my/k.pem --pid-file={folder}/my/pid --skip-networking=0"
    digest = hashlib.sha256(b"0123456789abcdef" * (LONG // 16) + b"\n").hexdigest()
    for version in ("1.2", "1.3"):
        to = f"--no-defaults -h localhost --protocol=tcp -P {at} -u root --ssl --ssl-ca=c.pem --ssl-verify-server-cert --max-allowed-packet=128M -BN --raw".split()

        def run(here, there):
            with server(["mariadbd", *settings.split(), f"--tls-version=TLSv{version}"], at, here):
                got = output(["mariadb", *to, "-e", f"select repeat('0123456789abcdef', {LONG // 16})"], there)
                return hashlib.sha256(got).hexdigest() == digest

        both(f"MariaDB TLS {version}", run, sides=["server"])  # Debian's client uses GnuTLS.
    return 2


def package():
    """The packages of the module and of the program: installed, the module is found by its configuration alone; removed, nothing of them is left."""
    env = environment(None) | {"OPENSSL_CONF": "/etc/ssl/fastgcm.cnf"}
    output(["dpkg", "-i", *output([here / "../deb.sh", folder], env, text=True).split()], env)
    providers, written = output(["openssl", "list", "-providers"], env), pathlib.Path("/etc/ssl/fastgcm.cnf").read_text()
    output(["dpkg", "--purge", "fastgcm-openssl", "fastgcm"], env)
    assert b"name: fastgcm" in providers and ".include /usr/lib/ssl/openssl.cnf\n" in written, (providers, written)
    left = [path for place in ("/usr/bin", "/usr/lib", "/etc/ssl", "/usr/share/doc") for path in pathlib.Path(place).rglob("*fastgcm*")]
    assert not left, left
    return 2


PROGRAMS = [package, pyarrow, libsrtp, haproxy, node, ssh, redis, postgresql, bind, nginx, lighttpd, apache, stunnel, socat, mosquitto, mariadb]
PROGRAMS += [cms, strongswan, php, ruby, erlang, pyca, openvpn, evp_test, valgrind]
try:
    for program in PROGRAMS:
        if not wanted or program.__name__ in wanted:
            print(f"openssl::programs::{program.__name__} ok {program()}", flush=True)
finally:
    shutil.rmtree(folder)
