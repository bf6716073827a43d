//! AES-GCM as the model has it, with faults that implementations have had: each by its name.
//!
//! Two uses. As a plug-in of the referee, with the name in `REFEREE_FAULT`, it proves that the referee
//! catches that fault. And in the program itself, published vectors are put to each fault that is an answer,
//! which says what those vectors would have missed.

mod gcm;
mod implementation;

pub use gcm::Gcm;

/// How the referee must report a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer that is wrong whichever way one calls: published vectors may catch it.
    Answer,
    /// An answer that is wrong for one way of calling: in place, in pieces, from an odd address.
    Shape,
    /// A byte beside a buffer is read or written, or what is only to be read is changed.
    Outside,
    /// Text of a message that was refused is left.
    Leaves,
    /// The process ends.
    Crash,
    /// The process goes on without end.
    Hangs,
    /// What the standard does not have is taken.
    Takes,
}

/// A fault that can be planted.
#[derive(Debug)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// How it must be reported.
    pub kind: Kind,
    /// What is wrong.
    pub says: &'static str,
}

/// Whether there is a fault of that name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

macro_rules! faults {
    ($($kind:ident { $($name:literal $says:literal)* })*) => {
        /// All of them. Those of `crates/fastgcm/faults.txt` that a model can have bear the name that they have there.
        pub const FAULTS: &[Fault] = &[$($(Fault { name: $name, kind: Kind::$kind, says: $says },)*)*];
    };
}

faults! {
    Answer {
        "f02" "the last bit of the tag does not count"
        "tag-12" "of a tag twelve bytes count"
        "tag-4" "of a tag four bytes count"
        "tag-sum" "the differences of a tag's bytes are added up by XOR, so that two of them cancel"
        "open-empty" "an empty text is opened under any tag"
        "open-aad" "opening looks at no AAD where there is no text"
        "f04" "the counter carries into the nonce (128 bits)"
        "f04-64" "the counter carries into the nonce (64 bits)"
        "f04-wide" "the counter carries into the nonce from the ninth block on, where eight go at once"
        "f04-wider" "the counter carries into the nonce from the 33rd block on, where 32 go at once"
        "f04-lane" "the counter carries into the nonce if it wraps in the last lane of sixteen"
        "carry-4095" "the counter's low byte wraps without a carry, at 4,096 bytes and more"
        "carry-16" "the counter's low 16 bits wrap without a carry, at 1 MiB and more"
        "counter-start" "counters come in pairs that have changed places"
        "tag-mask" "the tag is masked by the first counter block"
        "fold" "a term of the reduction is another"
        "times-x" "the reduction loses its lowest term"
        "f17" "a product of operands with many ones is wrong"
        "lengths-swapped" "the lengths of AAD and text change places"
        "lengths-missing" "the lengths are not hashed"
        "fuzz-one-shot" "the length of a text is taken modulo 1024"
        "text-bits-16" "the length of a text in bits is taken modulo 2^16"
        "aad-bits-12" "the length of the AAD in bits is taken modulo 2^12"
        "mask-off-by-one" "one byte behind the text is hashed too"
        "load-seven" "seven bytes at the end of a text lose their middle"
        "store-fifteen" "fifteen bytes at the end of a text lose their last"
        "tail-one" "one byte at the end of a text of more than 512 is not hashed"
        "aad-thirteen" "thirteen bytes at the end of the AAD lose their last"
        "pending-128" "of a text of 128 bytes or more the last whole turn of eight blocks is not hashed"
        "pending-512" "of a text of 512 bytes or more the last whole turn is not hashed"
        "pending-1024" "of a text of 1,024 bytes or more the last whole turn is not hashed"
        "pending-4096" "of a text of 4,096 bytes or more the last whole turn is not hashed"
        "power-8" "a block in a group of 8 meets another power of H"
        "power-16" "a block in a group of 16 meets another power of H"
        "power-32" "a block in a group of 32 meets another power of H"
        "power-64" "a block in a group of 64 meets another power of H"
        "hash-carried" "the second turn of a text does not carry the hash before it"
        "aad-hash" "AAD of more than 128 bytes forgets what came before its last part"
        "aad-hash-512" "AAD of more than 512 bytes forgets what came before its last part"
        "verified-first-mask" "the tag of a message with neither text nor AAD is masked by another block"
        "f02-multiple" "a text of a multiple of 256 bytes is opened under any tag"
        "j0-lengths" "the hash of a nonce ends without its length"
        "j0-long" "of a nonce of more than 128 bytes its end is not hashed"
        "j0-sixteen" "a nonce of sixteen bytes is taken for a counter block"
        "j0-tail" "the last byte of a nonce of 15 bytes is not hashed"
        "rcon" "a wrong constant in the key schedule of AES-128"
        "aes-192" "a word of the key schedule of AES-192 forgets the one before"
        "aes-256" "a word of the key schedule of AES-256 goes through no S-box"
        "refuses-one" "a text of one byte is not sealed"
        "refuses-valid" "a message with AAD and without text is refused"
    }
    Shape {
        "f08" "open hashes what it has just overwritten: right from one buffer to another, wrong in place"
        "overlap" "buffers that overlap in part are taken, and the answer is wrong"
        "f12" "keystream that a piece leaves over is used from its first byte on again"
        "empty-piece" "an empty piece moves the counter on"
        "aad-seam" "each piece of AAD is padded"
        "aad-empty" "an empty piece of AAD is hashed as a block of zeros"
        "copy" "a copy of a context forgets its AAD"
        "copy-moves" "a copy of a context begins the text anew"
        "nonce-first" "a nonce that came before the key is forgotten"
        "odd" "an output at an odd address gets another byte"
        "null" "an empty message at NULL is refused"
        "pieces-tag" "a message in pieces is opened under any tag"
        "state" "a key that has refused a message seals the next one wrong"
        "state-256" "a key is wrong about its 256th message"
    }
    Outside {
        "f07" "one byte behind the text is read"
        "reads-before" "one byte before the text is read"
        "reads-aad" "one byte behind the AAD is read"
        "reads-nonce" "a nonce of 12 bytes is read as 16"
        "reads-key" "one byte behind the key is read"
        "reads-tag" "a tag of 12 bytes is read as 16"
        "writes-behind" "one byte behind the output is written"
        "writes-before" "one byte before the output is written"
        "writes-tag" "a short tag is written as 16 bytes"
        "writes-input" "the input is changed"
        "piece-behind" "one byte behind a piece is written"
        "piece-nonce" "the nonce of a message in pieces is changed"
        "piece-aad" "a piece of AAD is changed"
        "piece-tag" "the tag that closes a message in pieces is changed"
    }
    Leaves {
        "f01" "the plaintext of a forgery stays"
        "forgery-long" "the plaintext of a long forgery stays"
    }
    Crash {
        "crash" "a text of 47 bytes ends the process"
        "abort" "a wrong tag ends the process"
        "exit" "a text of 47 bytes ends the process without a signal"
    }
    Hangs {
        "hangs" "a text of 47 bytes is never done"
    }
    Takes {
        "f02-short" "a tag of any length is taken"
        "f02-none" "a tag of no bytes is taken"
        "f03" "an empty nonce is taken"
    }
}
