//! Files that pyarrow 26.0.1 has written (`make_files.py`): each module is decrypted, and each signature of a footer verified.

#[path = "../../fastgcm/tests/support/secrets.rs"]
mod secrets;

use fastgcm::Error;
use fastgcm_parquet::{Cipher, Location, Module, SIGNATURE, module_len};
use std::{fs, path::PathBuf};

/// What of a file's metadata is wanted here. They are Thrift; where these stand is known.
struct File {
    bytes: Vec<u8>,
    unique: Vec<u8>,
    key: Vec<u8>,
    /// Of both columns: their own, or the footer's.
    column_keys: [Vec<u8>; 2],
    is_ctr: bool,
}

fn files() -> Vec<File> {
    let folder = std::env::var_os("FASTGCM_PARQUET_FILES").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files"));
    let read = |entry: fs::DirEntry| {
        let bytes = fs::read(entry.path()).unwrap();
        let find =
            |what: &[u8]| bytes.windows(what.len()).enumerate().filter(|(_, here)| *here == what).map(|(at, _)| at).collect::<Vec<_>>();
        // aad_file_unique (8 bytes), no prefix, end of the structure and the union, the length of the footer key's metadata, which are JSON
        let json = *find(b"{\"keyMaterialType\"").last().unwrap();
        let unique = bytes[json - 14..json - 6].to_vec();
        assert_eq!((&bytes[json - 16..json - 14], &bytes[json - 6..json - 2]), (&[0x28, 8][..], &[0x12, 0, 0, 0x18][..]));
        let digit = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
        let key = |at: usize| {
            let hex = bytes[at..].split(|byte| *byte == b'"').next().unwrap();
            hex.chunks(2).map(|two| (digit(two[0]) << 4) | digit(two[1])).collect()
        };
        let wrapped = b"\"wrappedDEK\":\"";
        let keys: Vec<Vec<u8>> = find(wrapped).into_iter().map(|at| key(at + wrapped.len())).collect();
        let is_ctr = entry.file_name().to_str().unwrap().contains("CTR");
        File {
            unique,
            key: keys[keys.len() - 1].clone(),
            column_keys: [0, 1].map(|column| keys[column.min(keys.len() - 1)].clone()),
            is_ctr,
            bytes,
        }
    };
    fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap())).collect()
}

#[test]
fn files_of_pyarrow() {
    let (mut modules, mut signatures, mut lengths) = (0, 0, Vec::new());
    for File { bytes, unique, key, column_keys, is_ctr } in files() {
        lengths.push(column_keys[1].len());
        let gcm = Cipher::gcm(&key).unwrap();
        let headers = column_keys.each_ref().map(|key| Cipher::gcm(key).unwrap());
        let pages = column_keys.each_ref().map(|key| if is_ctr { Cipher::ctr(key) } else { Cipher::gcm(key) }.unwrap());
        let mut behind = &bytes[4..];
        let mut next = |cipher: &Cipher, aad: &[u8], is_ctr: bool| {
            let module;
            (module, behind) = behind.split_at(module_len(behind).unwrap());
            refused(cipher, module, aad, is_ctr);
            modules += 1;
            cipher.decrypt(module, aad).unwrap()
        };
        for (row_group, column, page) in (0..8).map(|i| (i >> 2, (i >> 1) & 1, i & 1)) {
            let at = Location { row_group, column, page };
            let header = next(&headers[usize::from(column)], &Module::DataPageHeader.aad(&unique, at).unwrap(), false);
            let text = next(&pages[usize::from(column)], &Module::DataPage.aad(&unique, at).unwrap(), is_ctr);
            assert_eq!(header.last(), Some(&0), "the end of a structure of Thrift");
            let first = 20 * i64::from(row_group) + 10 * i64::from(page);
            let numbers: Vec<u8> = (first..first + 10).flat_map(|row| ((7 + i64::from(column)) * row).to_le_bytes()).collect();
            assert!(text.ends_with(&numbers));
        }
        // The footer: at the end of the file are its length and the magic number.
        let (rest, end) = bytes.split_at(bytes.len() - 8);
        let length = u32::from_le_bytes(end[..4].try_into().unwrap()) as usize;
        let footer = &rest[rest.len() - length..];
        let aad = Module::Footer.aad(&unique, Location::default()).unwrap();
        if &end[4..] == b"PARE" {
            let at = (0..footer.len()).find(|at| module_len(&footer[*at..]) == Some(footer.len() - at)).unwrap();
            assert_eq!(gcm.decrypt(&footer[at..], &aad).unwrap().last(), Some(&0));
            modules += 1;
        } else {
            let (footer, signature) = footer.split_last_chunk::<SIGNATURE>().unwrap();
            gcm.verify_footer(footer, &aad, signature).unwrap();
            let mut changed = footer.to_vec();
            changed[0] ^= 1;
            assert_eq!(gcm.verify_footer(&changed, &aad, signature), Err(Error::Unauthentic));
            assert_eq!(gcm.verify_footer(footer, &aad[1..], signature), Err(Error::Unauthentic));
            signatures += 1;
        }
    }
    lengths.sort_unstable();
    // All twelve of `make_files.py`; or three of them: each length, both algorithms, and both kinds of footer.
    let of_each = lengths.len() / 3;
    assert!([1, 4].contains(&of_each) && lengths == [16, 24, 32].map(|length| vec![length; of_each]).concat());
    let footers = modules - lengths.len() * 16;
    assert!(footers > 0 && signatures > 0, "{footers} footers are encrypted, and {signatures} signed");
    passed("footers", footers + signatures, lengths.len());
}

