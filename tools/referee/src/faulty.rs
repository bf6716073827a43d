//! The model of AES-GCM with faults that implementations have had, each with a name.
//!
//! As an implementation, with the name in `REFEREE_FAULT`, it proves that the referee catches the fault. Published vectors are tested with each
//! fault of an answer, to find the faults that they miss.

mod gcm;
mod implementation;

pub(crate) use gcm::Gcm;
pub(crate) use implementation::table;

use crate::finding::Kind;

/// A fault that can be planted.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The kind of finding that it must cause.
    pub(crate) kind: Kind,
    /// True if every way of calling gives a wrong answer, so that published vectors may catch it.
    pub(crate) every_way: bool,
    /// The family of test cases that finds it.
    pub(crate) family: &'static str,
    pub(crate) description: &'static str,
}

/// Returns the fault with this name.
pub(crate) fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

macro_rules! faults {
    ($($kind:ident $every_way:literal { $($name:literal $family:ident $says:literal)* })*) => {
        /// All faults. Those of `crates/fastgcm/faults.txt` that a model can have bear their names from there.
        pub(crate) const FAULTS: &[Fault] = &[$($(Fault {
            name: $name,
            kind: Kind::$kind,
            every_way: $every_way,
            family: stringify!($family),
            description: $says,
        },)*)*];
    };
}

