//! One message on all cores, and a way to stop it.
//!
//! ```text
//! cargo run --release --features rayon --example threads
//! ```

use core::ops::ControlFlow;
use fastgcm::{Error, Key};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

/// Bytes of the message.
const LENGTH: usize = 64 << 20;

fn main() -> Result<(), Error> {
    // Fixed, so that the example seals the same every time. Never do that: see `one_shot` for a random one.
    let key = Key::aes256(&[0x42; 32]);
    let mut text = vec![b'a'; LENGTH];

    let begun = Instant::now();
    let tag = key.seal([1; 12], b"", &mut text)?;
    let one = begun.elapsed();
    key.open([1; 12], b"", &mut text, &tag)?;

    // The same message, bit for bit, whoever seals it.
    let begun = Instant::now();
    let of_all = key.parallel().seal([1; 12], b"", &mut text)?;
    println!("64 MiB: {one:?} on one core, {:?} on all", begun.elapsed());
    assert_eq!(of_all, tag);
    key.parallel().open([1; 12], b"", &mut text, &tag)?;

    // `watch` is called with the bytes that are done, from any of the threads. Whoever stops a message finds the text as it was.
    let calls = AtomicUsize::new(0);
    let watch = |done: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
        if done < LENGTH / 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    assert_eq!(key.parallel().watch(&watch).seal([2; 12], b"", &mut text).err(), Some(Error::Stopped));
    assert!(text.iter().all(|byte| *byte == b'a'));
    println!("stopped in the middle, after {} parts", calls.into_inner());
    Ok(())
}
