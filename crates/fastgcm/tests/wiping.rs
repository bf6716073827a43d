//! What a call leaves on the stack and in the registers. With feature `scrub`: nothing of a key, a round key, a power of H or a keystream.
//! Without it nothing is promised, and what is left is found: that is the control.
//!
//! Calls run on a stack of their own, and all registers that a function may change are stored by the instruction behind the call: whoever
//! looks changes nothing of what he looks at. That is done twice, with other secrets. Whatever differs then, a round key as well as a
//! spilled bit plane that nobody has a name for, is left of a secret; only what the caller gets anyway, the tag, is excepted.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/backends.rs"]
mod backends;
#[path = "constant_time/call.rs"]
mod call;
#[path = "support/suite.rs"]
mod suite;
#[path = "support/verbs.rs"]
mod verbs;

use allocator::allocating_in;
use backends::{Tally, backends, boxed, key};
#[cfg(feature = "hazmat")]
use fastgcm::hazmat::{PartHash, UnverifiedOpener, combine, seal_part};
use fastgcm::{AesGcmSiv, Backend, Key, Nonce, Sealer, Tag, Xaes256Gcm};
use fastgcm_model::Model;
use std::{arch::asm, hint::black_box};
use suite::Random;

/// Text, nonce: in the tail, in turns, with a nonce whose counter is secret, and long enough for a table made for one message.
const SHAPES: [(usize, usize); 9] = [(0, 12), (16, 12), (100, 12), (300, 12), (1420, 12), (5000, 12), (140_000, 12), (50, 16), (5000, 8)];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verb {
    Rekey,
    Seal,
    SealInPieces,
    SealGathered,
    SealChunks,
    Open,
    #[cfg(feature = "hazmat")]
    OpenInPieces,
    OpenGathered,
    OpenChunks,
    OpenChunksForged,
    GatheredVerifiedFirst,
    OpenVerifiedFirst,
    /// The tag is wrong. The right one, which the caller does not get, is a secret as well.
    OpenForged,
    /// Under a key that is made for the message.
    SealOnce,
    OpenOnce,
    OpenOnceForged,
    /// By a cipher that derives a key for each message.
    SealXaes,
    OpenXaes,
    SealSiv,
    OpenSiv,
    OpenSivForged,
    #[cfg(feature = "hazmat")]
    Combine,
    /// A key is made on the heap.
    Boxed,
    /// The control: leaves a needle on the stack and in a vector register.
    Plant,
    /// And: leaves a key on the stack.
    Forget,
}

impl Verb {
    /// In pieces, or from a list.
    fn opens(self) -> bool {
        #[cfg(feature = "hazmat")]
        if self == Self::OpenInPieces {
            return true;
        }
        matches!(self, Self::OpenGathered | Self::OpenChunks | Self::OpenChunksForged | Self::GatheredVerifiedFirst)
    }
}

/// A call, its buffers in fixed places.
struct Call {
    verb: Verb,
    key: Box<Key>,
    key_bytes: [u8; 32],
    nonce: ([u8; 16], usize),
    text: Vec<u8>,
    /// Another one, for what does not work in place.
    other: Vec<u8>,
    /// A message that is sealed in pieces, of which text follows. It has a place of its own: where it is moved from is not wiped.
    sealer: Option<Sealer<'static>>,
    #[cfg(feature = "hazmat")]
    opener: Option<UnverifiedOpener<'static>>,
    xaes: Option<Xaes256Gcm>,
    siv: Option<AesGcmSiv>,
    #[cfg(feature = "hazmat")]
    hashes: Vec<PartHash>,
    tag: Tag,
    /// Where that heap is.
    heap: Vec<u8>,
}

impl Call {
    fn new(backend: Backend, verb: Verb, (text, nonce): (usize, usize)) -> Self {
        let key = boxed(&[0; 32], backend);
        Self {
            verb,
            key,
            key_bytes: [0; 32],
            nonce: ([3; 16], nonce),
            text: vec![0; text],
            other: vec![0; text],
            sealer: None,
            #[cfg(feature = "hazmat")]
            opener: None,
            xaes: None,
            siv: None,
            #[cfg(feature = "hazmat")]
            hashes: Vec::new(),
            tag: Tag([0; 16]),
            heap: vec![0; 8192],
        }
    }

