//! The plan of each width as a table, and a walk through every length and state.

extern crate std;
use super::*;
use std::{format, fs, string::String, vec::Vec};

/// Which way a message goes, put together from the decisions for which the code asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    header: &'static str,
    has_turns: bool,
    has_step: bool,
    class: Class,
}

fn plan(blocks: usize, aad: usize, text: usize) -> Plan {
    let max_text = max_text(blocks);
    let header = if is_end(max_end(blocks), aad, text) { "in the end" } else { "hashed first" };
    // What turns leave: more than nothing, and at most the bytes of a turn.
    let left = if text > max_text { (text - 1) % max_text + 1 } else { text };
    let has_step = has_step(blocks, left);
    let last = if has_step { left - 16 * STEP * blocks } else { left };
    let class = Class::of(blocks, last).expect("a class for each number of bytes");
    Plan { header, has_turns: text > max_text, has_step, class }
}

/// Walks through each length, from no text to several turns, behind each length of AAD: there is a way for
/// it, and a power for each of its blocks.
#[test]
fn every_length_has_a_way() {
    let mut messages = 0;
    for blocks in [1, 2, 4] {
        for text in 0..=3 * max_text(blocks) + 17 * blocks {
            for aad in (0..=700).step_by(if text % 16 < 2 { 1 } else { 41 }) {
                let Plan { header, has_turns, has_step, class } = plan(blocks, aad, text);
                let left = if has_turns { (text - 1) % max_text(blocks) + 1 } else { text };
                assert_eq!(class == Class::Empty, text == 0);
                assert!(left <= max_text(blocks) && has_step == (left > max_text(blocks) / 2));
                // The end of a message that has begun has its hash in place of AAD.
                let ahead = if header == "hashed first" { 1 } else { super::blocks(aad) };
                assert!(ahead + super::blocks(left) < max_powers(blocks), "{aad} + {text} bytes");
                assert!(powers(blocks, aad, text) <= max_powers(blocks));
                messages += 1;
            }
        }
    }
    assert!(messages > 200_000);
}

/// docs/plan.md has the plan of each width.
#[test]
fn the_page_shows_the_plan() {
    let mut tables = String::new();
    for (blocks, rows) in [(4, "`vaes-avx512`"), (2, "`vaes-avx2`"), (1, "`aesni-avx`, `aesni-sse`, AArch64")]
    {
        tables += &format!("\n{rows}: {blocks} block{} a vector\n\n", if blocks == 1 { "" } else { "s" });
        tables += "| turns | a step of four vectors | bytes of text, and the last vectors |\n|---|---|---|\n";
        let all: Vec<Plan> = (0..=2 * max_text(blocks)).map(|text| plan(blocks, 0, text)).collect();
        let (mut from, mut row) = (0, None);
        for to in 0..all.len() {
            if all.get(to + 1) != Some(&all[to]) {
                let Plan { has_turns, has_step, class, .. } = all[to];
                let yes = |is: bool| if is { "yes" } else { "" };
                let range = if from == to { format!("{to}") } else { format!("{from}-{to}") };
                if row == Some((has_turns, has_step)) {
                    tables += ", ";
                } else {
                    tables += if row.is_some() { " |\n" } else { "" };
                    tables += &format!("| {} | {} | ", yes(has_turns), yes(has_step));
                }
                tables += &format!("{range} {class:?}");
                (from, row) = (to + 1, Some((has_turns, has_step)));
            }
        }
        tables += " |\n";
        tables += &format!(
            "\nAAD of up to {} bytes shares a vector with the lengths. AAD belongs to the end while AAD and text have at most {} blocks\n\
             and the text at most {} bytes. Else it is hashed first.\n",
            beside_lengths(blocks),
            max_end(blocks).0,
            max_end(blocks).1
        );
    }
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plan.md")).unwrap_or_default();
    assert!(page.ends_with(&tables), "docs/plan.md should end with\n{tables}");
}
