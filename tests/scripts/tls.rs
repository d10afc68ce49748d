//! TLS with a private authority: trusted where the profile names it, and nowhere else.
//!
//! The certificates in `authority/` are for 127.0.0.1, until 2120; the authority's key is gone.

use crate::harness::{CliHarness, errors, json, main_file};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/authority").join(name)
}

/// Takes TLS connections, and hands what is said there to a service without; gives the address.
fn encrypted(service: &str) -> String {
    let certificate = CertificateDer::from_pem_file(fixture("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    let service = service.strip_prefix("http://").unwrap().to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, service) = (Arc::clone(&config), service.clone());
            std::thread::spawn(move || {
                relay(StreamOwned::new(ServerConnection::new(config).unwrap(), stream.unwrap()), &service)
            });
        }
    });
    address
}

/// One question and its answer; a client that trusts nobody here leaves before it asks.
fn relay(mut client: StreamOwned<ServerConnection, TcpStream>, service: &str) {
    let (mut question, mut piece) = (Vec::new(), [0; 4096]);
    while memchr::memmem::find(&question, b"\r\n\r\n").is_none() {
        match client.read(&mut piece) {
            Ok(read @ 1..) => question.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let mut service = TcpStream::connect(service).unwrap();
    let question = String::from_utf8(question).unwrap().replacen("\r\n", "\r\nconnection: close\r\n", 1);
    service.write_all(question.as_bytes()).unwrap();
    let mut answer = Vec::new();
    service.read_to_end(&mut answer).unwrap();
    let _ = client.write_all(&answer);
    client.conn.send_close_notify();
    let _ = client.flush();
}

#[test]
fn custom_ca_is_trusted_where_the_profile_names_it() {
    let cli = CliHarness::new();
    let root = format!("root={}", encrypted(cli.demo.root()));
    let trusted = format!("ca_file={}", fixture("authority.pem").display());
    let file = main_file();
    let refused = cli.run(&["list", &file, "--set", &root]);
    let words = errors(&refused);
    assert_eq!(refused.status.code(), Some(8), "{words}");
    assert!(words.contains("no authority that this machine knows") && words.contains("ca_file"), "{words}");
    assert!(words.contains("nothing was charged") && cli.demo.seen().is_empty(), "{words}");
    let list = json(&cli.run(&["list", &file, "--set", &root, "--set", &trusted]));
    assert_eq!((list["sandboxes"].as_array().unwrap().len(), cli.paid()), (4, 1));
    // The doctor says the same before anything is paid for.
    let doctor = cli.run(&["doctor", "--online", "--set", &root]);
    assert!(doctor.status.code() == Some(8), "{doctor:?}");
    let doctor = cli.run(&["doctor", "--online", "--set", &root, "--set", &trusted]);
    assert!(doctor.status.success(), "{doctor:?}");
}

#[test]
fn certificate_of_another_name_is_refused() {
    let cli = CliHarness::new();
    let root = encrypted(cli.demo.root()).replace("127.0.0.1", "localhost");
    cli.fails(
        &[
            "list",
            &main_file(),
            "--set",
            &format!("root={root}"),
            "--set",
            &format!("ca_file={}", fixture("authority.pem").display()),
            "--set",
            "connect_timeout_s=5",
        ],
        8,
        &["it is for another name"],
    );
    assert!(cli.demo.seen().is_empty());
}

#[test]
fn loopback_service_needs_no_certificates() {
    let cli = CliHarness::new();
    let broken = cli.home.path().join("broken.pem");
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nno such thing\n-----END CERTIFICATE-----\n").unwrap();
    for (n, path) in [cli.home.path(), &broken].into_iter().enumerate() {
        let mut list = cli.command(&["list", "--refresh", &main_file()]);
        json(&list.env("SSL_CERT_FILE", path).output().unwrap());
        assert_eq!(cli.paid(), n + 1);
    }
}
