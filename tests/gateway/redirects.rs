//! A redirect is told, not followed: the key belongs to one host.

use crate::faults::arm;
use std::io::ErrorKind;
use std::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_redirect_reaches_nobody() {
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port();
    let harness = GatewayHarness::begin().await;
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        for request in each_operation() {
            let calls = harness.calls();
            arm(&harness.demo, &format!("redirect=http://{host}:{port}/api/v3/*1"));
            let result = harness.fetch(&request).await;
            assert_eq!(refusal(result), ApiErrorKind::Redirected);
            assert_eq!(harness.calls(), calls + 1);
            let caller = canary.accept().map(|(_, caller)| caller).map_err(|error| error.kind());
            assert_eq!(caller, Err(ErrorKind::WouldBlock), "the redirect was followed");
        }
    }
}
