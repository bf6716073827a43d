//! One contender called in the way of one shape, so often as a sample needs.

use super::{At, KEYS, MOST, MOST_AAD, NONCES, PAGE, Shape, Special};
use crate::{
    buffer::Buffer,
    cold::Others,
    peer::{self, Key},
    place::deeper,
    work::{Place, clear_upper_halves},
};
use plugin::{Message, TAG, Table};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use std::{
    arch::{asm, x86_64},
    hint::{black_box, spin_loop},
    sync::atomic::{AtomicPtr, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// What each nonce is, however it is stored.
const NONCE: [u8; 16] = [1; 16];
/// Of all keys.
const BYTES: [u8; 32] = [0x5a; 32];
/// How long a sample of calls in a row should take.
const SAMPLE: Duration = Duration::from_micros(6);
/// Calls that are not measured, beside two of each key.
const WARM: usize = 16;
/// Bytes of all buffers of a sample in place, unless four have more.
const IN_PLACE: usize = 16 << 10;

/// A contender's keys.
pub(crate) struct Caller {
    keys: Vec<Key>,
    bits: usize,
}

impl Caller {
    /// `None` if it has no keys of that length.
    pub(crate) fn new(table: &'static Table, bits: usize, seed: u64) -> Option<Self> {
        Some(Self { keys: peer::keys(table, &BYTES[..bits / 8], KEYS, seed)?, bits })
    }
}

/// Memory that all contenders share, and who is called beside them.
pub(crate) struct Ground {
    input: Buffer,
    output: Buffer,
    aad: Buffer,
    nonce: Buffer,
    /// What `input` holds before a sample: text, or ciphertext and its tag.
    text: Vec<u8>,
    list: Vec<[u8; 16]>,
    others: Others,
    other_core: Option<OtherCore>,
    shared: *mut u64,
    clock: Duration,
}

/// All that a call needs, reckoned before the clock starts.
#[derive(Clone, Copy)]
struct Call<'a> {
    shape: &'a Shape,
    list: &'a [[u8; 16]],
    nonce: *mut u8,
    aad: *const u8,
    input: *mut u8,
    output: *mut u8,
    /// From one message in place to the next.
    stride: usize,
    slots: usize,
}

impl Call<'_> {
    #[inline(always)]
    fn message(&self, number: usize) -> Message {
        let Shape { bytes, aad, nonce, output, .. } = *self.shape;
        let input = self.input.wrapping_add(number % self.slots * self.stride);
        Message {
            nonce: if nonce == 0 { self.list[number % self.list.len()].as_ptr() } else { self.nonce },
            aad: self.aad,
            aad_len: aad,
            input,
            output: if output.is_some() { self.output } else { input },
            len: bytes,
        }
    }
}

impl Ground {
    /// Of the cores that this process may run on.
    pub(crate) fn new(cores: &CpuSet) -> Self {
        let most = (MOST + TAG + 2 * 64) * 4 + PAGE;
        // SAFETY: a page of its own, which a child shares with its parent.
        let shared = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        assert_ne!(shared, libc::MAP_FAILED);
        Self {
            input: Buffer::new(most, PAGE),
            output: Buffer::new(MOST + TAG, PAGE),
            aad: Buffer::new(MOST_AAD, PAGE),
            nonce: Buffer::new(NONCE.len(), PAGE),
            text: Vec::new(),
            list: vec![NONCE; 64],
            others: Others::new(),
            other_core: OtherCore::new(cores),
            shared: shared.cast(),
            clock: (0..1000).map(|_| Instant::now().elapsed()).min().unwrap_or_default(),
        }
    }

