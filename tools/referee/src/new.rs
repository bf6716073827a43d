//! Writes a plug-in to fill in, in each language.

use crate::prepare::home;
use clap::ValueEnum;
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    C,
    Rust,
    Go,
    Python,
    Java,
    Javascript,
}

/// Files of `tools/aead`, and their paths in the new folder.
type Files = &'static [(&'static str, &'static str)];

impl Language {
    /// Returns the files of the language.
    fn files(self) -> Files {
        match self {
            Self::C => &[("templates/mine.c", "mine.c"), ("aead.h", "aead.h")],
            Self::Rust => &[
                ("templates/mine.rs", "src/lib.rs"),
                ("templates/mine.toml", "Cargo.toml"),
                ("src/lib.rs", "aead/src/lib.rs"),
                ("templates/interface.toml", "aead/Cargo.toml"),
            ],
            Self::Go => &[("libraries/go/plugin.go", "plugin.go"), ("libraries/go/table.c", "table.c"), ("libraries/go/go.mod", "go.mod")],
            Self::Python => &[("libraries/pycryptodome.py", "mine.py"), ("libraries/referee.py", "referee.py")],
            Self::Java => &[("libraries/Jce.java", "Jce.java")],
            Self::Javascript => &[("libraries/node.js", "mine.js")],
        }
    }

    /// Returns the argument of `referee run`.
    fn runs(self) -> &'static str {
        match self {
            Self::C => "mine.c",
            Self::Rust | Self::Go => ".",
            Self::Python => "mine.py",
            Self::Java => "Jce.java",
            Self::Javascript => "mine.js",
        }
    }

    /// Returns the instructions for filling it in.
    fn change(self) -> &'static str {
        match self {
            Self::C => "Fill in the three functions of mine.c, and what is linked: the line `link:`.",
            Self::Rust => "Fill in the three functions of src/lib.rs, and name your crate in Cargo.toml.",
            Self::Go => "plugin.go asks Go's crypto/cipher: put your calls in its place.",
            Self::Python => "mine.py asks PyCryptodome: put your calls in its place. REFEREE_PYTHON names another python3.",
            Self::Java => "Jce.java asks the provider that REFEREE_PROVIDER names; for calls of your own, change it.",
            Self::Javascript => "mine.js asks Node's crypto: put your calls in its place.",
        }
    }
}

/// Writes the files to this folder. Fails if one of them exists.
pub(crate) fn write(language: Language, folder: &Path) -> Result<bool, String> {
    let to: Vec<PathBuf> = language.files().iter().map(|(_, to)| folder.join(to)).collect();
    if let Some(there) = to.iter().find(|path| path.exists()) {
        return Err(format!("{} already exists", there.display()));
    }
    for ((from, _), to) in language.files().iter().zip(&to) {
        let text = |error: std::io::Error| format!("{}: {error}", to.display());
        fs::create_dir_all(to.parent().unwrap_or(folder)).map_err(text)?;
        let mut lines = fs::read_to_string(home().aead.join(from)).map_err(text)?;
        // The switches belong to the template's library, not to the new plug-in's.
        if from.starts_with("libraries/") {
            lines = lines.split_inclusive('\n').filter(|line| !line.contains(" without: ")).collect();
        }
        fs::write(to, lines).map_err(text)?;
        println!("{}", to.display());
    }
    let name = if language.runs() == "." { folder.to_owned() } else { folder.join(language.runs()) };
    println!("\n{}\nThen: referee run --amount quick {}", language.change(), name.display());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each language has all its files, with a mark at what is to be changed, and existing files are not overwritten.
    #[test]
    fn all_languages() {
        let folder = tempfile::tempdir().unwrap();
        for language in Language::value_variants() {
            let own = folder.path().join(format!("{language:?}"));
            write(*language, &own).unwrap();
            let texts: Vec<String> = language.files().iter().map(|(_, to)| fs::read_to_string(own.join(to)).unwrap()).collect();
            assert!(texts.iter().any(|text| text.contains("YOURS")), "{language:?}");
            assert!(own.join(language.runs()).exists(), "{language:?}");
            assert!(write(*language, &own).is_err());
        }
    }
}
