//! The program that is proved: one call of the library, of any verb of the table that the tests walk, on buffers wherever they are.
//!
//! It stops at its marker before it has called the library, so that nothing is known of the processor yet. From there `perform` is interpreted,
//! with what stands in [`Call`] and in the buffers.
#![allow(missing_docs)]

#[path = "../../../tests/support/allocator.rs"]
mod allocator;
#[path = "../../../tests/support/verbs.rs"]
mod verbs;
mod wrong;

use allocator::allocating_in;
use fastgcm::{Backend, Error, Key, Nonce, Packet, Tag, batch};
use std::{fmt::Write, hint::black_box, mem::ManuallyDrop, ops::Range, slice};
use verbs::{Job, Keys};

/// A string of bytes wherever it is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    at: *mut u8,
    len: usize,
}

/// What `perform` is to do. The prover knows this layout.
#[repr(C)]
#[derive(Debug)]
pub struct Call {
    verb: usize,
    row: usize,
    /// Where a text is cut, if the verb asks for it.
    cuts: [usize; 2],
    key: Bytes,
    nonce: Bytes,
    aad: Bytes,
    from: Bytes,
    to: Bytes,
    tag: Bytes,
    heap: Bytes,
    /// Where keys are made for the verbs of the table.
    place: Bytes,
}

/// The same as slices.
struct Work {
    row: Backend,
    cuts: [usize; 2],
    key: &'static [u8],
    nonce: Nonce<'static>,
    nonce_bytes: &'static [u8],
    aad: &'static [u8],
    from: &'static [u8],
    to: &'static mut [u8],
    tag: &'static mut Tag,
    heap: &'static mut [u8],
}

impl Work {
    fn key(&self) -> Result<Key, Error> {
        Key::with_backend(self.key, self.row)
    }

    fn cut<'t>(&self, text: &'t mut [u8]) -> [&'t mut [u8]; 3] {
        let (first, rest) = text.split_at_mut(self.cuts[0]);
        let (second, third) = rest.split_at_mut(self.cuts[1] - self.cuts[0]);
        [first, second, third]
    }
}

type Own = (&'static str, &'static str, fn(Work) -> Result<(), Error>);