    /// Nanoseconds that one call takes, called so often that a sample is long enough, where the caller calls again and again; else once.
    /// `None` where this machine has not got what is asked.
    pub(crate) fn sample(&mut self, caller: &mut Caller, shape: &Shape) -> Option<f64> {
        let calls = calls(shape.bytes);
        let at = |buffer: &Buffer, at: At, len: usize| match at {
            At::Offset(offset) => buffer.at(Place::Aligned, len).wrapping_sub(PAGE - offset),
            At::PageEnd => buffer.at(Place::PageEnd, len),
        };
        let (stride, slots) = (stride(shape), slots(shape));
        let calls = if slots > 1 { slots } else { calls };
        let input_len = if shape.output.is_some() { shape.bytes + shape.tag_in() } else { slots * stride };
        self.fill(caller, shape);
        let call = Call {
            shape,
            list: &self.list,
            nonce: at(&self.nonce, At::Offset(shape.nonce_at), NONCE.len()),
            aad: at(&self.aad, shape.aad_at, shape.aad),
            input: at(&self.input, shape.input, input_len),
            output: shape.output.map_or(std::ptr::null_mut(), |output| at(&self.output, output, shape.bytes + TAG)),
            stride,
            slots,
        };
        let (first, last) = (shape.key, (shape.key + shape.keys).saturating_sub(KEYS));
        let keys = &mut caller.keys[first - last..][..shape.keys];
        // SAFETY: so many bytes are there of each, and nobody else has them now.
        let give = || unsafe {
            call.nonce.cast::<[u8; 16]>().write(NONCE);
            (0..slots).for_each(|slot| {
                call.input.add(slot * stride).copy_from_nonoverlapping(self.text.as_ptr(), self.text.len());
            });
        };
        // Somebody else was called before: code and keys come near first. In place, each message is opened once.
        give();
        repeat(&call, keys, warm(shape), |_| (), || ());
        give();
        clear_upper_halves();
        let mut ok = true;
        // SAFETY: `call` is as the message wants it.
        let once = |key: &mut Key, ok: &mut bool| unsafe { *ok = one(key, &call.message(0), shape.open) };
        let total = match shape.special {
            None | Some(Special::Apart) => deeper(shape.stack, || repeat(&call, keys, calls, |_| (), || ())),
            Some(Special::Sse) => deeper(shape.stack, || repeat(&call, keys, calls, |_| sse(), sse)),
            Some(Special::Avx) => {
                std::arch::is_x86_feature_detected!("avx2").then_some(())?;
                // SAFETY: AVX2 is here.
                deeper(shape.stack, || repeat(&call, keys, calls, |_| unsafe { avx() }, sse))
            }
            Some(Special::Avx512) => {
                std::arch::is_x86_feature_detected!("avx512f").then_some(())?;
                // SAFETY: AVX-512 is here.
                deeper(shape.stack, || repeat(&call, keys, calls, |_| unsafe { avx512() }, sse))
            }
            Some(Special::Bytes) => {
                let store = |_| {
                    self.text.iter().enumerate().for_each(|(at, byte)| {
                        // SAFETY: so many bytes are there.
                        unsafe { call.input.add(at).write_volatile(*byte) }
                    })
                };
                let start = Instant::now();
                (0..calls).for_each(store);
                let storing = start.elapsed();
                deeper(shape.stack, || repeat(&call, keys, calls, store, || ())).saturating_sub(storing)
            }
            Some(Special::Chained) => deeper(shape.stack, || chain(&call, keys, calls)),
            Some(Special::Cold) => {
                let time = self.others.before(|| once(&mut keys[0], &mut ok));
                assert!(ok, "an authentic message was refused");
                return Some(nanoseconds(time, 1));
            }
            Some(Special::OtherCore) => {
                let key = &raw mut keys[0];
                self.other_core.as_ref()?.rekey(key, caller.bits);
                let start = Instant::now();
                once(&mut keys[0], &mut ok);
                start.elapsed()
            }
            Some(Special::Forked) => self.forked(|| once(&mut keys[0], &mut ok))?,
        };
        assert!(ok, "an authentic message was refused");
        let once = matches!(shape.special, Some(Special::OtherCore | Special::Forked));
        Some(nanoseconds(total.saturating_sub(self.clock), if once { 1 } else { calls }))
    }

