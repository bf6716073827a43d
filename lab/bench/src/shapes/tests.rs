use super::{
    call::{Caller, Ground, warm},
    told::Told,
    *,
};
use plugin::{Message, Rival, TAG, Table};
use std::sync::Mutex;

/// A drawing is the seed's, has four of five of group 1, and everything occurs that there is.
#[test]
fn drawn() {
    let shapes = draw(1, 10_000);
    assert!(shapes == draw(1, 10_000) && shapes != draw(2, 10_000));
    let (ways, specials): (Vec<&Shape>, Vec<&Shape>) = shapes.iter().partition(|shape| shape.special.is_none());
    assert_eq!((ways.len(), specials.len()), (8000, 2000));
    let mut kinds = 0;
    let mut some = |what: &str, of: &[&Shape], wanted: &dyn Fn(&Shape) -> bool| {
        assert!(of.iter().any(|shape| wanted(shape)), "{what}");
        kinds += 1;
    };
    for open in [false, true] {
        for bytes in LENGTHS {
            some("length", &ways, &|shape| shape.open == open && shape.bytes == bytes);
        }
        for (special, _) in SPECIALS {
            for bytes in SOME {
                let wanted = |shape: &Shape| (shape.special, shape.bytes) == (Some(special), bytes) && shape.open == open;
                some("special", &specials, &wanted);
            }
        }
    }
    for nonce in 0..NONCES.len() {
        some("nonce", &ways, &|shape| shape.nonce == nonce);
    }
    for aad in 0..=MOST_AAD {
        some("AAD", &ways, &|shape| shape.aad == aad);
    }
    for keys in [1, 2, 4, 8, 16, 32, 64] {
        some("keys", &ways, &|shape| shape.keys == keys);
    }
    let places = [
        ("page end", (|at| at == At::PageEnd) as fn(At) -> bool),
        ("aligned", |at| matches!(at, At::Offset(offset) if offset % 64 == 0)),
        ("odd", |at| matches!(at, At::Offset(offset) if offset % 2 == 1)),
    ];
    for (name, at) in places {
        some(name, &ways, &|shape| at(shape.input));
        some(name, &ways, &|shape| shape.output.is_some_and(at));
        some(name, &ways, &|shape| at(shape.aad_at));
    }
    some("in place", &ways, &|shape| shape.output.is_none());
    assert!(!ways.iter().any(|shape| shape.is_near()));
    assert!(specials.iter().all(|shape| shape.is_near() == (shape.special == Some(Special::Apart))));
    println!("shapes::drawn ok {kinds}");
}

