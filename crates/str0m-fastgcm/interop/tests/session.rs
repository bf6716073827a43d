//! Whole sessions between two peers of str0m: ICE, DTLS, and media both ways, with ours at both ends, or at one end and the stock provider at the other.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use str0m::{
    Candidate, Event, Input, Output, Rtc,
    config::DtlsVersion,
    format::Codec,
    media::MediaKind,
    net::{Protocol, Receive},
    rtp::{RtpWrite, Ssrc},
};
use str0m_proto::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, CryptoError, CryptoProvider, SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm,
    SupportedAes128CmSha1_80,
    dtls::{DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, KeyingMaterial, ProtocolVersion, SrtpProfile},
};

/// Media packets in each direction, of which every fifth is changed on its way.
const PACKETS: usize = 60;
/// Payloads: audio, and video that fills a packet.
const LENGTHS: [usize; 6] = [1, 20, 80, 160, 700, 1100];

/// Each suite of AES-GCM, counted: how many keys were made, and how many packets sealed and opened.
#[derive(Debug)]
struct Counted {
    of: &'static dyn SrtpProvider,
    counts: &'static [Counts; 2],
}

#[derive(Debug, Default)]
struct Counts {
    sealed: AtomicUsize,
    opened: AtomicUsize,
    refused: AtomicUsize,
}

impl Counts {
    fn get(&self) -> [usize; 3] {
        [&self.sealed, &self.opened, &self.refused].map(|count| count.load(Relaxed))
    }
}

/// `provider`, and what counts its calls: of 128 and of 256 bits.
fn counted(provider: CryptoProvider) -> (CryptoProvider, &'static [Counts; 2]) {
    let counts: &'static [Counts; 2] = Box::leak(Box::default());
    let counted = Box::leak(Box::new(Counted { of: provider.srtp_provider, counts }));
    (CryptoProvider { srtp_provider: counted, ..provider }, counts)
}

impl SrtpProvider for Counted {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        panic!("AES-CM was negotiated")
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        Box::leak(Box::new(Suite(self.of.aead_aes_128_gcm(), &self.counts[0])))
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        Box::leak(Box::new(Suite(self.of.aead_aes_256_gcm(), &self.counts[1])))
    }

    fn srtp_aes_128_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        self.of.srtp_aes_128_ecb_round(key, input, output);
    }

    fn srtp_aes_256_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        self.of.srtp_aes_256_ecb_round(key, input, output);
    }
}

/// A suite or a cipher, and its counts.
#[derive(Debug)]
struct Suite<T>(T, &'static Counts);

macro_rules! counted {
    ($($suite:ident $cipher:ident $length:literal,)+) => { $(
        impl $suite for Suite<&'static dyn $suite> {
            fn create_cipher(&self, key: [u8; $length], encrypt: bool) -> Box<dyn $cipher> {
                Box::new(Suite(self.0.create_cipher(key, encrypt), self.1))
            }
        }

        impl $cipher for Suite<Box<dyn $cipher>> {
            fn encrypt(&mut self, iv: &[u8; 12], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
                self.1.sealed.fetch_add(1, Relaxed);
                self.0.encrypt(iv, aad, input, output)
            }

            fn decrypt(&mut self, iv: &[u8; 12], aads: &[&[u8]], input: &[u8], output: &mut [u8]) -> Result<usize, CryptoError> {
                let result = self.0.decrypt(iv, aads, input, output);
                if result.is_ok() { &self.1.opened } else { &self.1.refused }.fetch_add(1, Relaxed);
                result
            }
        }
    )+ };
}

counted! { SupportedAeadAes128Gcm AeadAes128GcmCipher 16, SupportedAeadAes256Gcm AeadAes256GcmCipher 32, }

/// DTLS that takes the suite of 128 bits. Two peers of str0m agree on 256 bits always, and no setting changes that. So both ends take as many bytes of
/// what they have negotiated as the other suite needs.
#[derive(Debug)]
struct Shorter(&'static dyn DtlsProvider);

impl DtlsProvider for Shorter {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        self.0.generate_certificate()
    }

    fn new_dtls(
        &self,
        certificate: &DtlsCert,
        now: Instant,
        version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        Ok(Box::new(ShorterInstance(self.0.new_dtls(certificate, now, version, mtu)?)))
    }
}