/// A changed byte, another AAD, a wrong length.
fn refused(cipher: &Cipher, module: &[u8], aad: &[u8], is_ctr: bool) {
    for place in [4, 16, module.len() - 1] {
        let mut changed = module.to_vec();
        changed[place] ^= 1;
        assert_eq!(cipher.decrypt(&changed, aad).err(), (!is_ctr).then_some(Error::Unauthentic));
    }
    assert_eq!(cipher.decrypt(module, &aad[1..]).err(), (!is_ctr).then_some(Error::Unauthentic));
    assert_eq!(cipher.decrypt(&module[..module.len() - 1], aad), Err(Error::InvalidLength));
    assert_eq!(cipher.decrypt(&[module, &[0]].concat(), aad), Err(Error::InvalidLength));
}

#[test]
fn there_and_back() {
    let mut checked = 0;
    for key in [&[7; 16][..], &[7; 24], &[7; 32]] {
        for cipher in [Cipher::gcm(key).unwrap(), Cipher::ctr(key).unwrap()] {
            for length in [0, 1, 15, 16, 17, 1000, 100_000] {
                let text: Vec<u8> = (0..length).map(|i| ((i * 31) >> 3) as u8).collect();
                let module = cipher.encrypt(&text, b"aad").unwrap();
                assert_eq!(module_len(&module), Some(module.len()));
                assert_ne!(module, cipher.encrypt(&text, b"aad").unwrap(), "a nonce of its own");
                assert!(cipher.decrypt(&module, b"aad").unwrap() == text);
                assert!(cipher.decrypt_body(&module[4..], b"aad").unwrap() == text);
                let signature = cipher.sign_footer(&text, b"aad").unwrap();
                cipher.verify_footer(&text, b"aad", &signature).unwrap();
                checked += 1;
            }
        }
    }
    for short in [&[][..], &[1, 0, 0], &[0; 4], &[11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
        assert_eq!(Cipher::gcm(&[7; 16]).unwrap().decrypt(short, b""), Err(Error::InvalidLength));
        assert_eq!(Cipher::ctr(&[7; 16]).unwrap().decrypt(short, b""), Err(Error::InvalidLength));
        assert_eq!(Cipher::gcm(&[7; 16]).unwrap().decrypt_body(short, b""), Err(Error::InvalidLength));
        checked += 3;
    }
    assert_eq!(Cipher::gcm(&[7; 17]).err(), Some(Error::InvalidLength));
    passed("there_and_back", checked, 3 * 2 * 7 + 4 * 3);
}

/// The numbers of a module are those that it has, as the format has them: signed, of 16 bits. What is beyond is refused.
#[test]
fn numbers_of_modules() {
    const LAST: u16 = i16::MAX as u16;
    let mut checked = 0;
    for (module, has) in
        [(Module::Footer, 0), (Module::OffsetIndex, 2), (Module::DictionaryPage, 2), (Module::DataPage, 3), (Module::DataPageHeader, 3)]
    {
        let at = |[row_group, column, page]: [u16; 3]| module.aad(b"file", Location { row_group, column, page });
        let expected = [&b"file"[..], &[module as u8], &[1, 2, 0xff, 0x7f, 3, 0][..2 * has]].concat();
        assert_eq!(at([0x201, LAST, 3]).unwrap(), expected);
        for place in 0..3 {
            for (number, right) in [(0, true), (LAST, true), (LAST + 1, false), (u16::MAX, false)] {
                let mut numbers = [7; 3];
                numbers[place] = number;
                assert_eq!(at(numbers).err(), (!right && place < has).then_some(Error::TooLong), "{module:?}, {numbers:?}");
                checked += 1;
            }
        }
    }
    passed("numbers_of_modules", checked, 5 * 3 * 4);
}

/// Each byte of a nonce is drawn, and each byte of a module and of a signature is compared.
#[test]
fn halves() {
    let (cipher, pages) = (Cipher::gcm(&[7; 16]).unwrap(), Cipher::ctr(&[7; 16]).unwrap());
    for cipher in [&cipher, &pages] {
        secrets::drawn("the nonce of a module", || cipher.encrypt(b"text", b"aad").unwrap()[4..16].to_vec());
    }
    secrets::drawn("the nonce of a signature", || cipher.sign_footer(b"footer", b"aad").unwrap()[..12].to_vec());
    let (module, signature) = (cipher.encrypt(b"text", b"aad").unwrap(), cipher.sign_footer(b"footer", b"aad").unwrap());
    for at in 0..module.len() {
        let mut changed = module.clone();
        changed[at] ^= 0x80;
        assert!(cipher.decrypt(&changed, b"aad").is_err(), "byte {at} of a module");
    }
    for at in 0..signature.len() {
        let mut changed = signature;
        changed[at] ^= 0x80;
        assert!(cipher.verify_footer(b"footer", b"aad", &changed).is_err(), "byte {at} of a signature");
    }
    // After so many refused calls, what was right is.
    assert_eq!(cipher.decrypt(&module, b"aad").unwrap(), b"text");
    cipher.verify_footer(b"footer", b"aad", &signature).unwrap();
}

/// No text of a cipher or of an error shows a byte of the key or of the text.
#[test]
fn quiet() {
    let secret = secrets::secret(32);
    let cipher = Cipher::gcm(&secret).unwrap();
    let mut module = cipher.encrypt(&secret, b"aad").unwrap();
    *module.last_mut().unwrap() ^= 1;
    let errors = [cipher.decrypt(&module, b"aad"), cipher.decrypt(&secret, b"aad"), Cipher::gcm(&secret[1..]).map(|_| Vec::new())];
    let shown = format!("{cipher:?} {cipher:#?} {:?}", errors.map(Result::unwrap_err));
    secrets::quiet("Cipher, Error", &shown, &secret);
}

fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
}
