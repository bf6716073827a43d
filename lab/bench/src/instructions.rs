//! Instructions for one message, counted: this program runs itself, an instruction at a time, from just before a call to just after it. Time
//! moves with the machine; these counts are the same each time.
//!
//! As in the main table: a key that is ready, 12 bytes of AAD, aligned buffers, from one to another. The same message has gone before, so that
//! nothing is counted that is done only once. The call through the table, its arguments, and comparing the tag are counted for all.

use crate::{
    buffer::Buffer,
    level,
    peer::{self, Key, Library, Loaded, TAG},
    work::{Peer, Place, Verb},
};
use aead_load::Built;
use fastgcm_step::marker;
use std::{env, path::Path};

const SIZES: [usize; 6] = [16, 64, 128, 256, 512, 1420];
const KEYS: [usize; 2] = [16, 32];
const VERBS: [Verb; 2] = [Verb::Seal, Verb::Open];
static NONCE: [u8; 12] = [1; 12];
static AAD: [u8; 12] = [2; 12];

/// A table for each level, in Markdown: a row for each verb, key and contender, a column for each size. Returns how many messages were counted.
pub(crate) fn print(libraries: &[Library]) -> Result<usize, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut columns: Vec<(Loaded, Vec<u64>)> = Vec::new();
    for library in libraries {
        let object = &library.built.object;
        let arguments = ["--messages".into(), object.to_string_lossy().into_owned()];
        let counts = fastgcm_step::count(&program, &arguments)?;
        let peers = contenders(library)?;
        let [empty, counts @ ..] = &counts[..] else { return Err("nothing was counted".into()) };
        if counts.len() != peers.len() * VERBS.len() * KEYS.len() * SIZES.len() {
            return Err(format!("{}: {} messages were counted", object.display(), counts.len()));
        }
        let each = counts.len() / peers.len().max(1);
        columns.extend(peers.into_iter().zip(counts.chunks(each.max(1))).map(|(peer, counts)| {
            // What two markers without anything between them take.
            (peer, counts.iter().map(|count| count - empty).collect())
        }));
    }
    for level in level::names().into_iter().filter(|level| columns.iter().any(|(peer, _)| peer.level() == *level)) {
        let head: String = SIZES.iter().map(|size| format!(" {size} |")).collect();
        println!("\n| {level}, instructions |{head}\n|---|{}", "---:|".repeat(SIZES.len()));
        let rows = VERBS.iter().flat_map(|verb| KEYS.iter().map(move |key| format!("AES-{} {verb}", key * 8)));
        for (row, what) in rows.enumerate() {
            for (peer, counts) in columns.iter().filter(|(peer, _)| peer.level() == level) {
                let cells: String = counts[row * SIZES.len()..][..SIZES.len()].iter().map(|count| format!(" {count} |")).collect();
                println!("| {what}, {} |{cells}", peer.name());
            }
        }
    }
    Ok(columns.iter().map(|(_, counts)| counts.len()).sum())
}

/// The child's part: each message once, between two markers, after a pair with nothing between them.
pub(crate) fn messages(object: &Path) -> Result<(), String> {
    let most = SIZES.into_iter().max().unwrap_or(0) + TAG;
    let (one, two) = (Buffer::new(most, 0), Buffer::new(most, 33 * 64));
    let built = Built { object: object.into(), ..Built::default() };
    let peers = contenders(&Library { name: String::new(), built, ours: false })?;
    marker();
    marker();
    for peer in &peers {
        for verb in VERBS {
            for bytes in KEYS {
                let mut key = peer.table().and_then(|table| Key::new(table, &[7; 32][..bytes])).ok_or("it makes no key")?;
                for len in SIZES {
                    let (input, output) = (one.at(Place::Aligned, len + TAG), two.at(Place::Aligned, len + TAG));
                    let aad = (AAD.as_ptr(), AAD.len());
                    let mut message = peer::message(NONCE.as_ptr(), aad, input, output, len, output.wrapping_add(len));
                    // SAFETY: buffers with room for the text and a tag; nonce and AAD are static.
                    unsafe {
                        key.seal(&message);
                        if verb == Verb::Seal {
                            marker();
                            key.seal(&message);
                            marker();
                        } else {
                            (message.input, message.output) = (output, input);
                            assert!(key.open(&message), "an authentic message was refused");
                            marker();
                            let opened = key.open(&message);
                            marker();
                            assert!(opened, "an authentic message was refused");
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Those with AES instructions, each once. The others take so many instructions that counting them takes minutes.
fn contenders(library: &Library) -> Result<Vec<Loaded>, String> {
    let (mut peers, _) = peer::load(library)?;
    peers.retain(|peer| !matches!(peer.level().as_str(), "vpaes-ssse3" | "portable") && !peer.name().ends_with(" again"));
    Ok(peers)
}
