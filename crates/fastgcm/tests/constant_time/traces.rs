//! The same call with other secrets has the same trace.

use crate::{
    backends::{backends, for_each_backend},
    call::{Call, LONGEST, Public},
    suite::{emulated, full, gate, passed, quick},
    trace::{Trace, Tracer},
    verbs::{named, table},
};
use fastgcm::Backend;
use std::hint::black_box;

/// Every number of vectors in a tail on every back end, with and without a part of a block; turns; a counter that leaves its low byte.
const LENGTHS: [usize; 40] = [
    0, 1, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 95, 96, 100, 112, 127, 128, 129, 144, 160, 191, 192, 200, 255, 256, 257, 300, 384,
    511, 512, 513, 576, 600, 1023, 1024, 1420, 4500,
];

/// Lengths for an emulated processor, where a step takes as long as thirty here.
const DOZEN: [usize; 12] = [0, 1, 16, 33, 64, 100, 200, 255, 257, 384, 600, 1100];

/// A few of them, for what takes long.
const SOME: [usize; 6] = [0, 16, 33, 100, 200, 600];

/// Returns whether a back end computes AES without instructions for it: each call executes many.
fn in_software(backend: Backend) -> bool {
    matches!(backend, Backend::Portable | Backend::VpaesSsse3 | Backend::VpaesNeon | Backend::VpaesSimd128)
}

/// How much is tried.
struct Plan {
    secrets: u64,
    /// Bytes of keys that are set up.
    keys: &'static [usize],
    lengths: &'static [usize],
    others: &'static [usize],
    /// Also nonces of other lengths, and the other verbs.
    verbs: bool,
}

impl Plan {
    /// A sample, which takes seconds; all of it, minutes, with `FASTGCM_FULL`. `portable` executes a hundred times as many instructions as a row
    /// with those for AES, and `vpaes-ssse3` twenty times as many: a smaller sample, without the other verbs, of which valgrind sees each there. In the
    /// released build the gate tries more.
    fn of(backend: Backend) -> Self {
        let keys = if emulated() { &[32][..] } else { &[16, 24, 32] };
        let verbs = !in_software(backend) || full();
        match backend {
            Backend::Portable if full() => Self { secrets: 2, keys, lengths: &LENGTHS, others: &SOME[1..4], verbs },
            Backend::Portable if !gate() => Self { secrets: 2, keys: &keys[..1], lengths: &SOME[1..2], others: &SOME[1..2], verbs },
            Backend::Portable => Self { secrets: 2, keys, lengths: &SOME[1..3], others: &SOME[1..2], verbs },
            Backend::VpaesSsse3 | Backend::VpaesNeon if full() => Self { secrets: 4, keys, lengths: &LENGTHS, others: &SOME, verbs },
            Backend::VpaesSsse3 | Backend::VpaesNeon => Self { secrets: 2, keys, lengths: &SOME[1..3], others: &SOME[1..2], verbs },
            _ if full() => Self { secrets: 16, keys, lengths: &LENGTHS, others: &SOME, verbs },
            _ if emulated() => Self { secrets: 3, keys, lengths: &DOZEN, others: &SOME[2..3], verbs },
            _ if !gate() => Self { secrets: 2, keys, lengths: &SOME, others: &SOME[2..3], verbs },
            _ => Self { secrets: 4, keys, lengths: &DOZEN, others: &[33, 600], verbs },
        }
    }
}

/// Lengths of keys and of AAD take their turns with the lengths of texts.
fn public(function: &str, nonce: usize, text: usize) -> Public {
    const AADS: [usize; 9] = [0, 13, 65, 16, 100, 48, 200, 20, 64];
    Public::new(named(function), [[16, 24, 32][text % 3], nonce, AADS[(text / 3 + nonce) % AADS.len()], text])
}

/// What differs between two calls, beside nothing.
struct Same {
    tracer: Tracer,
    call: Call,
    /// Traces that were held against another.
    compared: usize,
    steps: usize,
}

impl Same {
    fn new(backend: Backend) -> Self {
        Self { tracer: Tracer::default(), call: Call::new(backend), compared: 0, steps: 0 }
    }

