//! Calls an implementation for one message: places the buffers, and detects out-of-bounds accesses.

use crate::{
    cases::{Buffers, Case, Sealed},
    memory::Arena,
    peer::Answer,
};
use aead_plugin::{Message, Table};
use std::{
    ffi::c_void,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

/// The position of the tag.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Layout {
    /// The tag has a buffer of its own.
    Apart,
    /// The tag follows the text.
    Behind,
}

/// Calls `seal` or `open` once through `call`, which returns true if the message was not refused.
pub(crate) fn whole(
    layout: Layout,
    case: &Case,
    arena: &mut Arena,
    call: &mut dyn FnMut(&Message, &Arena) -> Result<bool, String>,
) -> Result<Answer, String> {
    let (nonce, aad, tag, mut text) = (case.nonce(), case.aad(), case.tag(), case.input());
    let length = text.len();
    let behind = layout == Layout::Behind;
    let shared = case.buffers != Buffers::Two;
    // If the tag follows the text, the input has a tag to open, or the output has room for it.
    if behind && !case.seals {
        text.extend(&tag);
    }
    let slack = if behind && (case.seals || shared) { case.tag } else { 0 };
    let nonce_at = arena.nonce.put(case.place, &nonce);
    let aad_at = arena.aad.put(case.place, &aad);
    let mut tag_at = if case.seals { arena.tag.place(case.place, case.tag, 0) } else { arena.tag.put(case.place, &tag) };
    if case.seals {
        arena.tag.bytes_mut().fill(0x5a);
    }
    // The distance from input to output in one buffer.
    let by = if let Buffers::Shifted(by) = case.buffers { isize::from(by) } else { 0 };
    let (from, to) = ((-by).max(0).unsigned_abs(), by.max(0).unsigned_abs());
    let output = arena.output.place(case.place, length + from.max(to), slack);
    arena.output.bytes_mut().fill(0x5a);
    let input = if shared {
        arena.output.bytes_mut()[from..from + text.len()].copy_from_slice(&text);
        output.wrapping_add(from).cast_const()
    } else {
        arena.input.put(case.place, &text).cast_const()
    };
    let output = output.wrapping_add(to);
    if behind {
        tag_at = if case.seals { output.wrapping_add(length) } else { input.cast_mut().wrapping_add(length) };
    }
    let message = Message {
        nonce: nonce_at,
        nonce_length: nonce.len(),
        aad: aad_at,
        aad_length: aad.len(),
        input,
        output,
        length,
        tag: tag_at,
        tag_length: case.tag,
    };
    let done = call(&message, arena)?;
    let written = arena.output.bytes();
    let made = if behind { written.get(to + length..to + length + case.tag) } else { Some(arena.tag.bytes()) };
    let mut answer =
        Answer { done, output: written[to..to + length].to_vec(), tag: made.unwrap_or_default().to_vec(), ..Answer::default() };
    let unchanged: [(&str, bool); 4] = [
        ("nonce", arena.nonce.bytes() == nonce),
        ("AAD", arena.aad.bytes() == aad),
        ("tag", case.seals || behind || arena.tag.bytes() == tag),
        ("input", shared || arena.input.bytes() == text),
    ];
    answer.outside.extend(unchanged.iter().filter(|(_, same)| !same).map(|(name, _)| format!("changes the {name}")));
    let used: &[_] = if shared { &[0, 1, 2, 4, 5] } else { &[0, 1, 2, 3, 4, 5] };
    answer.outside.extend(used.iter().filter_map(|i| arena.all()[*i].touched()));
    Ok(answer)
}