    /// Performs it with secrets of that number, and returns all that is left.
    fn left(&mut self, secret: u64) -> Left {
        let mut random = Random(secret);
        random.fill(&mut self.key_bytes);
        random.fill(&mut self.text);
        self.key.rekey(&self.key_bytes).unwrap();
        let forged = matches!(self.verb, Verb::OpenForged | Verb::OpenOnceForged | Verb::OpenChunksForged | Verb::OpenSivForged);
        if forged && self.verb != Verb::OpenSivForged
            || self.verb.opens()
            || matches!(self.verb, Verb::Open | Verb::OpenVerifiedFirst | Verb::OpenOnce)
        {
            let nonce = Nonce::any(&self.nonce.0[..self.nonce.1]).unwrap();
            self.tag = self.key.seal(nonce, b"aad", &mut self.text).unwrap();
        }
        // SAFETY: the key stays in its box as long as both.
        let (key, nonce): (&'static Key, _) =
            (unsafe { &*std::ptr::from_ref(&*self.key) }, Nonce::any(&self.nonce.0[..self.nonce.1]).unwrap());
        let mut sealer = key.sealer(nonce);
        sealer.aad(b"aad").unwrap();
        self.sealer = Some(sealer.text());
        #[cfg(feature = "hazmat")]
        {
            let mut opener = UnverifiedOpener::new(key, nonce);
            opener.aad(b"aad").unwrap();
            self.opener = Some(opener.text());
        }
        let (xaes, siv) = (
            Xaes256Gcm::with_backend(&self.key_bytes, key.backend()).unwrap(),
            AesGcmSiv::with_backend(&self.key_bytes, key.backend()).unwrap(),
        );
        match self.verb {
            Verb::OpenXaes => self.tag = xaes.seal(&[4; 24], b"aad", &mut self.text).unwrap(),
            Verb::OpenSiv | Verb::OpenSivForged => self.tag = siv.seal(&[4; 12], b"aad", &mut self.text).unwrap(),
            #[cfg(feature = "hazmat")]
            Verb::Combine => {
                let middle = self.text.len() / 32 * 16;
                let (first, second) = self.text.split_at_mut(middle);
                let at = first.len() as u64;
                // In one place, whose address may stay on the stack.
                self.hashes.clear();
                self.hashes.extend([seal_part(key, nonce, 0, first).unwrap(), seal_part(key, nonce, at, second).unwrap()]);
            }
            _ => {}
        }
        (self.xaes, self.siv) = (Some(xaes), Some(siv));
        if forged {
            self.tag = Tag([0x77; 16]);
        }
        after(self, perform)
    }
}

extern "sysv64" fn perform(call: &mut Call) {
    #[cfg(feature = "hazmat")]
    let opener = &mut call.opener;
    #[cfg(feature = "hazmat")]
    let hashes = &mut call.hashes;
    let Call { verb, key, key_bytes, nonce: (nonce, length), text, other, sealer, xaes, siv, tag, heap, .. } = call;
    let nonce = Nonce::any(&nonce[..*length]).unwrap();
    let (aads, cuts): ([&[u8]; 2], _) = ([b"a", b"ad"], [text.len() / 3, text.len() - text.len() / 4]);
    match verb {
        Verb::Rekey => key.rekey(&key_bytes[..]).unwrap(),
        Verb::Seal => *tag = key.seal(nonce, b"aad", text).unwrap(),
        Verb::SealInPieces => {
            let sealer = sealer.as_mut().unwrap();
            in_three(text, cuts).into_iter().for_each(|piece| sealer.seal(piece).unwrap());
        }
        Verb::SealGathered => *tag = key.seal_gathered(nonce, &aads, &[&text[..cuts[0]], &text[cuts[0]..]], b"", other).unwrap(),
        Verb::SealChunks => *tag = key.seal_chunks(nonce, &aads, &mut in_three(text, cuts)).unwrap(),
        Verb::Open => key.open(nonce, b"aad", text, tag).unwrap(),
        #[cfg(feature = "hazmat")]
        Verb::OpenInPieces => {
            let opener = opener.as_mut().unwrap();
            in_three(text, cuts).into_iter().for_each(|piece| opener.open(piece).unwrap());
        }
        Verb::OpenGathered => key.open_gathered(nonce, &aads, &[&text[..cuts[0]], &text[cuts[0]..]], other, tag).unwrap(),
        Verb::OpenChunks => key.open_chunks(nonce, &aads, &mut in_three(text, cuts), tag).unwrap(),
        Verb::OpenChunksForged => assert!(key.open_chunks(nonce, &aads, &mut in_three(text, cuts), tag).is_err()),
        Verb::GatheredVerifiedFirst => {
            let chunks = [&text[..cuts[0]], &text[cuts[0]..]];
            key.open_gathered_verified_first(nonce, &aads, &chunks, other, tag).unwrap();
        }
        Verb::OpenVerifiedFirst => key.open_verified_first(nonce, b"aad", text, tag).unwrap(),
        Verb::OpenForged => assert!(key.open(nonce, b"aad", text, tag).is_err()),
        Verb::SealOnce => *tag = key.backend().seal_once(&key_bytes[..], nonce, b"aad", text).unwrap(),
        Verb::OpenOnce => key.backend().open_once(&key_bytes[..], nonce, b"aad", text, tag).unwrap(),
        Verb::OpenOnceForged => assert!(key.backend().open_once(&key_bytes[..], nonce, b"aad", text, tag).is_err()),
        Verb::SealXaes => *tag = xaes.as_ref().unwrap().seal(&[4; 24], b"aad", text).unwrap(),
        Verb::OpenXaes => xaes.as_ref().unwrap().open(&[4; 24], b"aad", text, tag).unwrap(),
        Verb::SealSiv => *tag = siv.as_ref().unwrap().seal(&[4; 12], b"aad", text).unwrap(),
        Verb::OpenSiv => siv.as_ref().unwrap().open(&[4; 12], b"aad", text, tag).unwrap(),
        Verb::OpenSivForged => assert!(siv.as_ref().unwrap().open(&[4; 12], b"aad", text, tag).is_err()),
        #[cfg(feature = "hazmat")]
        Verb::Combine => *tag = combine(key, nonce, b"aad", &*hashes).unwrap(),
        Verb::Boxed => std::mem::forget(allocating_in(heap, || Key::boxed_with_backend(&key_bytes[..], key.backend()))),
        Verb::Plant => {
            black_box(black_box(*key_bytes));
            // SAFETY: the register is declared, the bytes are there.
            unsafe { asm!("movups xmm5, [{}]", in(reg) key_bytes.as_ptr(), out("xmm5") _) }
        }
        Verb::Forget => std::mem::forget(black_box(Key::with_backend(&key_bytes[..], key.backend()))),
    }
}

/// A text in three pieces.
fn in_three(text: &mut [u8], [first, second]: [usize; 2]) -> [&mut [u8]; 3] {
    let (rest, three) = text.split_at_mut(second);
    let (one, two) = rest.split_at_mut(first);
    [one, two, three]
}

/// Bytes of the stack that calls run on: several times what any takes.
const STACK: usize = 64 << 10;

/// All that a call may leave: the stack, then registers.
struct Left(Vec<u8>);

/// Room for vector registers, masks and general ones.
#[repr(C, align(64))]
struct Registers([u8; 32 * 64 + 8 * 8 + 9 * 8]);

/// Calls `f` on a stack of zeros, and returns that stack and the registers behind the call.
fn after<T>(call: &mut T, f: extern "sysv64" fn(&mut T)) -> Left {
    static ROOM: std::sync::Mutex<(Aligned, Registers)> = std::sync::Mutex::new((Aligned([0; STACK]), Registers([0; 2184])));
    #[repr(align(64))]
    struct Aligned([u8; STACK]);
    let mut room = ROOM.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (stack, registers) = &mut *room;
    stack.0.fill(0);
    registers.0.fill(0);
    let wide = is_x86_feature_detected!("avx512vl");
    macro_rules! call {
        ($($vectors:literal),+) => {
            // SAFETY: a call by the System V ABI on an aligned stack that nobody else uses; the stack pointer waits in a register that the
            // callee restores, the room for registers in another.
            unsafe {
                asm!(
                    // What the test has in these, the callee would put on its stack.
                    "push rbx",
                    "push rbp",
                    "xor ebx, ebx",
                    "xor ebp, ebp",
                    "mov r12, rsp",
                    "mov rsp, rsi",
                    "call rax",
                    "mov rsp, r12",
                    "pop rbp",
                    "pop rbx",
                    "mov [r13 + 2112], rax",
                    "mov [r13 + 2120], rcx",
                    "mov [r13 + 2128], rdx",
                    "mov [r13 + 2136], rsi",
                    "mov [r13 + 2144], rdi",
                    "mov [r13 + 2152], r8",
                    "mov [r13 + 2160], r9",
                    "mov [r13 + 2168], r10",
                    "mov [r13 + 2176], r11",
                    $($vectors,)+
                    inout("rax") f => _,
                    inout("rdi") &raw mut *call => _,
                    inout("rsi") stack.0.as_mut_ptr_range().end => _,
                    out("r12") _,
                    inout("r13") registers.0.as_mut_ptr() => _,
                    inout("r14") 0_u64 => _,
                    inout("r15") 0_u64 => _,
                    clobber_abi("sysv64"),
                )
            }
        };
    }
    if wide {
        call!(
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "vmovups [r13 + 64 * \\n], zmm\\n",
            ".endr",
            ".irp n, 0,1,2,3,4,5,6,7",
            "kmovw eax, k\\n",
            "mov [r13 + 2048 + 8 * \\n], rax",
            ".endr",
            "vzeroupper"
        );
    } else if is_x86_feature_detected!("avx") {
        call!(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "vmovups [r13 + 64 * \\n], ymm\\n", ".endr", "vzeroupper");
    } else {
        call!(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "movups [r13 + 64 * \\n], xmm\\n", ".endr");
    }
    assert_eq!(stack.0[..STACK / 4], [0; STACK / 4], "the stack is deep enough");
    Left([&stack.0[..], &registers.0].concat())
}

/// Places where the two differ, but for those where both hold bytes of what is public: a half of it, with whatever stands around it, or a piece between
/// others that do not differ. (A `Result` of a tag is moved in pieces of seven, eight, two and one. That a secret looks like such a piece twice is one
/// chance in four thousand for a byte alone.)
fn differences(a: &Left, b: &Left, public: [&[u8]; 2]) -> Vec<usize> {
    let is_public = |left: &Left, at: usize, public: &[u8]| {
        let mut around = (at.saturating_sub(7)..=at).filter_map(|start| left.0.get(start..start + 8));
        around.any(|window| public.chunks_exact(8).any(|half| half == window))
    };
    let differ = (0..a.0.len()).filter(|&at| a.0[at] != b.0[at]);
    let found: Vec<usize> = differ.filter(|&at| !(is_public(a, at, public[0]) && is_public(b, at, public[1]))).collect();
    let is_piece = |run: &[usize]| {
        let (first, n) = (run[0], run.len());
        let mut pieces = public[0].windows(n).zip(public[1].windows(n));
        pieces.any(|pieces| pieces == (&a.0[first..first + n], &b.0[first..first + n]))
    };
    found.chunk_by(|x, y| x + 1 == *y).filter(|run| !is_piece(run)).flatten().copied().collect()
}

/// F16: after a call, no byte on the stack or in a register depends on key or text.
#[test]
fn f16_calls_leave_nothing_behind() {
    check([Verb::Rekey, Verb::Seal, Verb::Open, Verb::OpenVerifiedFirst], &SHAPES, "");
}

/// F16: nor does a message that is refused.
#[test]
fn f16_forgeries_leave_nothing_behind() {
    check([Verb::OpenForged], &SHAPES, "forged_");
}

/// F16: nor a key that is made where it stays.
#[test]
fn f16_boxed_keys_leave_nothing_behind() {
    check([Verb::Boxed], &SHAPES[..1], "boxed_");
}

/// F16: nor a key that is made for one message.
#[test]
fn f16_keys_for_one_message_leave_nothing_behind() {
    check([Verb::SealOnce, Verb::OpenOnce, Verb::OpenOnceForged], &SHAPES, "once_");
}

/// F16: with the feature as without, no table of such a key's round keys stays on the stack. (A long message makes another one, of vectors, which only
/// the feature wipes.)
#[test]
fn f16_keys_for_one_message_are_wiped() {
    let mut calls = Tally::default();
    let shapes = SHAPES.iter().filter(|(text, _)| *text <= 300);
    for backend in backends() {
        let mut round_keys_left = |verb, shape| {
            let mut call = Call::new(backend, verb, shape);
            let Left(left) = call.left(4);
            calls.add(&call.key, 1);
            let kept = round_keys(&call.key, &call.key_bytes);
            let is_left = |round_key: &&[u8; 16]| left[..STACK].windows(16).any(|window| window == *round_key);
            (kept.iter().filter(is_left).count(), kept.len())
        };
        let (left, all) = round_keys_left(Verb::Forget, (0, 12));
        assert!(left == all && all >= 13, "{backend}: {left} of {all} of a key that is forgotten");
        for &shape in shapes.clone() {
            for verb in [Verb::SealOnce, Verb::OpenOnce, Verb::OpenOnceForged] {
                let (left, all) = round_keys_left(verb, shape);
                assert!(left <= all / 4, "{backend}, {verb:?}, {shape:?}: {left} of {all} round keys");
            }
        }
    }
    calls.passed("wiping::keys_for_one_message", 1 + 3 * shapes.count());
}

/// F16: with the feature as without, no table of the round keys of a key that is derived for one message stays on the stack. (With
/// 300 bytes of AES-GCM-SIV the compiler spills another one, of vectors, which only the feature wipes.)
#[test]
fn f16_derived_keys_are_wiped() {
    let mut calls = Tally::default();
    let shapes: Vec<_> = SHAPES.iter().map(|(text, _)| (*text, 12)).filter(|(text, _)| *text <= 100).collect();
    for backend in backends() {
        for &shape in &shapes {
            for verb in [Verb::SealSiv, Verb::OpenSiv, Verb::OpenSivForged, Verb::SealXaes, Verb::OpenXaes] {
                let mut call = Call::new(backend, verb, shape);
                let Left(left) = call.left(4);
                calls.add(&call.key, 1);
                let derived: [u8; 32] = match verb {
                    Verb::SealXaes | Verb::OpenXaes => fastgcm_model::xaes::derive(&call.key_bytes, &[4; 24]),
                    _ => siv_key(&call.key_bytes),
                };
                let holds = |secret: &[u8]| left[..STACK].windows(secret.len()).any(|window| window == secret);
                // Of round keys that the compiler spills a few stay. The first two are the derived key itself.
                let halves = derived.as_chunks().0.iter().copied();
                let kept: Vec<_> = round_keys(&key(&derived, backend), &derived).into_iter().chain(halves).collect();
                let count = kept.iter().filter(|round_key| holds(&round_key[..])).count();
                assert!(count <= kept.len() / 4, "{backend}, {verb:?}, {shape:?}: {count} of {} round keys", kept.len());
            }
        }
    }
    calls.passed("wiping::derived_keys", 5 * shapes.len());
}

/// F16: with the feature as without, no table of states after two rounds stays on the stack: of 256 blocks, which tell two round keys, at most as many as the
/// compiler spills of one turn.
#[test]
fn f16_states_after_two_rounds_are_wiped() {
    const SHAPES: [usize; 4] = [8192, 9000, 12_800, 140_000];
    let mut calls = Tally::default();
    for backend in backends() {
        for &text in &SHAPES {
            for verb in [Verb::Seal, Verb::Open, Verb::OpenForged, Verb::SealInPieces, Verb::SealSiv, Verb::OpenSiv, Verb::OpenSivForged] {
                let mut call = Call::new(backend, verb, (text, 12));
                let Left(left) = call.left(4);
                calls.add(&call.key, 1);
                let of_siv = matches!(verb, Verb::SealSiv | Verb::OpenSiv | Verb::OpenSivForged);
                let found = states(&call, of_siv).iter().filter(|state| left[..STACK].windows(16).any(|window| window == *state)).count();
                assert!(found <= 7, "{backend}, {verb:?}, {text} bytes: {found} states of 256");
            }
        }
    }
    calls.passed("wiping::states_after_two_rounds", 7 * SHAPES.len());
}

/// The states after two rounds of the first window of a call that has returned: from the beginning of the text on, or, of GCM-SIV, from where the counter's
/// first byte is zero.
fn states(call: &Call, of_siv: bool) -> Vec<[u8; 16]> {
    let (key, first) = if of_siv {
        let mut first = call.tag.0;
        first[15] |= 0x80;
        (siv_key(&call.key_bytes), first)
    } else {
        (call.key_bytes, [[3; 12].as_slice(), &[0; 4]].concat().try_into().unwrap())
    };
    let keys = fastgcm_model::key_expansion(&key);
    let block = |i: u32| {
        let mut block = first;
        if of_siv {
            let start = u32::from_le_bytes(*first.first_chunk().unwrap()).wrapping_add(255) & !255;
            block[..4].copy_from_slice(&start.wrapping_add(i).to_le_bytes());
        } else {
            block[12..].copy_from_slice(&(i + 2).to_be_bytes());
        }
        block
    };
    (0..256).map(|i| fastgcm_model::after_rounds(&keys[..3], &block(i))).collect()
}

/// RFC 8452, section 4: the key of a message with a nonce of fours is of AES of a number and the nonce the first halves.
fn siv_key(key: &[u8; 32]) -> [u8; 32] {
    let model = Model::new(key);
    let half = |number: u8| model.cipher(&[&[number, 0, 0, 0][..], &[4; 12]].concat().try_into().unwrap());
    (2..6).flat_map(|number| half(number)[..8].to_vec()).collect::<Vec<_>>().try_into().unwrap()
}

/// The round keys as that key has them in its memory: the standard's, but for the first two, which are the caller's own key; or what an AES without
/// instructions reads in their place, behind them, four blocks for each.
fn round_keys(key: &Key, bytes: &[u8; 32]) -> Vec<[u8; 16]> {
    // SAFETY: a key has no padding (tests/memory.rs reads it all).
    let memory = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(key).cast::<[u8; 16]>(), size_of::<Key>() / 16) };
    let standard = Model::new(bytes).round_keys()[2..].to_vec();
    if memory.contains(&standard[0]) {
        standard
    } else {
        memory[16..][..4 * 15].iter().copied().filter(|block| *block != [0; 16]).collect()
    }
}

