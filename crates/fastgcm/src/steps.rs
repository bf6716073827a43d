//! The steps of a message in pieces, as a row has them: its functions, and the safe calls of these.

use crate::{
    Block,
    gcm::{PIECE_PAYS, lengths},
    inout::{Ends, Hash, InOut, Room},
    isa::Frame,
    material::Material,
    nonce::{J0, Kind, Nonce, Nonce96, Start},
};

/// An entry for a piece of text: from which block on, with which hash, and whether it is sealed.
type Crypt = unsafe fn(Frame<'_>, &Material, &Start, u32, &mut Hash, Ends<'_>, usize, bool);

/// An entry for many turns. Returns what is left.
type Many = for<'a> unsafe fn(Frame<'_>, &'a Material, Nonce96, u32, &mut Hash, Option<&mut Room>, InOut<'a>, bool) -> InOut<'a>;

/// Entries for pieces that begin with a turn, where there are such.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Of a turn.
    pub(crate) blocks: usize,
    /// A few whole turns.
    pub(crate) seal: unsafe fn(Frame<'_>, &Material, &Nonce96, u32, &mut Hash, Option<&mut Room>, Ends<'_>, usize),
    pub(crate) open: unsafe fn(Frame<'_>, &Material, &Nonce96, u32, &mut Hash, Ends<'_>, usize),
    pub(crate) many: Many,
    /// Hashes the turn that waits.
    pub(crate) settle: unsafe fn(Frame<'_>, &Material, &mut Hash, &Room),
}

/// Of these any message can be made, in pieces. Whoever has them got them from `Kernels`.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) hash: unsafe fn(Frame<'_>, &Material, &mut Hash, &[u8]),
    pub(crate) crypt: Crypt,
    pub(crate) turns: Option<Turns>,
    pub(crate) finish: unsafe fn(Frame<'_>, &Material, &Hash, Block, Option<J0>) -> Block,
    pub(crate) aes: unsafe fn(Frame<'_>, &Material, Block) -> Block,
}

/// Safe, because `Backend::kernels` hands out a row only where its features were found, and steps only with the row.
#[allow(unsafe_code)]
impl Turns {
    /// A few whole turns, of which `index` is the first block.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn few(&self, material: &Material, nonce: &Nonce96, index: u32, hash: &mut Hash, room: Option<&mut Room>, text: InOut<'_>, seal: bool) {
        let (ends, len) = text.parts();
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe {
            if seal {
                (self.seal)(frame, material, nonce, index, hash, room, ends, len);
            } else {
                (self.open)(frame, material, nonce, index, hash, ends, len);
            }
        });
    }
}

/// Safe, likewise.
#[allow(unsafe_code)]
impl Steps {
    /// GHASH goes on over `data`, padded with zeros to whole blocks.
    #[inline(always)]
    pub(crate) fn hash(&self, material: &Material, hash: &mut Hash, data: &[u8]) {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.hash)(frame, material, hash, data) });
    }

    /// Encrypts (`seal`) or decrypts a piece of text from block `index` on, and goes on with the hash over its ciphertext, padded likewise. What is
    /// sealed may leave a turn in `room`, if there is room.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn crypt<'a>(
        &self,
        material: &'a Material,
        start: &Start,
        mut index: u32,
        hash: &mut Hash,
        mut room: Option<&mut Room>,
        mut text: InOut<'a>,
        seal: bool,
    ) {
        if let (Start::Public(nonce), Some(turns)) = (start, &self.turns) {
            let ahead = text.len().min(16 * ((index as usize).wrapping_neg() & (turns.blocks - 1)));
            if text.len() >= PIECE_PAYS {
                if ahead > 0 {
                    self.settle(material, hash, room.as_deref_mut());
                    self.any(material, start, index, hash, text.take_len(ahead), seal);
                    index = index.wrapping_add((ahead / 16) as u32);
                }
                let (all, room) = (text.len(), room.as_deref_mut());
                // SAFETY: see the impl.
                text = Frame::wiped_after(|frame| unsafe { (turns.many)(frame, material, *nonce, index, hash, room, text, seal) });
                index = index.wrapping_add(((all - text.len()) / 16) as u32);
            } else if ahead == 0 && text.len() >= 16 * turns.blocks {
                let whole = text.take_len(text.len() & (16 * turns.blocks).wrapping_neg());
                let bytes = whole.len();
                turns.few(material, nonce, index, hash, room.as_deref_mut(), whole, seal);
                index = index.wrapping_add((bytes / 16) as u32);
            }
        }
        if text.len() > 0 {
            self.settle(material, hash, room);
            self.any(material, start, index, hash, text, seal);
        }
    }

    /// The same of any piece, by the entry for all. No turn waits.
    #[inline(always)]
    fn any(&self, material: &Material, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>, seal: bool) {
        let (ends, len) = text.parts();
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.crypt)(frame, material, start, index, hash, ends, len, seal) });
    }

    /// The same of whole blocks behind whole blocks, `so_far` bytes of text, if one entry is enough for them. Otherwise does nothing and returns false.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn crypt_at_once(
        &self,
        material: &Material,
        start: &Start,
        so_far: u64,
        hash: &mut Hash,
        room: Option<&mut Room>,
        text: InOut<'_>,
        seal: bool,
    ) -> bool {
        let (all, index) = (so_far as usize | text.len(), (so_far / 16) as u32);
        if all & 15 != 0 || text.len() == 0 || text.len() >= PIECE_PAYS {
            return false;
        }
        if let (Start::Public(nonce), Some(turns)) = (start, &self.turns) {
            if all & (16 * turns.blocks - 1) == 0 {
                turns.few(material, nonce, index, hash, room, text, seal);
                return true;
            } else if text.len() >= 16 * turns.blocks {
                return false;
            }
        }
        if hash.waits() {
            return false;
        }
        self.any(material, start, index, hash, text, seal);
        true
    }

    /// Hashes the turn that waits, if one does.
    #[inline(always)]
    pub(crate) fn settle(&self, material: &Material, hash: &mut Hash, room: Option<&mut Room>) {
        if hash.waits()
            && let (Some(room), Some(turns)) = (room, &self.turns)
        {
            // SAFETY: see the impl.
            Frame::wiped_after(|frame| unsafe { (turns.settle)(frame, material, hash, room) });
        }
    }

    /// The lengths, and the hash as the standard has it: the tag, if it is masked by AES of a J0.
    #[inline(always)]
    pub(crate) fn finish(&self, material: &Material, hash: &Hash, lengths: Block, j0: Option<J0>) -> Block {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.finish)(frame, material, hash, lengths, j0) })
    }

    /// Where a message with that nonce begins (SP 800-38D, section 7.1, step 2).
    #[inline]
    pub(crate) fn start(&self, material: &Material, nonce: Nonce<'_>) -> Start {
        match nonce.0 {
            Kind::Public(nonce) => Start::Public(nonce),
            Kind::Any(bytes) => {
                let mut hash = Hash::ZERO;
                self.hash(material, &mut hash, bytes);
                Start::Secret(J0(self.finish(material, &hash, lengths(0, bytes.len() as u64), None)))
            }
        }
    }

    /// AES of a block.
    #[inline(always)]
    pub(crate) fn aes(&self, material: &Material, block: Block) -> Block {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.aes)(frame, material, block) })
    }
}
