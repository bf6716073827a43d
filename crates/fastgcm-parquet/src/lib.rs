#![doc = include_str!("../README.md")]

pub use fastgcm::Error;
use fastgcm::{Key, Tag, hazmat};

/// The lengths in bytes of a nonce, of a tag, and of the length before a module.
const NONCE: usize = 12;
const TAG: usize = 16;
const LENGTH: usize = 4;

/// The length in bytes of the signature of a plaintext footer: nonce and tag.
pub const SIGNATURE: usize = NONCE + TAG;

/// The kind of a module. Its number is the format's (section 4.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Module {
    /// `FileMetaData`, which a file has once.
    Footer = 0,
    /// `ColumnMetaData`.
    ColumnMetaData = 1,
    /// A data page without its header.
    DataPage = 2,
    /// A dictionary page without its header.
    DictionaryPage = 3,
    /// The header of a data page.
    DataPageHeader = 4,
    /// The header of a dictionary page.
    DictionaryPageHeader = 5,
    /// `ColumnIndex`.
    ColumnIndex = 6,
    /// `OffsetIndex`.
    OffsetIndex = 7,
    /// The header of a Bloom filter.
    BloomFilterHeader = 8,
    /// The bits of a Bloom filter.
    BloomFilterBitset = 9,
}

/// Where a module is: numbers from 0 to 32,767 (the format uses signed numbers of 16 bits). Numbers that a module does not have are
/// ignored: a footer has none, and only data pages and their headers have a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The number of the row group in the file.
    pub row_group: u16,
    /// The number of the column in the row group.
    pub column: u16,
    /// The number of the page in the column chunk.
    pub page: u16,
}

impl Module {
    /// Returns the AAD of a module: `file` (the AAD prefix of the file, then its unique identifier), its kind, and its location. So no
    /// module can take the place of another module, and no file the place of another file.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if one of its numbers is more than 32,767: no other reader would open such a module.
    pub fn aad(self, file: &[u8], location: Location) -> Result<Vec<u8>, Error> {
        let Location { row_group, column, page } = location;
        let numbers = match self {
            Self::Footer => &[][..],
            Self::DataPage | Self::DataPageHeader => &[row_group, column, page],
            _ => &[row_group, column],
        };
        let mut aad = [file, &[self as u8]].concat();
        for number in numbers {
            aad.extend(i16::try_from(*number).map_err(|_| Error::TooLong)?.to_le_bytes());
        }
        Ok(aad)
    }
}

/// A key and its algorithm.
#[derive(Debug)]
pub struct Cipher {
    key: Box<Key>,
    is_ctr: bool,
}

impl Cipher {
    /// The bytes of a cipher that are not in the value itself, for programs that count their memory.
    pub const HEAP_SIZE: usize = size_of::<Key>();

    /// Makes a cipher for AES-GCM, with a key of 16, 24 or 32 bytes: for every module of `AES_GCM_V1`, and for all modules of
    /// `AES_GCM_CTR_V1` but pages.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for a key of any other length.
    pub fn gcm(key: &[u8]) -> Result<Self, Error> {
        Ok(Self { key: Key::boxed(key)?, is_ctr: false })
    }

    /// Makes a cipher for AES-CTR: for pages of `AES_GCM_CTR_V1`, without their headers. It uses no AAD, and authenticates nothing.
    ///
    /// # Errors
    /// Fails like [`gcm`](Self::gcm).
    pub fn ctr(key: &[u8]) -> Result<Self, Error> {
        Ok(Self { key: Key::boxed(key)?, is_ctr: true })
    }

    /// Returns a module: its length, a random nonce, the ciphertext, and with GCM the tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if the module's length does not fit into 4 bytes, or [`NoEntropy`](Error::NoEntropy) if the
    /// system has no random bytes.
    pub fn encrypt(&self, text: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let tag = if self.is_ctr { 0 } else { TAG };
        let length = u32::try_from(NONCE + text.len() + tag).map_err(|_| Error::TooLong)?;
        let nonce = nonce()?;
        let mut module = Vec::with_capacity(LENGTH + length as usize);
        module.extend(length.to_le_bytes());
        module.extend(nonce);
        module.extend(text);
        let ciphertext = &mut module[LENGTH + NONCE..];
        if self.is_ctr {
            hazmat::ctr(&self.key, &counter(&nonce), ciphertext);
        } else {
            let tag = self.key.seal(nonce, aad, ciphertext)?;
            module.extend(tag.0);
        }
        Ok(module)
    }

    /// Returns the text of a module. The module must end where its length says; [`module_len`] finds the end. With CTR, `aad` is ignored.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the module's length is not that of `module`, or is too short for nonce and tag.
    /// Returns [`Unauthentic`](Error::Unauthentic) if the module is not what was encrypted with this key and AAD; with CTR nothing shows
    /// this.
    pub fn decrypt(&self, module: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        if module_len(module) != Some(module.len()) {
            return Err(Error::InvalidLength);
        }
        self.decrypt_body(&module[LENGTH..], aad)
    }

    /// Returns the text of a module without its length, for readers that have read the length separately.
    ///
    /// # Errors
    /// Fails like [`decrypt`](Self::decrypt), except for errors of the length.
    pub fn decrypt_body(&self, body: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let (nonce, sealed) = body.split_first_chunk::<NONCE>().ok_or(Error::InvalidLength)?;
        if self.is_ctr {
            let mut text = sealed.to_vec();
            hazmat::ctr(&self.key, &counter(nonce), &mut text);
            return Ok(text);
        }
        if sealed.len() < TAG {
            return Err(Error::InvalidLength);
        }
        self.key.open_vec(*nonce, aad, sealed)
    }

    /// Returns the signature behind a plaintext footer: a random nonce, and the tag that the footer would have if it were encrypted.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) for more than 64 GiB, or [`NoEntropy`](Error::NoEntropy) as [`encrypt`](Self::encrypt) does.
    pub fn sign_footer(&self, footer: &[u8], aad: &[u8]) -> Result<[u8; SIGNATURE], Error> {
        let nonce = nonce()?;
        let tag = self.key.seal(nonce, aad, &mut footer.to_vec())?;
        let mut signature = [0; SIGNATURE];
        signature[..NONCE].copy_from_slice(&nonce);
        signature[NONCE..].copy_from_slice(&tag.0);
        Ok(signature)
    }

    /// Verifies that `signature` is the signature of `footer`.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if it is not.
    pub fn verify_footer(&self, footer: &[u8], aad: &[u8], signature: &[u8; SIGNATURE]) -> Result<(), Error> {
        let (nonce, expected) = signature.split_first_chunk::<NONCE>().ok_or(Error::InvalidLength)?;
        let tag = self.key.seal(*nonce, aad, &mut footer.to_vec())?;
        if tag == Tag::try_from(expected)? { Ok(()) } else { Err(Error::Unauthentic) }
    }
}

/// Returns the length of the module at the start of `bytes`, including its length field. Returns `None` if `bytes` are too few to tell, or
/// if the length fits into no memory.
pub fn module_len(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk::<LENGTH>()?);
    LENGTH.checked_add(usize::try_from(length).ok()?)
}

fn nonce() -> Result<[u8; NONCE], Error> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| Error::NoEntropy)?;
    Ok(nonce)
}

/// Returns the counter of the first block: the nonce, and 1 (section 4.2.2 of the format).
fn counter(nonce: &[u8; NONCE]) -> [u8; 16] {
    let mut counter = [0; 16];
    counter[..NONCE].copy_from_slice(nonce);
    counter[15] = 1;
    counter
}