    /// What is to be read: text, or what that key seals of it.
    fn fill(&mut self, caller: &mut Caller, shape: &Shape) {
        let aad = self.aad.bytes(Place::PageEnd, shape.aad).as_ptr();
        self.text = vec![0x77; shape.bytes + shape.tag_in()];
        if shape.open {
            let text = self.text.as_mut_ptr();
            let (nonce, aad_len, len) = (NONCE.as_ptr(), shape.aad, shape.bytes);
            // SAFETY: text with room for a tag, in place.
            unsafe { caller.keys[0].seal(&Message { nonce, aad, aad_len, input: text, output: text, len }) };
        }
    }

    /// How long `work` takes in a child, which does nothing else before.
    fn forked(&self, work: impl FnOnce()) -> Option<Duration> {
        // SAFETY: the child calls nothing that a thread of its parent may have locked, and ends at once.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let start = Instant::now();
                work();
                self.shared.write_volatile(start.elapsed().as_nanos() as u64);
                libc::_exit(0);
            }
            let mut status = 0;
            let waited = libc::waitpid(child, &mut status, 0);
            (waited == child && status == 0).then(|| Duration::from_nanos(self.shared.read_volatile()))
        }
    }
}

/// Of a message of that length, calls in a sample: as many as fastgcm does in [`SAMPLE`] at 12 ns and 16 bytes more each nanosecond.
fn calls(bytes: usize) -> usize {
    (SAMPLE.as_nanos() as usize / (12 + bytes / 16)).max(4)
}

/// From one message in place to the next.
fn stride(shape: &Shape) -> usize {
    (shape.bytes + TAG).next_multiple_of(64) + 64
}

/// How many buffers a sample has: several in place, because what was opened cannot be opened again.
fn slots(shape: &Shape) -> usize {
    if shape.output.is_some() { 1 } else { (IN_PLACE / stride(shape)).clamp(4, 64) }
}

/// Calls that are not measured, before those that are: two of each key at least, and one of each buffer.
pub(super) fn warm(shape: &Shape) -> usize {
    match slots(shape) {
        1 => calls(shape.bytes).min(WARM + 2 * shape.keys),
        slots => slots,
    }
}

fn nanoseconds(total: Duration, calls: usize) -> f64 {
    total.as_nanos() as f64 / calls as f64
}

#[inline(always)]
unsafe fn one(key: &mut Key, message: &Message, open: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if open {
            return key.open(message);
        }
        key.seal(message);
    }
    true
}

/// So many calls, with a nonce that is stored before each.
#[inline(always)]
fn repeat(call: &Call<'_>, keys: &mut [Key], calls: usize, before: impl Fn(usize), after: impl Fn()) -> Duration {
    let (stores, open, mask) = (NONCES[call.shape.nonce].1, call.shape.open, keys.len() - 1);
    let mut ok = true;
    let start = Instant::now();
    for number in 0..calls {
        before(number);
        // SAFETY: the nonce is ours, and `call` is as the message wants it. There are `mask + 1` keys.
        unsafe {
            store(call.nonce, stores);
            ok &= one(keys.get_unchecked_mut(number & mask), &call.message(number), open);
        }
        after();
    }
    let time = start.elapsed();
    assert!(ok, "an authentic message was refused");
    time
}

/// What a call has written is what the next one reads.
fn chain(call: &Call<'_>, keys: &mut [Key], calls: usize) -> Duration {
    let key = &mut keys[0];
    let message = call.message(0);
    let back = Message { input: message.output, output: message.input.cast_mut(), ..message };
    let mut ok = true;
    let start = Instant::now();
    for number in 0..calls {
        // SAFETY: both buffers have room for a tag.
        unsafe {
            if call.shape.open {
                key.seal(&message);
                ok &= key.open(&back);
            } else {
                key.seal(if number % 2 == 0 { &message } else { &back });
            }
        }
    }
    let time = start.elapsed();
    assert!(ok, "an authentic message was refused");
    time
}

