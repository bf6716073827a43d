//! Compares batches of any packets with single calls: `batch.rs` and `packet.rs` of the library, and the code for parallel messages behind them.
#![no_main]
use fastgcm::{Backend, Error, Key, Packet, Tag, batch};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct One<'a> {
    nonce: [u8; 12],
    aad: &'a [u8],
    text: &'a [u8],
    /// The number of copies of this packet, with nonces of their own, so that neighbours of one length are frequent.
    times: u8,
    /// In place or from one buffer to another; the key, of two; whether its tag is changed before opening; whether its buffers differ in length.
    choices: [bool; 4],
}

#[derive(Arbitrary, Debug)]
struct Batch<'a> {
    key: [u8; 32],
    /// The length of the key, and the back end.
    choices: [u8; 2],
    packets: Vec<One<'a>>,
}

/// A packet, the result of a single call, and its buffers.
struct Case<'a> {
    one: &'a One<'a>,
    nonce: [u8; 12],
    sealed: Vec<u8>,
    tag: Tag,
    buffer: Vec<u8>,
}

impl Case<'_> {
    fn packet<'p>(&'p mut self, from: &'p [u8], tag: Tag) -> Packet<'p> {
        let [to, _, _, uneven] = self.one.choices;
        self.buffer.clear();
        self.buffer.extend_from_slice(from);
        if !to {
            return Packet::in_place(self.nonce, self.one.aad, &mut self.buffer, tag);
        }
        self.buffer.fill(0xa5);
        if uneven {
            self.buffer.push(0xa5);
        }
        Packet::to(self.nonce, self.one.aad, from, &mut self.buffer, tag)
    }

    /// Returns true if its buffers have different lengths, so that neither may be written.
    fn refused(&self) -> bool {
        self.one.choices[0] && self.one.choices[3]
    }
}

fuzz_target!(|input: Batch| {
    let Batch { key, choices: [length, backend], packets } = input;
    let backends: Vec<Backend> = Backend::available().collect();
    let backend = backends[backend as usize % backends.len()];
    let length = [16, 24, 32][length as usize % 3];
    let keys = [key, key.map(|byte| !byte)].map(|key| Key::with_backend(&key[..length], backend).unwrap());

    let mut cases = Vec::new();
    for one in packets.iter().take(16) {
        for copy in 0..=one.times % 9 {
            let mut nonce = one.nonce;
            nonce[0] ^= copy;
            let mut sealed = one.text.to_vec();
            let tag = keys[usize::from(one.choices[1])].seal(nonce, one.aad, &mut sealed).unwrap();
            cases.push(Case { one, nonce, sealed, tag, buffer: Vec::new() });
        }
    }
    let of: Vec<&Key> = cases.iter().map(|case| &keys[usize::from(case.one.choices[1])]).collect();

    for seal in [true, false] {
        let sources: Vec<Vec<u8>> = cases.iter().map(|case| if seal { case.one.text.to_vec() } else { case.sealed.clone() }).collect();
        let given: Vec<Tag> = cases
            .iter()
            .map(|case| {
                let mut tag = if seal { Tag([0; 16]) } else { case.tag };
                tag.0[15] ^= u8::from(!seal && case.one.choices[2]);
                tag
            })
            .collect();
        let mut packets: Vec<Packet> =
            cases.iter_mut().zip(&sources).zip(&given).map(|((case, source), tag)| case.packet(source, *tag)).collect();
        let result = if seal { batch::seal(&of, &mut packets) } else { batch::open(&of, &mut packets) };
        let done: Vec<(Result<(), Error>, Tag)> = packets.iter().map(|packet| (packet.status, packet.tag)).collect();
        assert_eq!(result, done.iter().map(|(status, _)| *status).find(Result::is_err).unwrap_or(Ok(())));
        for (case, (status, tag)) in cases.iter().zip(done) {
            if case.refused() {
                assert!(status == Err(Error::InvalidLength) && case.buffer.iter().all(|byte| *byte == 0xa5));
            } else if seal {
                assert!(status == Ok(()) && tag.0 == case.tag.0 && case.buffer == case.sealed);
            } else if case.one.choices[2] {
                assert!(status == Err(Error::Unauthentic) && case.buffer.iter().all(|byte| *byte == 0));
            } else {
                assert!(status == Ok(()) && case.buffer == case.one.text);
            }
        }
    }
});
