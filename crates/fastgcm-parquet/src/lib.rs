#![doc = include_str!("../README.md")]

pub use fastgcm::Error;
use fastgcm::{Key, Tag, hazmat};

/// Bytes of a nonce, of a tag, and of the length before a module.
const NONCE: usize = 12;
const TAG: usize = 16;
const LENGTH: usize = 4;

/// Bytes of the signature of a footer that is not encrypted: nonce and tag.
pub const SIGNATURE: usize = NONCE + TAG;

/// What a module is. The number is that of the format (section 4.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Module {
    /// `FileMetaData`, of which there is one in a file.
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

/// Where a module stands: numbers from 0 to 32,767 (the format has them as signed numbers of 16 bits). Numbers that a module does not have are
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
    /// The AAD of a module: `file` (the AAD prefix of the file and its unique identifier, one behind the other), its kind, and where it stands. So no
    /// module can take the place of another one, and no file that of another.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) if one of its numbers is more than 32,767: no other reader opens such a module.
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
    /// Bytes of a cipher that are not in the value itself, for programs that count their memory.
    pub const HEAP_SIZE: usize = size_of::<Key>();

    /// AES-GCM, with a key of 16, 24 or 32 bytes: every module of `AES_GCM_V1`, and of `AES_GCM_CTR_V1` all but pages.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) for a key of any other length.
    pub fn gcm(key: &[u8]) -> Result<Self, Error> {
        Ok(Self { key: Key::boxed(key)?, is_ctr: false })
    }

    /// AES-CTR: pages of `AES_GCM_CTR_V1`, without their headers. It has no AAD, and authenticates nothing.
    ///
    /// # Errors
    /// As for [`gcm`](Self::gcm).
    pub fn ctr(key: &[u8]) -> Result<Self, Error> {
        Ok(Self { key: Key::boxed(key)?, is_ctr: true })
    }

    /// Returns a module: its length, a random nonce, the ciphertext, and with GCM the tag.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) if its length does not fit into 4 bytes, [`NoEntropy`](Error::NoEntropy) if the system has no random bytes.
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

    /// Returns the text of a module, which ends where its length says; [`module_len`] finds the end. With CTR, `aad` is not looked at.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if its length is not that of `module`, or too short for nonce and tag.
    /// [`Unauthentic`](Error::Unauthentic) if it is not what was encrypted with this key and AAD; with CTR nothing shows that.
    pub fn decrypt(&self, module: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        if module_len(module) != Some(module.len()) {
            return Err(Error::InvalidLength);
        }
        self.decrypt_body(&module[LENGTH..], aad)
    }

    /// Returns the text of a module without its length, for readers that have read the length by itself.
    ///
    /// # Errors
    /// As for [`decrypt`](Self::decrypt), but for the length.
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

    /// Returns the signature that stands behind a footer that is not encrypted: a random nonce, and the tag that the footer would have if it were
    /// encrypted.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) for more than 64 GiB, [`NoEntropy`](Error::NoEntropy) as for [`encrypt`](Self::encrypt).
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
    /// [`Unauthentic`](Error::Unauthentic) if it is not.
    pub fn verify_footer(&self, footer: &[u8], aad: &[u8], signature: &[u8; SIGNATURE]) -> Result<(), Error> {
        let (nonce, expected) = signature.split_first_chunk::<NONCE>().ok_or(Error::InvalidLength)?;
        let tag = self.key.seal(*nonce, aad, &mut footer.to_vec())?;
        if tag == Tag::try_from(expected)? { Ok(()) } else { Err(Error::Unauthentic) }
    }
}

/// Bytes of the module that `bytes` begin with, its length included; none if they are too few to tell, or the length fits into no memory.
pub fn module_len(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk::<LENGTH>()?);
    LENGTH.checked_add(usize::try_from(length).ok()?)
}

fn nonce() -> Result<[u8; NONCE], Error> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| Error::NoEntropy)?;
    Ok(nonce)
}

/// The counter of the first block: the nonce, and 1 (section 4.2.2 of the format).
fn counter(nonce: &[u8; NONCE]) -> [u8; 16] {
    let mut counter = [0; 16];
    counter[..NONCE].copy_from_slice(nonce);
    counter[15] = 1;
    counter
}