/// Runs four threads with one key: two seal, one opens, and one must refuse a forgery.
pub(crate) fn by_threads(table: &Table, behind: bool, key: *mut c_void, of: &Sealed, other: &Sealed) -> Option<String> {
    const ITERATIONS: usize = 50;
    let (key, wrong) = (key.expose_provenance(), AtomicBool::new(false));
    let turn = &|of: &Sealed, seals: bool, forged: bool| {
        let (length, mut tag) = (of.text.len(), of.tag.clone());
        tag[3] ^= u8::from(forged);
        // Each text has room for a tag, for implementations without a separate buffer for the tag.
        let (mut input, mut output) = (if seals { of.text.clone() } else { of.sealed.clone() }, vec![0; length + tag.len()]);
        input.extend(&tag);
        let tag_at = match (behind, seals) {
            (true, true) => output[length..].as_mut_ptr(),
            (true, false) => input[length..].as_mut_ptr(),
            (false, _) => tag.as_mut_ptr(),
        };
        let message = Message {
            nonce: of.nonce.as_ptr(),
            nonce_length: of.nonce.len(),
            aad: of.aad.as_ptr(),
            aad_length: of.aad.len(),
            input: input.as_ptr(),
            output: output.as_mut_ptr(),
            length,
            tag: tag_at,
            tag_length: of.tag.len(),
        };
        let function = if seals { table.seal } else { table.open };
        // SAFETY: buffers of these lengths, and a key that offers threads.
        let done = unsafe { function.expect("offered")(std::ptr::with_exposed_provenance_mut(key), &message) } != 0;
        let made = if behind { &output[length..] } else { &tag };
        let right = if seals { output[..length] == of.sealed && made == of.tag } else { forged || output[..length] == of.text };
        if done == forged || !right {
            wrong.store(true, Relaxed);
        }
    };
    thread::scope(|scope| {
        for (of, seals, forged) in [(of, true, false), (other, true, false), (other, false, false), (of, false, true)] {
            scope.spawn(move || (0..ITERATIONS).for_each(|_| turn(of, seals, forged)));
        }
    });
    wrong.load(Relaxed).then(|| "gives another answer to threads".into())
}

/// A message in pieces, in progress.
pub(crate) struct Running<'a> {
    pub(crate) table: &'a Table,
    pub(crate) run: *mut c_void,
    pub(crate) case: &'a Case,
    pub(crate) arena: &'a mut Arena,
    pub(crate) tag: &'a [u8],
}

impl Running<'_> {
    pub(crate) fn aads(&mut self, pieces: &[usize], mut aad: &[u8], answer: &mut Answer) -> bool {
        pieces.iter().all(|len| {
            let (piece, rest) = aad.split_at(*len);
            aad = rest;
            let at = self.arena.aad.put(self.case.place, piece);
            // SAFETY: a run that `begin` made, and a buffer of this length.
            let done = unsafe { self.table.aad.expect("offered")(self.run, at, *len) } != 0;
            answer.outside.extend(self.arena.aad.touched());
            answer.outside.extend((self.arena.aad.bytes() != piece).then(|| "changes the AAD".into()));
            done
        })
    }

    /// Processes pieces of text, each at the place of the case.
    pub(crate) fn texts(&mut self, pieces: &[usize], mut input: &[u8], answer: &mut Answer) -> bool {
        pieces.iter().all(|len| {
            let (piece, rest) = input.split_at(*len);
            input = rest;
            let output = self.arena.output.place(self.case.place, *len, 0);
            let in_place = self.case.buffers == Buffers::InPlace;
            let from = if in_place {
                self.arena.output.bytes_mut().copy_from_slice(piece);
                output
            } else {
                self.arena.output.bytes_mut().fill(0x5a);
                self.arena.input.put(self.case.place, piece)
            };
            // SAFETY: a run that `begin` made, and two buffers of this length.
            let done = unsafe { self.table.update.expect("offered")(self.run, from, output, *len) } != 0;
            answer.output.extend(self.arena.output.bytes());
            answer.outside.extend(self.arena.output.touched());
            if !in_place {
                answer.outside.extend(self.arena.input.touched());
                answer.outside.extend((self.arena.input.bytes() != piece).then(|| "changes the input".into()));
            }
            done
        })
    }

    pub(crate) fn finish(&mut self, answer: &mut Answer) -> bool {
        let at = self.arena.tag.put(self.case.place, &if self.case.seals { vec![0x5a; self.tag.len()] } else { self.tag.to_vec() });
        // SAFETY: a run that `begin` made, and a tag of this length.
        let done = unsafe { self.table.finish.expect("offered")(self.run, at, self.case.tag) } != 0;
        answer.tag = self.arena.tag.bytes().to_vec();
        answer.outside.extend(self.arena.tag.touched());
        answer.outside.extend((!self.case.seals && answer.tag != self.tag).then(|| "changes the tag".into()));
        done
    }
}