/// What is proved beside the table, or with less around it: name, how the table would describe it, and the call.
const OWN: &[Own] = &[
    ("nothing", "Gcm Seals Read Zeros 16;[];[]", |_| {
        black_box(Backend::detect());
        Ok(())
    }),
    ("seal", "Gcm Seals InPlace Zeros 16;[];[]", |work| work.key()?.seal(work.nonce, work.aad, work.to).map(|tag| *work.tag = tag)),
    ("open", "Gcm Opens InPlace Zeros 16;[];[]", |work| work.key()?.open(work.nonce, work.aad, work.to, &*work.tag)),
    ("seal apart", "Gcm Seals Apart Zeros 16;[];[]", |work| {
        work.key()?.seal_detached_to(work.nonce, work.aad, work.from, work.to).map(|tag| *work.tag = tag)
    }),
    ("open apart", "Gcm Opens Apart Zeros 16;[];[]", |work| {
        work.key()?.open_detached_to(work.nonce, work.aad, work.from, work.to, &*work.tag)
    }),
    ("seal in three pieces", "Gcm Seals InPlace Zeros 16 cut;[];[]", |mut work| {
        let key = work.key()?;
        let mut sealer = key.sealer(work.nonce);
        sealer.aad(work.aad)?;
        let mut sealer = sealer.text();
        let to = std::mem::take(&mut work.to);
        work.cut(to).into_iter().try_for_each(|piece| sealer.seal(piece))?;
        *work.tag = sealer.finish();
        Ok(())
    }),
    ("seal a list of three", "Gcm Seals InPlace Zeros 16 cut;[];[]", |mut work| {
        let key = work.key()?;
        let to = std::mem::take(&mut work.to);
        let tag = key.seal_chunks(work.nonce, &[work.aad], &mut work.cut(to))?;
        *work.tag = tag;
        Ok(())
    }),
    ("open a list of three", "Gcm Opens InPlace Zeros 16 cut;[];[]", |mut work| {
        let key = work.key()?;
        let to = std::mem::take(&mut work.to);
        key.open_chunks(work.nonce, &[work.aad], &mut work.cut(to), &*work.tag)
    }),
    ("AAD in three pieces", "Gmac Seals Read Zeros 16 cut;[];[]", |work| {
        let key = work.key()?;
        let mut mac = key.gmac(work.nonce);
        let Range { start, end } = work.cuts[0]..work.cuts[1];
        [&work.aad[..start], &work.aad[start..end], &work.aad[end..]].into_iter().try_for_each(|piece| mac.update(piece))?;
        *work.tag = mac.finish();
        Ok(())
    }),
    // Eight packets, each with a nonce of its own; three are under another key. The last is looked at.
    ("seal a batch under two keys", "Gcm Seals Apart Zeros 16;[];[12]", |work| {
        let key = work.key()?;
        let mut other = [0; 32];
        let other = &mut other[..work.key.len()];
        other.copy_from_slice(work.key);
        other[0] ^= 1;
        let other = Key::with_backend(other, work.row)?;
        let mut others = work.heap.chunks_exact_mut(work.from.len().max(1));
        let mut to = Some(work.to);
        let mut packets = [0, 1, 2, 3, 4, 5, 6, 7].map(|i: u8| {
            let mut nonce: [u8; 12] = work.nonce_bytes.try_into().unwrap_or_default();
            nonce[0] ^= 7 - i;
            let place = if i == 7 { to.take() } else { others.next().map(|place| &mut place[..work.from.len()]) };
            Packet::to(nonce, work.aad, work.from, place.unwrap_or_default(), Tag([0; 16]))
        });
        batch::seal(&[&other, &other, &other, &key, &key, &key, &key, &key], &mut packets)?;
        *work.tag = packets[7].tag;
        Ok(())
    }),
];

/// All that is no verb of the table: what is right, and what is wrong on purpose.
fn own() -> impl Iterator<Item = &'static Own> {
    OWN.iter().chain(wrong::ALL)
}

impl Bytes {
    /// # Safety
    /// Nobody else has it.
    unsafe fn slice(self) -> &'static mut [u8] {
        // SAFETY: the prover points to memory of its own making, each time to other memory.
        unsafe { slice::from_raw_parts_mut(self.at, self.len) }
    }
}

/// The call that is proved. 0: it is done; 1: refused; 2: anything else.
#[inline(never)]
extern "C" fn perform(call: &Call) -> u64 {
    // SAFETY: the prover gives each buffer a place of its own.
    let [key, nonce, aad, from, to, tag, heap, place] =
        unsafe { [call.key, call.nonce, call.aad, call.from, call.to, call.tag, call.heap, call.place].map(|bytes| bytes.slice()) };
    let row = Backend::ALL[call.row];
    let (tag, commitment) = tag.split_at_mut(16);
    // SAFETY: a tag is 16 bytes.
    let tag = unsafe { &mut *tag.as_mut_ptr().cast::<Tag>() };
    let done = match call.verb.checked_sub(OWN.len() + wrong::ALL.len()) {
        None => match (Nonce::any(nonce), own().nth(call.verb)) {
            (Ok(any), Some(own)) => own.2(Work { row, cuts: call.cuts, key, nonce: any, nonce_bytes: nonce, aad, from, to, tag, heap }),
            (Err(error), _) => Err(error),
            (_, None) => Err(Error::OutOfOrder),
        },
        Some(verb) => {
            let verb = &verbs::table()[verb];
            let mut keys = made(verb, row, key, place);
            ready();
            (verb.call)(&mut Job { keys: &mut keys, key_bytes: key, nonce, aad, from, to, tag, commitment, heap })
        }
    };
    match done {
        Ok(()) => 0,
        Err(Error::Unauthentic) => 1,
        Err(_) => 2,
    }
}