    fn trace(&mut self, public: Public, secret: u64) -> Trace {
        // Once before: whatever is found out once and kept is known then (which fault is planted, for one).
        self.call.prepare(public, secret);
        self.call.perform();
        self.call.prepare(public, secret);
        let trace = self.tracer.trace(&mut self.call, Call::perform);
        assert_eq!(self.call.verdict, public.wrong.is_none());
        let trace = trace.unwrap_or_else(|why| panic!("{:?}, {public:?}: {why}", self.call.keys.key));
        self.steps += trace.steps;
        trace
    }

    /// The first secret's trace is the trace of all.
    fn for_all_secrets(&mut self, public: Public, secrets: u64) {
        let first = self.trace(public, 0);
        assert!(first.steps > 100, "{public:?}: {} steps", first.steps);
        for secret in 1..secrets {
            self.same(first, (public, 0), (public, secret));
        }
    }

    fn same(&mut self, expected: Trace, a: (Public, u64), b: (Public, u64)) {
        if self.trace(b.0, b.1) != expected {
            let [first, second] = [a, b].map(|(public, secret)| {
                self.call.prepare(public, secret);
                self.tracer.steps(&mut self.call, Call::perform)
            });
            panic!("{:?}: {a:?} and {b:?} part at {}", self.call.keys.key, self.tracer.parting(&first, &second));
        }
        self.compared += 1;
    }
}

/// F15: no address and no branch depends on a secret, whatever is done and however long it is.
#[test]
fn f15_traces_tell_nothing_of_secrets() {
    the_control_is_caught();
    for_each_backend(|backend| {
        let (plan, mut same) = (Plan::of(backend), Same::new(backend));
        let mut expected = 0;
        let mut all = |same: &mut Same, public: Public| {
            same.for_all_secrets(public, plan.secrets);
            expected += plan.secrets as usize - 1;
        };
        for &key in plan.keys {
            all(&mut same, Public { key, ..public("Key::rekey", 12, 0) });
        }
        for &length in plan.lengths {
            all(&mut same, public("Key::seal", 12, length));
            all(&mut same, public("Key::open", 12, length));
        }
        // A nonce of any other length makes the first counter as secret as H.
        for &length in plan.others.iter().filter(|_| plan.verbs) {
            for nonce in [1, 8, 16, 60] {
                all(&mut same, public("Key::seal", nonce, length));
                all(&mut same, public("Key::open", nonce, length));
            }
            all(&mut same, public("Key::seal_to", 12, length));
            // The shorter ones without AAD have powers in registers.
            for verb in ["Backend::seal_once", "Backend::open_once"] {
                all(&mut same, public(verb, 12, length));
                all(&mut same, Public { aad: 5, ..public(verb, 12, length) });
            }
            // In pieces, which end anywhere, with a counter that is public and with one that is secret.
            for nonce in [12, 16] {
                all(&mut same, public("Sealer::seal", nonce, length));
                all(&mut same, public("Key::open_chunks", nonce, length));
            }
            all(&mut same, public("Key::open_verified_first", 12, length));
            all(&mut same, public("Key::open_verified_first", 16, length));
        }
        println!("{backend}: {} steps", same.steps);
        passed(&format!("constant_time::traces/{backend}"), same.compared, expected);
    });
}

/// A message of many turns: in the gate, since it has half a million instructions.
#[test]
fn f15_traces_of_a_very_long_message() {
    if quick() {
        return;
    }
    for backend in backends().into_iter().filter(|&backend| !in_software(backend)) {
        let length = if backend.name().starts_with("vaes") { LONGEST } else { 66_000 };
        let mut same = Same::new(backend);
        same.for_all_secrets(Public { key: 32, ..public("Key::seal", 12, length) }, 3);
        passed(&format!("constant_time::traces_of_a_very_long_message/{backend}"), same.compared, 2);
    }
}

/// F14: until the verdict is given, nothing tells in which byte a tag is wrong. (What follows it, the wiping, is the same for all too.)
#[test]
fn f14_traces_do_not_tell_where_a_tag_is_wrong() {
    for_each_backend(|backend| {
        let (plan, mut same) = (Plan::of(backend), Same::new(backend));
        let mut expected = 0;
        for (length, nonce) in plan.others.iter().flat_map(|&length| [(length, 12), (length, 16)]) {
            let in_byte = |byte| Public { wrong: Some(byte), ..public("Key::open", nonce, length) };
            let first = same.trace(in_byte(0), 0);
            for (byte, secret) in [0, 1, 7, 8, 14, 15].into_iter().zip(1..) {
                same.same(first, (in_byte(0), 0), (in_byte(byte), secret));
                expected += 1;
            }
        }
        passed(&format!("constant_time::f14_traces/{backend}"), same.compared, expected);
    });
}