#[derive(Debug)]
struct ShorterInstance(Box<dyn DtlsInstance>);

impl DtlsInstance for ShorterInstance {
    fn poll_output<'a>(&mut self, buffer: &'a mut [u8]) -> DtlsOutput<'a> {
        match self.0.poll_output(buffer) {
            DtlsOutput::KeyingMaterial(material, SrtpProfile::AEAD_AES_256_GCM) => {
                let profile = SrtpProfile::AEAD_AES_128_GCM;
                DtlsOutput::KeyingMaterial(KeyingMaterial::new(&material[..profile.keying_material_len()]), profile)
            }
            other => other,
        }
    }

    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<usize, DtlsImplError> {
        self.0.send_application_data(data)
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}

/// One end, with what it has got.
struct Peer {
    rtc: Rtc,
    at: SocketAddr,
    media: Vec<Vec<u8>>,
    /// Datagrams for it that are on their way.
    on_the_way: VecDeque<Vec<u8>>,
}

impl Peer {
    fn new(provider: CryptoProvider, version: DtlsVersion, at: &str, now: Instant) -> Self {
        let rtc = Rtc::builder().set_rtp_mode(true).set_crypto_provider(Arc::new(provider)).set_dtls_version(version).build(now);
        Self { rtc, at: at.parse().unwrap(), media: Vec::new(), on_the_way: VecDeque::new() }
    }

    /// Takes what has arrived, and says what it has to say. `change` may change a datagram.
    fn turn(&mut self, other: &mut Peer, now: Instant, mut change: impl FnMut(&mut Vec<u8>)) {
        self.rtc.handle_input(Input::Timeout(now)).unwrap();
        loop {
            loop {
                match self.rtc.poll_output().unwrap() {
                    Output::Timeout(_) => break,
                    Output::Transmit(datagram) => {
                        let mut datagram = datagram.contents.to_vec();
                        change(&mut datagram);
                        other.on_the_way.push_back(datagram);
                    }
                    Output::Event(Event::RtpPacket(packet)) => self.media.push(packet.payload.to_vec()),
                    Output::Event(_) => {}
                }
            }
            let Some(datagram) = self.on_the_way.pop_front() else { return };
            let contents = (&datagram[..]).try_into().unwrap();
            let receive = Receive { proto: Protocol::Udp, source: other.at, destination: self.at, contents };
            self.rtc.handle_input(Input::Receive(now, receive)).unwrap();
        }
    }
}

/// Of the stream from the first to the second, and of that back.
const STREAMS: [u32; 2] = [0x1111, 0x2222];

fn introduce(peers: &mut [Peer; 2]) {
    let candidates = peers.each_ref().map(|peer| Candidate::host(peer.at, "udp").unwrap());
    let fingerprints = peers.each_mut().map(|peer| peer.rtc.direct_api().local_dtls_fingerprint().clone());
    let credentials = peers.each_mut().map(|peer| peer.rtc.direct_api().local_ice_credentials());
    for (own, peer) in peers.iter_mut().enumerate() {
        let other = 1 - own;
        peer.rtc.add_local_candidate(candidates[own].clone());
        peer.rtc.add_remote_candidate(candidates[other].clone());
        let mut api = peer.rtc.direct_api();
        api.set_remote_fingerprint(fingerprints[other].clone());
        api.set_remote_ice_credentials(credentials[other].clone());
        api.set_ice_controlling(own == 0);
        api.start_dtls(own == 0).unwrap();
        api.declare_media("aud".into(), MediaKind::Audio);
        api.declare_stream_tx(Ssrc::from(STREAMS[own]), None, "aud".into(), None);
        api.expect_stream_rx(Ssrc::from(STREAMS[other]), None, "aud".into(), None);
    }
}

/// Of RFC 7983: SRTP and SRTCP; and RTCP has these types.
fn is_media(datagram: &[u8]) -> bool {
    (128..192).contains(&datagram[0]) && !(192..=223).contains(&datagram[1])
}

fn payload(number: usize, from: usize) -> Vec<u8> {
    (0..LENGTHS[number % LENGTHS.len()]).map(|i| ((i * 7 + number * 13 + from * 101) >> 1) as u8).collect()
}

