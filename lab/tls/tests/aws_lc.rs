//! Over AWS-LC in place of ring, and against AWS-LC itself: each suite, and key exchange after quantum computers.

#[path = "../../../crates/rustls-fastgcm/tests/support/mod.rs"]
mod support;

use rustls::crypto::aws_lc_rs;
use support::{Pair, SUITES, bytes, client, passed, send, server};

#[test]
fn every_suite_with_aws_lc() {
    let (ours, theirs) = (|| rustls_fastgcm::with(aws_lc_rs::default_provider()), aws_lc_rs::default_provider);
    let mut sent = 0;
    for (suite, _) in SUITES {
        for (of_client, of_server) in [(ours(), theirs()), (theirs(), ours()), (ours(), ours())] {
            let (client, server) = (client(of_client, suite), server(of_server, suite));
            let Pair { mut client, mut server } = Pair::connected(&client.into(), &server.into());
            assert_eq!(client.negotiated_cipher_suite().unwrap().suite(), suite);
            for length in (1..=66).chain([1400, 16383, 16384, 16385, 100_000]) {
                let text = bytes(length, 1);
                send(&mut client, &mut server, &[&text]);
                send(&mut server, &mut client, &text.chunks(1 + length / 5).collect::<Vec<_>>());
                sent += 2;
            }
        }
    }
    passed("tls::every_suite_with_aws_lc", sent, 6 * 3 * 71 * 2);
}