/// F12, F16: nor a message whose chunks are in a list.
#[test]
fn f12_f16_lists_leave_nothing_behind() {
    use Verb::{GatheredVerifiedFirst, OpenChunks, OpenChunksForged, OpenGathered, SealChunks, SealGathered};
    let verbs = [SealGathered, SealChunks, OpenGathered, OpenChunks, OpenChunksForged, GatheredVerifiedFirst];
    check(verbs, &SHAPES, "lists_");
}

/// F12, F16: nor a piece of one.
#[test]
fn f12_f16_pieces_leave_nothing_behind() {
    check([Verb::SealInPieces], &SHAPES[1..], "sealed_pieces_");
    #[cfg(feature = "hazmat")]
    check([Verb::OpenInPieces], &SHAPES[1..], "opened_pieces_");
}

/// F16: nor a cipher that derives a key for each message.
#[test]
fn f16_derived_keys_leave_nothing_behind() {
    let shapes = SHAPES.map(|(text, _)| (text, 12));
    check([Verb::SealXaes, Verb::OpenXaes], &shapes[..7], "xaes_");
    check([Verb::SealSiv, Verb::OpenSiv, Verb::OpenSivForged], &shapes[..7], "siv_");
}

/// F16, F21: nor the tag of a message that was sealed in parts.
#[cfg(feature = "hazmat")]
#[test]
fn f16_parts_leave_nothing_behind() {
    check([Verb::Combine], &SHAPES[1..], "combined_");
}