/// [`perform`], and behind the first call that is wrong a register that a caller keeps has another value. (By hand: a function of Rust gives it back.)
#[unsafe(naked)]
extern "C" fn perform_or_spoil(call: &Call) -> u64 {
    core::arch::naked_asm!(
        "push rdi",
        "call {perform}",
        "pop rdi",
        "cmp qword ptr [rdi], {spoils}",
        "jne 2f",
        "xor ebx, ebx",
        "2: ret",
        perform = sym perform,
        spoils = const OWN.len(),
    )
}

/// Keys of these bytes. What they own is in `place`, and is not given back. Apart, so that nothing of them stays in the frame of the call.
#[inline(never)]
fn made(verb: &verbs::Verb, row: Backend, key: &[u8], place: &mut [u8]) -> ManuallyDrop<Keys> {
    let mut keys = ManuallyDrop::new(allocating_in(place, || Keys::new(row)));
    keys.set(verb, key);
    keys
}

/// What is left behind from here on is the verb's.
#[inline(always)]
fn ready() {
    if cfg!(feature = "scrub") {
        // SAFETY: for the interpreter; nobody else comes here.
        unsafe { core::arch::asm!("int3") };
    }
}

/// Memory in which the prover puts what it likes.
#[repr(C, align(4096))]
struct Arena([u8; 4 << 20]);

static mut ARENA: Arena = Arena([0; 4 << 20]);

#[inline(never)]
extern "C" fn marker(call: *const Call, perform: extern "C" fn(&Call) -> u64, arena: Bytes, told: Bytes) {
    // SAFETY: a trap, for which the registers say where all is.
    unsafe {
        core::arch::asm!("int3", in("rdi") call, in("rsi") perform, in("rdx") arena.at, in("rcx") arena.len, in("r8") told.at, in("r9") told.len);
    }
}

/// A line for each verb, by its number, and one for each row.
fn told() -> String {
    let mut told = String::new();
    for (name, how, _) in own() {
        let _ = writeln!(told, "verb;{name};{how}");
    }
    for verb in verbs::table() {
        let verbs::Verb { form, does, shape, refused, tag, keys, nonces, leaves, .. } = verb;
        let mut name = verb.functions.join(", ");
        if name.starts_with("RootKey") {
            name = format!("{name} of {form:?}");
        }
        // A nonce that is counted up is a number that everybody may know.
        let counts = if ["SealingKey", "ApprovedKey::new", "ApprovedKey::with_backend", "counter"].iter().any(|word| name.contains(word)) {
            " number"
        } else {
            ""
        };
        let wipes = if leaves.is_none() { " wipes" } else { "" };
        let form = format!("{form:?}").replace(' ', "");
        let _ = writeln!(told, "verb;{name};{form} {does:?} {shape:?} {refused:?} {tag}{counts}{wipes};{keys:?};{nonces:?}");
    }
    for row in Backend::ALL {
        let _ = writeln!(told, "row;{row}");
    }
    told
}

fn main() {
    let mut told = told().into_bytes();
    let nothing = Bytes { at: std::ptr::null_mut(), len: 0 };
    let call = Call {
        verb: 0,
        row: 0,
        cuts: [0; 2],
        key: nothing,
        nonce: nothing,
        aad: nothing,
        from: nothing,
        to: nothing,
        tag: nothing,
        heap: nothing,
        place: nothing,
    };
    let arena = Bytes { at: (&raw mut ARENA).cast(), len: size_of::<Arena>() };
    let told = Bytes { at: told.as_mut_ptr(), len: told.len() };
    let call = black_box(Box::leak(Box::new(call)));
    marker(call, perform_or_spoil, arena, told);
}
