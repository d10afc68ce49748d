//! A service that sends nonsense, stops, or trickles: each call ends, is sent once, and says why.

use super::is_long;
use super::wire::shown;
use behaview::report::identifier::Identifier;
use behaview::request::Request;
use behaview::service::credential::{Credential, KeySource};
use behaview::service::error::{ApiErrorKind, ServiceError};
use behaview::service::{Client, Profile};
use behaview::text::Untrusted;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const KEY: &str = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e";

/// How an answer goes over the wire.
#[derive(Clone)]
enum Wire {
    /// All of it, then the connection closes.
    Whole,
    /// So many bytes, then the connection closes.
    Cut(usize),
    /// So many bytes, then nothing.
    Stalled(usize),
    /// The head, then a few bytes at a time, with a pause before each.
    Dripped(usize, Duration),
    /// Again and again what comes after so many bytes.
    Endless(usize),
}

/// A service with one answer, and how often it was called.
struct Service {
    root: String,
    calls: Arc<AtomicUsize>,
}

impl Service {
    async fn with(response: Vec<u8>, wire: Wire) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer_on(stream, response.clone(), wire.clone()));
            }
        });
        Self { root, calls }
    }

    /// Asks once; fails if that was more than one call, or its words show the key or a control.
    async fn fetch(&self, profile: Profile) -> Result<Vec<u8>, ServiceError> {
        let profile = Profile { root: self.root.clone(), ..profile };
        let client = Client::new(profile, Some(Credential::new(KEY, KeySource::Demo).unwrap())).unwrap();
        let mut bytes = Vec::new();
        let result = tokio::time::timeout(Duration::from_secs(60), client.send(&request(), &mut bytes)).await;
        let result = result.expect("it ends by itself").map(|()| bytes);
        assert_eq!(self.calls.load(Ordering::SeqCst), 1, "{result:?}");
        if let Err(error) = &result {
            let words = format!("{error} {}", error.advice());
            assert!(shown(words.as_bytes()).is_ok() && !words.contains(KEY), "{words:?}");
            assert!(error.may_be_charged(), "{error}");
        }
        result
    }
}

async fn answer_on(mut stream: TcpStream, response: Vec<u8>, wire: Wire) -> std::io::Result<()> {
    let mut asked = vec![0; 8192];
    let mut length = 0;
    while memchr::memmem::find(&asked[..length], b"\r\n\r\n").is_none() {
        match stream.read(&mut asked[length..]).await? {
            0 => return Ok(()),
            read => length += read,
        }
    }
    match wire {
        Wire::Whole => stream.write_all(&response).await,
        Wire::Cut(at) => stream.write_all(&response[..at]).await,
        Wire::Stalled(at) => {
            stream.write_all(&response[..at]).await?;
            std::future::pending().await
        }
        Wire::Dripped(size, pause) => {
            let head = memchr::memmem::find(&response, b"\r\n\r\n").map_or(0, |at| at + 4);
            stream.write_all(&response[..head]).await?;
            for piece in response[head..].chunks(size) {
                tokio::time::sleep(pause).await;
                stream.write_all(piece).await?;
            }
            Ok(())
        }
        Wire::Endless(from) => {
            stream.write_all(&response[..from]).await?;
            loop {
                stream.write_all(&response[from..]).await?;
            }
        }
    }
}

fn request() -> Request {
    Request::Behaviour { identifier: Identifier::new(Untrusted::from("x y-1")).unwrap() }
}

fn hasty() -> Profile {
    Profile { timeout_s: 1, ..Profile::default() }
}