faults! {
    Wrong true {
        "f02" forged "the last bit of the tag does not count"
        "tag-12" forged "of a tag twelve bytes count"
        "tag-4" forged "of a tag four bytes count"
        "tag-sum" forged "the differences of a tag's bytes are added up by XOR, so that two of them cancel"
        "open-empty" forged "an empty text is opened under any tag"
        "open-aad" forged "opening looks at no AAD where there is no text"
        "f04" wraps "the counter carries into the nonce (128 bits)"
        "f04-64" wraps "the counter carries into the nonce (64 bits)"
        "f04-wide" wraps "the counter carries into the nonce from the ninth block on, where eight go at once"
        "f04-wider" wraps "the counter carries into the nonce from the 33rd block on, where 32 go at once"
        "f04-lane" wraps "the counter carries into the nonce if it wraps in the last lane of sixteen"
        "carry-4095" long "the counter's low byte wraps without a carry, at 4,096 bytes and more"
        "carry-16" long "the counter's low 16 bits wrap without a carry, at 1 MiB and more"
        "counter-start" lengths "counters come in pairs that have changed places"
        "tag-mask" lengths "the tag is masked by the first counter block"
        "fold" operands "a term of the reduction is another"
        "times-x" operands "the reduction loses its lowest term"
        "f17" operands "a product of operands with many ones is wrong"
        "lengths-swapped" lengths "the lengths of AAD and text change places"
        "lengths-missing" lengths "the lengths are not hashed"
        "fuzz-one-shot" lengths "the length of a text is taken modulo 1024"
        "text-bits-16" long "the length of a text in bits is taken modulo 2^16"
        "aad-bits-12" aad "the length of the AAD in bits is taken modulo 2^12"
        "mask-off-by-one" lengths "one byte behind the text is hashed too"
        "load-seven" lengths "seven bytes at the end of a text lose their middle"
        "store-fifteen" lengths "fifteen bytes at the end of a text lose their last"
        "tail-one" lengths "one byte at the end of a text of more than 512 is not hashed"
        "aad-thirteen" aad "thirteen bytes at the end of the AAD lose their last"
        "pending-128" lengths "of a text of 128 bytes or more the last whole turn of eight blocks is not hashed"
        "pending-512" lengths "of a text of 512 bytes or more the last whole turn is not hashed"
        "pending-1024" lengths "of a text of 1,024 bytes or more the last whole turn is not hashed"
        "pending-4096" long "of a text of 4,096 bytes or more the last whole turn is not hashed"
        "power-8" lengths "a block in a group of 8 meets another power of H"
        "power-16" lengths "a block in a group of 16 meets another power of H"
        "power-32" lengths "a block in a group of 32 meets another power of H"
        "power-64" lengths "a block in a group of 64 meets another power of H"
        "hash-carried" lengths "the second turn of a text does not carry the hash before it"
        "aad-hash" aad "AAD of more than 128 bytes forgets what came before its last part"
        "aad-hash-512" aad "AAD of more than 512 bytes forgets what came before its last part"
        "verified-first-mask" empty "the tag of a message with neither text nor AAD is masked by another block"
        "f02-multiple" forged "a text of a multiple of 256 bytes is opened under any tag"
        "j0-lengths" nonces "the hash of a nonce ends without its length"
        "j0-long" nonces "of a nonce of more than 128 bytes its end is not hashed"
        "j0-sixteen" nonces "a nonce of sixteen bytes is taken for a counter block"
        "j0-tail" nonces "the last byte of a nonce of 15 bytes is not hashed"
        "rcon" lengths "a wrong constant in the key schedule of AES-128"
        "aes-192" lengths "a word of the key schedule of AES-192 forgets the one before"
        "aes-256" lengths "a word of the key schedule of AES-256 goes through no S-box"
        "refuses-one" lengths "a text of one byte is not sealed"
        "refuses-valid" empty "a message with AAD and without text is refused"
    }
    // A wrong answer for one way of calling: in place, in pieces, from an odd address.
    Wrong false {
        "f08" places "open hashes what it has just overwritten: right from one buffer to another, wrong in place"
        "overlap" places "buffers that overlap in part are taken, and the answer is wrong"
        "f12" pieces "keystream that a piece leaves over is used from its first byte on again"
        "empty-piece" pieces "an empty piece moves the counter on"
        "aad-seam" pieces "each piece of AAD is padded"
        "aad-empty" pieces "an empty piece of AAD is hashed as a block of zeros"
        "copy" copies "a copy of a context forgets its AAD"
        "copy-moves" copies "a copy of a context begins the text anew"
        "nonce-first" copies "a nonce that came before the key is forgotten"
        "odd" places "an output at an odd address gets another byte"
        "null" empty "an empty message at NULL is refused"
        "pieces-tag" forged "a message in pieces is opened under any tag"
        "state" forged "a key that has refused a message seals the next one wrong"
        "state-256" forged "a key is wrong about its 256th message"
        "again-aad" again "a context that is used again hashes the AAD of the message before"
        "again-tail" again "a context that is used again begins with keystream that the message before left over"
        "threads" threads "two threads write their nonces to one place of a key"
        "masked-aes" processors "a processor without AES and with VAES gets another ciphertext"
        "masked-pair" processors "a processor with neither AVX-512 nor PCLMULQDQ gets another ciphertext"
    }
    Outside false {
        "f07" lengths "one byte behind the text is read"
        "reads-before" places "one byte before the text is read"
        "reads-aad" aad "one byte behind the AAD is read"
        "reads-nonce" nonces "a nonce of 12 bytes is read as 16"
        "reads-key" lengths "one byte behind the key is read"
        "reads-tag" tags "a tag of 12 bytes is read as 16"
        "writes-behind" lengths "one byte behind the output is written"
        "writes-before" places "one byte before the output is written"
        "writes-tag" tags "a short tag is written as 16 bytes"
        "writes-input" places "the input is changed"
        "tag-behind" tags "a short tag that stands behind its ciphertext is written as 16 bytes"
        "program-tag" programs "a program in another language writes a short tag as 16 bytes in a buffer that is given to it"
        "program-reads" programs "a program in another language reads one byte behind a text that is given to it"
        "piece-behind" pieces "one byte behind a piece is written"
        "piece-nonce" pieces "the nonce of a message in pieces is changed"
        "piece-aad" pieces "a piece of AAD is changed"
        "piece-tag" pieces "the tag that closes a message in pieces is changed"
    }
    Leaves false {
        "f01" forged "the plaintext of a forgery stays"
        "forgery-long" forged "the plaintext of a long forgery stays"
    }
    Crash false {
        "crash" lengths "a text of 47 bytes ends the process"
        "abort" forged "a wrong tag ends the process"
        "exit" lengths "a text of 47 bytes ends the process without a signal"
    }
    Hangs false {
        "hangs" lengths "a text of 47 bytes is never done"
    }
    Takes false {
        "f02-short" tags "a tag of any length is taken"
        "f02-none" tags "a tag of no bytes is taken"
        "f03" nonces "an empty nonce is taken"
    }
    Keeps false {
        "keeps-key" freed "round keys that were freed stay in memory"
    }
}
