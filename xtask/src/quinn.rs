//! quinn's own tests with `rustls-fastgcm`: Cargo fetches the sources, which are copied under `target/rustcrypto`. In the copy of `quinn-proto` the provider that
//! it takes by default is wrapped, and `quinn` is built over that copy.

use crate::rustcrypto::{fetch, passed, read, renew, write};
use std::path::Path;

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let scratch = root.join("target/rustcrypto");
    let copied = |name: &str, version: &str, more: &str| {
        let copy = scratch.join(format!("{name}-{version}"));
        renew(&fetch(&scratch, name, version)?, &copy, &["."])?;
        let manifest = copy.join("Cargo.toml");
        write(&manifest, &format!("{}\n{more}\n[workspace]\n\n[profile.dev]\ndebug = false\n", read(&manifest)?))?;
        Ok::<_, String>(copy)
    };
    let ours = format!("[dependencies.rustls-fastgcm]\npath = {:?}\n", root.join("crates/rustls-fastgcm"));
    let proto = copied("quinn-proto", "0.11.19", &ours)?;
    let (provider, place) = ("rustls::crypto::ring::default_provider()", proto.join("src/crypto/rustls.rs"));
    let source = read(&place)?;
    if source.matches(provider).count() != 1 {
        return Err(format!("quinn-proto has not one {provider}"));
    }
    write(&place, &source.replace(provider, &format!("rustls_fastgcm::with({provider})")))?;
    println!("quinn::proto ok {}", passed(&scratch, &proto, "--lib", 313)?);
    let quinn = copied("quinn", "0.11.12", &format!("[patch.crates-io]\nquinn-proto = {{ path = {proto:?} }}\n"))?;
    println!("quinn::quinn ok {}", passed(&scratch, &quinn, "--lib", 22)?);
    Ok(())
}