/// F14, F15: the same of every other verb, with AAD of many lengths: those that open are given a right tag, then tags that are wrong here and
/// there.
#[test]
fn f14_f15_traces_of_every_verb() {
    for_each_backend(|backend| {
        if !Plan::of(backend).verbs {
            return;
        }
        let mut same = Same::new(backend);
        let (cases, secrets) = match (full(), emulated()) {
            (true, _) => (&EVERY_VERB[..], 3),
            (false, true) => (&EVERY_VERB[..1], 2),
            (false, false) => (&EVERY_VERB[..3], 2),
        };
        let mut expected = 0;
        for verb in table().iter().filter(|verb| verb.runs_on(backend)) {
            for &(aad, text) in cases {
                let public = Public::new(verb, [32, 12, aad, text]);
                same.for_all_secrets(public, secrets);
                expected += secrets as usize - 1;
                if !verb.opens() {
                    continue;
                }
                let in_byte = |byte| Public { wrong: Some(byte), ..public };
                let first = same.trace(in_byte(0), 0);
                for (secret, byte) in (1..secrets).zip([verb.tag - 1, 1]) {
                    same.same(first, (in_byte(0), 0), (in_byte(byte), secret));
                    expected += 1;
                }
            }
        }
        println!("{backend}: {} steps", same.steps);
        passed(&format!("constant_time::traces_of_every_verb/{backend}"), same.compared, expected);
    });
}

/// Bytes of AAD and of text. The second and the third meet powers of their own, in vectors of one block and of four.
const EVERY_VERB: [(usize, usize); 8] = [(13, 20), (65, 20), (300, 20), (65, 100), (200, 600), (0, 0), (100, 1420), (16, 128)];

/// Nothing is kept from one message to the next: the hundredth under a key goes the way of the first.
#[test]
fn f15_traces_of_later_messages() {
    for_each_backend(|backend| {
        let (plan, mut same) = (Plan::of(backend), Same::new(backend));
        let mut expected = 0;
        for &length in plan.others {
            let public = public("Key::seal", 12, length);
            let first = same.trace(public, 2);
            for number in 2..=100 {
                if number > 3 && number < 100 {
                    same.call.perform();
                    continue;
                }
                let later = same.tracer.trace(&mut same.call, Call::perform);
                assert!(same.call.verdict && later == Ok(first), "message {number} of {:?}, {length} bytes", same.call.keys.key);
                same.compared += 1;
                expected += 1;
            }
        }
        passed(&format!("constant_time::traces_of_later_messages/{backend}"), same.compared, expected);
    });
}

/// What a leak is, in each of its forms: found in each, or the tracer is blind.
fn the_control_is_caught() {
    extern "sysv64" fn lookup(secret: &mut u8) {
        static TABLE: [u8; 256] = [7; 256];
        black_box(black_box(&TABLE)[usize::from(*secret)]);
    }
    extern "sysv64" fn branch(secret: &mut u8) {
        if *secret & 1 == 1 {
            black_box(1);
        }
    }
    extern "sysv64" fn early_exit(secret: &mut u8) {
        black_box(black_box([*secret, 1, 2, 3]).iter().position(|&byte| byte == 2));
    }
    extern "sysv64" fn division(secret: &mut u8) {
        black_box(1_000_000_007 / black_box(u64::from(*secret) + 3));
    }
    extern "sysv64" fn nothing(secret: &mut u8) {
        black_box(black_box(*secret).count_ones());
    }
    let (mut tracer, mut secret) = (Tracer::default(), 0);
    let mut trace = |leak, value| {
        secret = value;
        tracer.trace(&mut secret, leak)
    };
    let mut differ = |leak| trace(leak, 2).unwrap() != trace(leak, 5).unwrap();
    let found = [differ(lookup), differ(branch), differ(early_exit), differ(division), differ(nothing)];
    assert_eq!(found, [true, true, true, true, false], "table, branch, early exit, division, nothing");
    passed("constant_time::the_control_is_caught", 5, 5);
}
