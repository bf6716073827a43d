//! Other people's programs with the provider: nginx serves a file to curl and to Python, by TLS 1.2 and 1.3.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use std::os::unix::fs::PermissionsExt as _;
use std::{env, fs, net::TcpStream, path::PathBuf, process::Command, thread, time::Duration};
use suite::{Random, passed};

#[test]
fn programs() {
    let modules: PathBuf = env::var_os("FASTGCM_MODULES").expect("FASTGCM_MODULES names the folder of fastgcm.so").into();
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap(); // a server's workers may be another user
    fs::create_dir_all(folder.join("www")).unwrap();
    let at = |name: &str| folder.join(name);
    let configuration = fs::read_to_string("../fastgcm.cnf").unwrap();
    let module = format!("\nmodule = {}\n", modules.join("fastgcm.so").display());
    fs::write(at("openssl.cnf"), configuration.replace("\nmodule = fastgcm.so\n", &module)).unwrap();
    let request = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
    ];
    assert!(
        Command::new("openssl")
            .args(request)
            .args(["-out", "c.pem", "-keyout", "k.pem"])
            .current_dir(folder)
            .output()
            .unwrap()
            .status
            .success()
    );
    let text = Random(1).bytes(3_000_000);
    fs::write(at("www/text"), &text).unwrap();
    let port = 40_000 + std::process::id() % 20_000;
    fs::write(
        at("nginx.conf"),
        format!(
            "daemon off; master_process off; pid nginx.pid; error_log error.log; events {{}}\n\
             http {{ access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;\n\
             server {{ listen 127.0.0.1:{port} ssl; ssl_certificate c.pem; ssl_certificate_key k.pem; root {}/www;\n\
             ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ECDHE-RSA-AES256-GCM-SHA384; }} }}\n",
            folder.display()
        ),
    )
    .unwrap();
    let with = |program: &str| {
        let mut command = Command::new(program);
        command.env("OPENSSL_CONF", at("openssl.cnf")).current_dir(folder);
        command
    };
    let mut nginx = with("nginx").args(["-p"]).arg(folder).args(["-c", "nginx.conf"]).spawn().unwrap();
    let reached = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(25));
        TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    });
    let loaded = fs::read_to_string(format!("/proc/{}/maps", nginx.id())).is_ok_and(|maps| maps.contains("fastgcm.so"));
    let mut answers = vec![];
    for version in ["1.2", "1.3"] {
        for configured in [false, true] {
            let command = |program: &str| if configured { with(program) } else { Command::new(program) };
            let [least, most] = [format!("--tlsv{version}"), version.into()];
            let url = format!("https://localhost:{port}/text");
            let curl = command("curl").args(["-s", "--cacert"]).arg(at("c.pem")).args([&least, "--tls-max", &most, &url]).output();
            let python = format!(
                "import ssl, sys, urllib.request as u\n\
                 c = ssl.create_default_context(cafile='{}'); c.minimum_version = c.maximum_version = ssl.TLSVersion.TLSv{}\n\
                 sys.stdout.buffer.write(u.urlopen('{url}', context=c).read())\n\
                 print('fastgcm.so' in open('/proc/self/maps').read(), file=sys.stderr)",
                at("c.pem").display(),
                version.replace('.', "_")
            );
            let python = command("/usr/bin/python3").args(["-c", &python]).output();
            let has_loaded = String::from_utf8_lossy(&python.as_ref().unwrap().stderr).trim() == if configured { "True" } else { "False" };
            answers.push((version, configured, curl.unwrap().stdout == text && python.unwrap().stdout == text && has_loaded));
        }
    }
    _ = (nginx.kill(), nginx.wait());
    let errors = fs::read_to_string(at("error.log")).unwrap_or_default();
    assert!(reached && loaded, "nginx does not listen, or has not loaded the provider: {errors}");
    assert!(answers.iter().all(|(_, _, same)| *same), "{answers:?} {errors}");
    passed("openssl::programs", answers.len(), 4);
}

/// The Debian packages, of the module and of the program: installed, the module is found by its configuration alone; removed, nothing of them is left.
#[test]
fn package() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).env("OPENSSL_CONF", "/etc/ssl/fastgcm.cnf").output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let files = run("../deb.sh", &[folder.to_str().unwrap()]);
    run("dpkg", &[&["-i"], &files.lines().collect::<Vec<_>>()[..]].concat());
    let providers = run("openssl", &["list", "-providers"]);
    let written = fs::read_to_string("/etc/ssl/fastgcm.cnf").unwrap();
    run("dpkg", &["--purge", "fastgcm-openssl", "fastgcm"]);
    let left =
        Command::new("find").args(["/usr/bin", "/usr/lib", "/etc/ssl", "/usr/share/doc", "-name", "*fastgcm*"]).output().unwrap().stdout;
    assert!(providers.contains("name: fastgcm") && left.is_empty(), "{providers}, left: {}", String::from_utf8_lossy(&left));
    assert!(written.contains(".include /usr/lib/ssl/openssl.cnf\n"), "{written}");
    passed("openssl::package", 2, 2);
}
