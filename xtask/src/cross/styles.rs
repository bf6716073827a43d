//! For `cargo xtask studies`: instructions of the styles that the paper on ThunderX2 is about, on AArch64. The program `fastgcm-study` has
//! the styles; here it is built for that machine, and qemu's log says what it executed.

use super::{
    aarch64::{TRIPLE, arm, prepare},
    target_dir,
    trace::{Program, Record},
};
use crate::package::step;
use std::path::Path;

const ROWS: [&str; 2] = ["aes-neon", "aes-neon-eor3"];
/// As `fastgcm_studies::message::STYLES` calls them: the old one, the new ones, GHASH in a pass of its own and in turn with AES.
const STYLES: [&str; 5] = ["2-way, stack buffer", "4-way, overlapping, folded tag", "5-way, overlapping, folded tag", "two passes", "K'"];
const KEYS: [usize; 3] = [16, 24, 32];
const SIZES: [usize; 3] = [512, 1500, 4096];

/// The table, for the README of `fastgcm-studies`.
pub(crate) fn table(root: &Path) -> Result<String, String> {
    prepare()?;
    step(arm(root, "max").args(["build", "--release", "-p", "fastgcm-studies", "--target", TRIPLE]).current_dir(root.join("lab")))?;
    let program = Program::read(&target_dir(root).join(TRIPLE).join("release/fastgcm-study"))?;
    let mut counts = vec![String::new(); ROWS.len() * STYLES.len()];
    let mut counted = 0;
    for (number, row) in ROWS.iter().enumerate() {
        for key in KEYS {
            let cases = STYLES.iter().flat_map(|style| SIZES.map(|bytes| format!("{style}:{bytes}")));
            let head = ["study-probe", row, &key.to_string(), "13"].map(str::to_owned);
            let messages = program.messages("max", &head.into_iter().chain(cases).collect::<Vec<_>>(), Record::Instructions)?;
            for (message, cells) in messages.chunks(SIZES.len()).zip(&mut counts[number * STYLES.len()..]) {
                message.iter().for_each(|message| *cells += &format!(" {} |", message.len()));
            }
            counted += messages.len();
        }
    }
    let head = KEYS.map(|key| SIZES.map(|bytes| format!(" AES-{} {bytes} |", 8 * key)).concat()).concat();
    let mut table =
        format!("**Instructions executed on AArch64, 13 bytes of AAD**\n\n|  |{head}\n|---|{}\n", "---:|".repeat(KEYS.len() * SIZES.len()));
    for (name, cells) in ROWS.iter().flat_map(|row| STYLES.map(|style| format!("{row}, {style}"))).zip(&counts) {
        table += &format!("| {name} |{cells}\n");
    }
    table += "\n* Counted under qemu, exactly. The paper's gain is latency, which counts cannot show.\n";
    let expected = ROWS.len() * STYLES.len() * KEYS.len() * SIZES.len();
    if counted != expected {
        return Err(format!("{counted} messages were counted, not {expected}"));
    }
    println!("styles on AArch64 ok {counted}");
    Ok(table)
}