/// Stores a nonce, in a function of its own.
///
/// # Safety
/// There are sixteen bytes.
#[inline(never)]
unsafe fn store(nonce: *mut u8, stores: &[(usize, usize)]) {
    for &(at, width) in stores {
        // SAFETY: the caller's promise.
        unsafe {
            let to = nonce.add(at);
            match width {
                1 => to.write_volatile(black_box(1)),
                2 => to.cast::<u16>().write_unaligned(black_box(0x0101)),
                4 => to.cast::<u32>().write_unaligned(black_box(0x0101_0101)),
                8 => to.cast::<u64>().write_unaligned(black_box(0x0101_0101_0101_0101)),
                _ => x86_64::_mm_storeu_si128(to.cast(), x86_64::_mm_set1_epi8(black_box(1))),
            }
        }
    }
}

/// What a caller does with registers of 128 bits.
#[inline(always)]
fn sse() {
    // SAFETY: these instructions change nothing but the registers that are named.
    unsafe {
        asm!("paddd xmm0, xmm1", "paddd xmm2, xmm3", "paddd xmm1, xmm0", "paddd xmm3, xmm2",
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, options(nomem, nostack));
    }
}

/// The upper halves of some registers are not zero from then on.
#[inline(always)]
unsafe fn avx() {
    // SAFETY: as `sse`; and the caller promises AVX2.
    unsafe {
        asm!("vpcmpeqd ymm0, ymm0, ymm0", "vpcmpeqd ymm5, ymm5, ymm5", "vpaddd ymm1, ymm0, ymm5", "vpaddd ymm15, ymm0, ymm1",
            out("ymm0") _, out("ymm1") _, out("ymm5") _, out("ymm15") _, options(nomem, nostack));
    }
}

/// Likewise of 512 bits, and of a register that no `vzeroupper` reaches.
#[inline(always)]
unsafe fn avx512() {
    // SAFETY: as `sse`; and the caller promises AVX-512.
    unsafe {
        asm!("vpternlogd zmm0, zmm0, zmm0, 255", "vpternlogd zmm5, zmm5, zmm5, 255", "vpaddd zmm1, zmm0, zmm5",
            "vpaddd zmm17, zmm0, zmm1",
            out("xmm0") _, out("xmm1") _, out("xmm5") _, out("xmm17") _, options(nomem, nostack));
    }
}

/// A thread on another core, which makes keys.
struct OtherCore {
    key: &'static AtomicPtr<Key>,
    bits: &'static AtomicU64,
    thread: thread::Thread,
}

impl OtherCore {
    /// `None` if there is no other core, or it cannot be had.
    fn new(cores: &CpuSet) -> Option<Self> {
        let here = sched_getcpu();
        let other = (0..CpuSet::MAX_CPU).find(|core| *core != here && cores.is_set(*core))?;
        let key: &'static AtomicPtr<Key> = Box::leak(Box::default());
        let bits: &'static AtomicU64 = Box::leak(Box::default());
        let thread = thread::spawn(move || {
            let mut set = CpuSet::new();
            set.set(other);
            sched_setaffinity(None, &set).expect("a core that this thread may run on");
            loop {
                let given = key.load(Ordering::Acquire);
                if given.is_null() {
                    thread::park();
                    continue;
                }
                // SAFETY: the one who gave it waits until it is given back.
                unsafe { (*given).rekey(&BYTES[..bits.load(Ordering::Relaxed) as usize / 8]) };
                key.store(std::ptr::null_mut(), Ordering::Release);
            }
        });
        Some(Self { key, bits, thread: thread.thread().clone() })
    }

    /// Makes that key there, and waits for it.
    fn rekey(&self, key: *mut Key, bits: usize) {
        self.bits.store(bits as u64, Ordering::Relaxed);
        self.key.store(key, Ordering::Release);
        self.thread.unpark();
        while !self.key.load(Ordering::Acquire).is_null() {
            spin_loop();
        }
    }
}
