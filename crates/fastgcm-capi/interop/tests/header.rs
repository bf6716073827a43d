//! `fastgcm.h` is what cbindgen makes of the library. `FASTGCM_BLESS=1` writes it anew.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use std::{fs, path::Path};

#[test]
fn header() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let config = cbindgen::Config::from_file(library.join("cbindgen.toml")).unwrap();
    // It follows `mod`, without a call of cargo.
    let made = cbindgen::Builder::new().with_config(config).with_src(library.join("src/lib.rs")).generate().unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let mut text = String::from_utf8(text).unwrap();
    // What Rust wants said goes, and what C89 does not know: a comment of C++, and a comma behind the last value.
    let not_c = [
        ("\n *\n * # Safety\n * As said.", ""),
        ("// __cplusplus", "/* __cplusplus */"),
        ("// extern \"C\"", "/* extern \"C\" */"),
        (",\n} ", "\n} "),
    ];
    for (made, wanted) in not_c {
        text = text.replace(made, wanted);
    }
    let file = library.join("include/fastgcm.h");
    if std::env::var_os("FASTGCM_BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(fs::read_to_string(&file).unwrap_or_default() == text, "fastgcm.h is out of step: FASTGCM_BLESS=1 cargo test --test header");
    suite::passed("capi::header", text.matches("fastgcm_").count().min(1), 1);
}
