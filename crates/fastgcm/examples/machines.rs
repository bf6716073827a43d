//! One message that two machines seal, part by part. Here both are threads, and the network is a pair of channels.
//!
//! ```text
//! cargo run --features hazmat --example machines
//! ```

use fastgcm::{
    Error, Key,
    hazmat::{PartHash, Plan, seal_part},
};
use std::{sync::mpsc, thread};

/// Bytes of the text, and of a part.
const TEXT: usize = 1_000_000;
const PART: usize = 256 << 10;

/// What travels to the plan: `PartHash::to_bytes`. It is as secret as the key, so a network carries it under encryption.
type Report = [u8; PartHash::LEN];

fn main() -> Result<(), Error> {
    // Fixed, so that the example prints the same every time. Never do that: see `one_shot` for a random one.
    let key = Key::aes256(&[0x42; 32]);
    let text: Vec<u8> = (0..TEXT).map(|i| i as u8).collect();

    // One machine plans: which nonce, and which parts.
    let mut plan = Plan::new([1; 12], TEXT as u64, PART as u64)?;
    let (reports, inbox) = mpsc::channel();
    let parts: Vec<_> = plan.parts().map(|part| part.start as usize..part.end as usize).collect();

    // Two machines take turns. Each one has the key and its parts of the text.
    let machines: Vec<_> = (0..2)
        .map(|machine| {
            let mine = parts.iter().skip(machine).step_by(2).map(|part| (part.start, text[part.clone()].to_vec())).collect();
            let (key, nonce, reports) = (key.clone(), plan.nonce(), reports.clone());
            thread::spawn(move || seal_parts(&key, nonce, mine, &reports))
        })
        .collect();
    drop(reports);

    // The plan takes a part once. The same part with another text would be an error (`OtherText`), and give both texts away if it were sent.
    for report in inbox {
        plan.accept(PartHash::from_bytes(&report)?)?;
    }
    assert_eq!(plan.missing().count(), 0);
    let tag = plan.tag(&key, b"header")?;

    // What the machines hold is the ciphertext that one machine would have made.
    let mut sealed = vec![0; TEXT];
    for machine in machines {
        for (offset, part) in machine.join().expect("a machine")? {
            sealed[offset..offset + part.len()].copy_from_slice(&part);
        }
    }
    key.open([1; 12], b"header", &mut sealed, &tag)?;
    assert_eq!(sealed, text);
    println!("{} parts of two machines are one message", parts.len());
    Ok(())
}

/// Where a part begins, and its text or ciphertext.
type Part = (usize, Vec<u8>);

/// Seals parts in memory, and reports each one.
fn seal_parts(key: &Key, nonce: [u8; 12], mut parts: Vec<Part>, reports: &mpsc::Sender<Report>) -> Result<Vec<Part>, Error> {
    for (offset, part) in &mut parts {
        let hash = seal_part(key, nonce, *offset as u64, part)?;
        reports.send(hash.to_bytes()).map_err(|_| Error::Stopped)?;
    }
    Ok(parts)
}