/// Whoever is called sees what the shape says: where everything lies, in place or not, and the nonce. What is opened is what was sealed.
#[test]
fn called() {
    static SEEN: Mutex<Vec<(bool, usize, [usize; 6])>> = Mutex::new(Vec::new());
    static TABLE: Table = Table::of::<Witness>();
    struct Witness(usize);
    #[inline(never)]
    fn seen(key: &Witness, open: bool, message: &Message) {
        let stack = (&raw const key).addr();
        // SAFETY: the caller's promise.
        assert_eq!(unsafe { message.nonce() }, &[1; 12]);
        let Message { nonce, aad, input, output, .. } = *message;
        let places = [aad.addr(), input.addr(), output.addr(), nonce.addr(), stack, key.0];
        SEEN.lock().unwrap().push((open, message.aad_len, places));
    }
    impl Rival for Witness {
        const NAME: &'static str = "witness";
        fn version() -> String {
            String::new()
        }
        fn new(key: &[u8]) -> Option<Self> {
            static NEXT: Mutex<usize> = Mutex::new(0);
            let mut next = NEXT.lock().unwrap();
            *next += 1;
            Some(Self(*next - 1)).filter(|_| key.len() == 16)
        }
        fn rekey(&mut self, _: &[u8]) {}
        unsafe fn seal(&mut self, message: &Message) {
            seen(self, false, message);
            // SAFETY: as it promises.
            unsafe { *message.tag_out() = [message.len as u8 | 1; TAG] };
        }
        unsafe fn open(&mut self, message: &Message) -> bool {
            seen(self, true, message);
            // SAFETY: as it promises.
            unsafe { *message.tag_in() == [message.len as u8 | 1; TAG] }
        }
    }

    let mut ground = Ground::new(&rustix::thread::sched_getaffinity(None).unwrap());
    let mut caller = Caller::new(&TABLE, 128, 1).unwrap();
    let mut calls = 0;
    for shape in draw(3, 600) {
        let sampled = ground.sample(&mut caller, &shape).is_some();
        let seen = std::mem::take(&mut *SEEN.lock().unwrap());
        if !sampled || shape.special == Some(Special::Forked) {
            continue;
        }
        // What is to be opened is sealed first, by the first key.
        let seen = &seen[usize::from(shape.open) + warm(&shape)..];
        assert!(!seen.is_empty(), "{shape}");
        let place = |at: At, len: usize| match at {
            At::Offset(offset) => offset,
            At::PageEnd => (PAGE - len % PAGE) % PAGE,
        };
        for (number, &(open, aad_len, [aad, input, output, nonce, stack, key])) in seen.iter().enumerate() {
            calls += 1;
            let at = |address: usize| address % PAGE;
            assert_eq!((aad_len, at(aad)), (shape.aad, place(shape.aad_at, shape.aad)), "{shape}");
            if shape.special == Some(Special::Chained) {
                assert!(number == 0 || input == seen[number - 1].2[2], "{shape}");
                continue;
            }
            assert_eq!(open, shape.open, "{shape}");
            match shape.output {
                None => assert!(input == output && (number > 0 || at(input) == place(shape.input, 0)), "{shape}"),
                Some(to) => {
                    assert_eq!(at(input), place(shape.input, shape.bytes + shape.tag_in()), "{shape}");
                    assert_eq!(at(output), place(to, shape.bytes + TAG), "{shape}");
                }
            }
            assert!(shape.nonce == 0 || at(nonce) == shape.nonce_at, "{shape}");
            let first = shape.key - (shape.key + shape.keys).saturating_sub(KEYS);
            assert_eq!(key, first + number % shape.keys, "{shape}");
            let once = matches!(shape.special, Some(Special::Cold | Special::OtherCore));
            // Some frames further down.
            assert!(once || at(shape.stack.wrapping_sub(stack)) < 2560, "{shape}: {stack:#x}");
        }
    }
    println!("shapes::called ok {calls}");
}

/// One that takes three times as long at page ends and twice as long when cold is told so, by name; the other is not.
#[test]
fn told() {
    let shapes = draw(1, 10_000);
    let times = shapes.iter().map(|shape| {
        let pair = shape.special == Some(Special::Chained) && shape.open;
        let usual = (10.0 + shape.bytes as f64 / 10.0) * if pair { 2.0 } else { 1.0 };
        let slow = match shape.special {
            Some(Special::Cold) => 2.0,
            None if shape.aad_at == At::PageEnd && shape.bytes == 64 => 3.0,
            _ => 1.0,
        };
        vec![Some(usual * slow), Some(usual)]
    });
    let told = Told { contenders: vec!["slow".into(), "even".into()], times: times.collect(), shapes };
    let text = told.tables(5);
    let line = |begin: &str| text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin}"));
    assert_eq!(line("| 64 |"), "| 64 | 3.00 (16.4) | 1.00 (16.4) |");
    assert_eq!(line("| 256 |"), "| 256 | 1.00 (35.6) | 1.00 (35.6) |");
    assert_eq!(line("| the worst length |"), "| the worst length | 3.00 | 1.00 |");
    assert_eq!(line("| the worst length, with"), "| the worst length, with about as much AAD | 3.00 | 1.00 |");
    assert!(line("| AAD at a page's end |").contains("| 1.00 3.00 | 1.00 1.00 |"));
    assert!(line("| cold caches, seal |").starts_with("| cold caches, seal | 2.00 2.00 ("));
    assert!(line("| caller with SSE, open |").starts_with("| caller with SSE, open | 1.00 1.00 ("));
    // Two rows of eighteen are 2: the eighteenth root of 4.
    assert_eq!(line("| geometric mean |"), "| geometric mean | 1.08 1.08 | 1.00 1.00 |");
    let named: Vec<&str> = text.lines().filter(|line| line.starts_with("| #")).collect();
    let right = |line: &&str| line.contains(" 64 bytes ") && line.contains(" at page end, nonce ") && line.ends_with("| 3.00 | 1.00 |");
    assert!(named.len() == 5 && named.iter().all(right), "{named:?}");
    println!("shapes::told ok {}", told.csv().lines().count() - 1);
}