fn response(head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn sound() -> Vec<u8> {
    response("200 OK\r\ncontent-type: application/json", r#"{"data":{"id":"x y-1","attributes":{"tags":["T"]}}}"#)
}

#[tokio::test]
async fn cut_or_stalled_at_any_byte_it_is_lost() {
    let step = if is_long() { 1 } else { 5 };
    let mut trials = JoinSet::new();
    for at in (0..sound().len()).step_by(step) {
        for wire in [Wire::Cut(at), Wire::Stalled(at)] {
            trials.spawn(async move { (at, Service::with(sound(), wire).await.fetch(hasty()).await) });
        }
    }
    let count = trials.len();
    for (at, result) in trials.join_all().await {
        assert!(matches!(result, Err(ServiceError::Lost(_))), "at {at}: {result:?}");
    }
    println!("network: cut and stalled at {count} places");
}

#[tokio::test]
async fn steady_progress_is_waited_for() {
    // Takes longer than the timeout, without a silence as long.
    let steady = Service::with(sound(), Wire::Dripped(2, Duration::from_millis(60))).await.fetch(hasty()).await;
    assert!(steady.unwrap().ends_with(b"}"));
}

#[tokio::test]
async fn an_answer_of_any_status_is_a_typed_no() {
    let statuses = [
        (ApiErrorKind::Other, &[400, 409, 418, 424, 999][..]),
        (ApiErrorKind::WrongKey, &[401]),
        (ApiErrorKind::Forbidden, &[403]),
        (ApiErrorKind::NotFound, &[404]),
        (ApiErrorKind::TooFast, &[429]),
        (ApiErrorKind::Down, &[500, 503, 504, 599]),
        (ApiErrorKind::Redirected, &[300, 304, 399]),
    ];
    let statuses = statuses.into_iter().flat_map(|(reason, all)| all.iter().map(move |status| (*status, reason)));
    for (status, reason) in statuses {
        for retry in [
            "",
            "\r\nretry-after: 7",
            "\r\nretry-after: -1",
            "\r\nretry-after: Fri, 31 Dec 9999 23:59:59 GMT",
            "\r\nretry-after: \u{1}\u{ff}",
        ] {
            let given = response(
                &format!("{status} X{retry}"),
                "{\"error\":{\"code\":\"\\u001b\",\"message\":\"\\u202e\\u001b[2J\"}}",
            );
            let result = Service::with(given, Wire::Whole).await.fetch(hasty()).await;
            match result {
                Err(ServiceError::Refused(refusal)) => assert_eq!(refusal.reason, reason, "{status}"),
                // No HTTP at all, by some readings.
                Err(ServiceError::Lost(_)) => {}
                other => panic!("{status} {retry:?}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn nonsense_is_lost_in_bounded_memory() {
    let many: String = (0..2_000).map(|n| format!("\r\nx-{n}: y")).collect();
    let nonsense = [
        b"HTTP/9.9 200 OK\r\n\r\n".to_vec(),
        b"\0\0\0\0\0\0\0\0\r\n\r\n".to_vec(),
        b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
        b"HTTP/1.1 abc\r\n\r\n".to_vec(),
        response(&format!("200 OK\r\nx: {}", "y".repeat(1 << 20)), "{}"),
        response(&format!("200 OK{many}"), "{}"),
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{    }".to_vec(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec(),
        b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(),
        b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n".to_vec(),
    ];
    for given in nonsense {
        let about = String::from_utf8_lossy(&given[..given.len().min(60)]).into_owned();
        let result = Service::with(given, Wire::Whole).await.fetch(hasty()).await;
        assert!(matches!(result, Err(ServiceError::Lost(_) | ServiceError::Refused(_))), "{about}: {result:?}");
    }
    for (head, from) in [
        ("HTTP/1.1 200 OK\r\nx: y\r\n", 17),
        ("HTTP/1.1 100 Continue\r\n\r\n", 0),
        ("HTTP/1.1 404 Not Found\r\n\r\nxxxxxxxxxxxxxxxx", 26),
    ] {
        let result = Service::with(head.as_bytes().to_vec(), Wire::Endless(from)).await.fetch(hasty()).await;
        assert!(matches!(result, Err(ServiceError::Lost(_) | ServiceError::Refused(_))), "{head:?}: {result:?}");
    }
}

#[tokio::test]
async fn what_unpacks_to_more_than_is_taken_is_given_up() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packer, &vec![b' '; 64 << 20]).unwrap();
    let bomb = packer.finish().unwrap();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", bomb.len());
    let small = Profile { max_response_mib: 2, ..hasty() };
    let result = Service::with([head.as_bytes(), &bomb].concat(), Wire::Whole).await.fetch(small.clone()).await;
    assert!(matches!(result, Err(ServiceError::TooLong(2_097_152))), "{result:?}");
    // One that says beforehand how long it is does not even come.
    let told = b"HTTP/1.1 200 OK\r\ncontent-length: 9000000000\r\n\r\n{".to_vec();
    let result = Service::with(told, Wire::Whole).await.fetch(small).await;
    assert!(matches!(result, Err(ServiceError::TooLong(_))), "{result:?}");
}