/// A session from its first datagram to its last packet of media. Returns how many packets arrived.
fn session(providers: [CryptoProvider; 2], version: DtlsVersion) -> usize {
    let begun = Instant::now();
    let mut now = begun;
    let [first, second] = providers;
    let mut peers = [Peer::new(first, version, "192.0.2.1:1000", now), Peer::new(second, version, "192.0.2.2:2000", now)];
    introduce(&mut peers);
    let (mut sent, mut seen, mut forged, mut idle) = (0, 0, 0, 0);
    while idle < 100 {
        now += Duration::from_millis(10);
        let [first, second] = &mut peers;
        let mut change = |datagram: &mut Vec<u8>| {
            if is_media(datagram) {
                seen += 1;
                if seen % 5 == 0 {
                    // The time in the header, the last byte before the tag, and the tag. So it is still a packet of that stream.
                    let place = [7, datagram.len() - 17, datagram.len() - 1][forged / 2 % 3];
                    datagram[place] ^= 1;
                    forged += 1;
                }
            }
        };
        first.turn(second, now, &mut change);
        second.turn(first, now, &mut change);
        if !peers.iter().all(|peer| peer.rtc.is_connected()) {
            assert!(now - begun < Duration::from_secs(20), "no connection");
            continue;
        }
        if sent == PACKETS {
            idle += 1; // reports and what else may come
            continue;
        }
        for (from, peer) in peers.iter_mut().enumerate() {
            let pt = peer.rtc.codec_config().find(|params| params.spec().codec == Codec::Opus).unwrap().pt();
            let mut api = peer.rtc.direct_api();
            let stream = api.stream_tx(&STREAMS[from].into()).unwrap();
            let text = payload(sent, from);
            stream.write_rtp(RtpWrite::new(pt, (sent as u64).into(), sent as u32 * 960, now, &text[..]));
        }
        sent += 1;
    }
    assert_eq!((seen, forged), (2 * PACKETS, 2 * PACKETS / 5));
    let mut arrived = 0;
    for (to, peer) in peers.iter().enumerate() {
        let mut sent = (0..PACKETS).map(|number| payload(number, 1 - to));
        for media in &peer.media {
            assert!(sent.any(|sent| sent == *media), "in the order in which it was sent, and as it was");
            arrived += 1;
        }
    }
    assert_eq!(arrived, 2 * PACKETS - forged);
    arrived
}

#[test]
fn sessions() {
    let mut arrived = 0;
    for version in [DtlsVersion::Dtls12, DtlsVersion::Dtls13] {
        for bits in [128, 256] {
            for is_ours in [[true, true], [true, false], [false, true]] {
                let base = || {
                    let base = str0m_aws_lc_rs::default_provider();
                    match bits {
                        128 => CryptoProvider { dtls_provider: Box::leak(Box::new(Shorter(base.dtls_provider))), ..base },
                        _ => base,
                    }
                };
                let ends = is_ours.map(|is_ours| {
                    let (base, theirs) = counted(base());
                    if !is_ours {
                        return (base, theirs, None);
                    }
                    let (ours, counts) = counted(str0m_fastgcm::with(base));
                    (ours, counts, Some(theirs))
                });
                let counts = ends.each_ref().map(|(_, counts, theirs)| (*counts, *theirs));
                arrived += session(ends.map(|(provider, ..)| provider), version);
                let suite = usize::from(bits == 256);
                for (counts, theirs) in counts {
                    // Media and reports of this end, media and reports of the other end, and what was changed.
                    let [sealed, opened, refused] = counts[suite].get();
                    println!("{version} {bits} bits, ours {is_ours:?}: {sealed} sealed, {opened} opened, {refused} refused");
                    assert!(sealed > PACKETS && opened > PACKETS - PACKETS / 5);
                    assert_eq!(counts[1 - suite].get(), [0; 3]);
                    assert!(theirs.is_none_or(|theirs| theirs.iter().all(|counts| counts.get() == [0; 3])), "fastgcm did the work");
                    assert_eq!(refused, PACKETS / 5);
                }
            }
        }
    }
    assert_eq!(arrived, 2 * 2 * 3 * 2 * (PACKETS - PACKETS / 5));
}