/// F16: nor any verb of the table, whether it opens, seals or refuses, but those that say why.
#[test]
fn f16_every_verb_leaves_nothing_behind() {
    const NONCES: [usize; 2] = [12, 16];
    const TEXTS: [usize; 3] = [20, 300, 1420];
    let (mut calls, mut left_behind) = (Tally::default(), [0, 0]);
    let promised = |backend| verbs::table().iter().filter(move |verb| verb.leaves.is_none() && verb.runs_on(backend));
    let mut faults = Vec::new();
    for backend in backends() {
        let mut call = call::Call::new(backend);
        call.only_keys_and_texts = true;
        for verb in promised(backend) {
            for (nonce, text, forged) in
                NONCES.into_iter().flat_map(|nonce| TEXTS.map(|text| [(nonce, text, false), (nonce, text, true)])).flatten()
            {
                if forged && !verb.opens() {
                    continue;
                }
                let public = call::Public::new(verb, [32, nonce, 13, text]);
                let mut left = |secret| {
                    call.prepare(public, secret);
                    if forged {
                        call.forge();
                    }
                    let left = after(&mut call, call::Call::perform);
                    assert_eq!(call.verdict, !forged, "{backend}, {public:?}");
                    // A tag that is sealed is the caller's, wherever it stands. (There is none of a right one that somebody else has made.)
                    let behind = verb.lengths(public.text).1 > public.text;
                    let apart = [&call.tag.0[..], &call.commitment].concat();
                    (left, if behind { call.to[public.text..][..verb.behind()].to_vec() } else { apart })
                };
                left(11);
                let ((a, tag_a), (b, tag_b)) = (left(12), left(13));
                let found = differences(&a, &b, [&tag_a, &tag_b]);
                let (first, last) = (found.first(), found.last());
                left_behind[usize::from(!found.is_empty())] += 1;
                if cfg!(feature = "scrub") && !found.is_empty() {
                    faults.push(format!("{backend}, {public:?}, forged {forged}: {} bytes, {first:?} to {last:?} of {STACK}", found.len()));
                }
                calls.add(&call.keys.key, 1);
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let [without, with] = left_behind;
    assert!(cfg!(feature = "scrub") || 2 * with > without, "without `scrub`, {with} leave something, and {without} nothing");
    let each = |backend| promised(backend).map(|verb| if verb.opens() { 2 } else { 1 }).sum::<usize>() * NONCES.len() * TEXTS.len();
    calls.passed_by(if cfg!(feature = "scrub") { "wiping::every_verb_with_scrub" } else { "wiping::every_verb_without_scrub" }, each);
}

fn check<const N: usize>(verbs: [Verb; N], shapes: &[(usize, usize)], what: &str) {
    let (mut calls, mut done, mut left_behind) = (Tally::default(), 0, 0);
    for backend in backends() {
        // The control, with the feature as without: a needle on the stack and one in a register are found.
        let mut plant = Call::new(backend, Verb::Plant, (0, 12));
        let planted = differences(&plant.left(1), &plant.left(2), [&[], &[]]);
        let (on_stack, in_registers) =
            (planted.iter().filter(|&&at| at < STACK).count(), planted.iter().filter(|&&at| at >= STACK).count());
        assert!(on_stack >= 28 && in_registers >= 14, "planted: {on_stack} bytes on the stack, {in_registers} in registers");

        for &shape in shapes {
            for verb in verbs {
                let mut call = Call::new(backend, verb, shape);
                call.left(1);
                let (a, tag_a) = (call.left(2), call.tag);
                let (b, tag_b) = (call.left(3), call.tag);
                let found = differences(&a, &b, [&tag_a.0, &tag_b.0]);
                if cfg!(feature = "scrub") {
                    let (first, last) = (found.first(), found.last());
                    assert!(found.is_empty(), "{backend}, {verb:?}, {shape:?}: {} bytes, {first:?} to {last:?} of {STACK}", found.len());
                } else {
                    left_behind += usize::from(!found.is_empty());
                }
                calls.add(&call.key, 1);
                done += 1;
            }
        }
    }
    assert!(cfg!(feature = "scrub") || left_behind * 2 > done, "without `scrub`, {left_behind} of {done} leave something");
    let name = format!("wiping::{what}{}", if cfg!(feature = "scrub") { "with_scrub" } else { "without_scrub" });
    calls.passed(&name, shapes.len() * N);
}
