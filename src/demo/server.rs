//! The socket side: accepts connections, lets hyper speak HTTP on them, and hands damaged ones over.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::answers::Answer;
use super::asked::Asked;
use super::damage::{self, Damage};
use super::service::{Reply, Service};

pub(super) async fn bind(port: Option<u16>) -> io::Result<TcpListener> {
    if !can_be_told(SystemTime::now()) {
        let words =
            "the machine's clock stands before 1970 or after 9999, times that no answer over HTTP can name: set it";
        return Err(io::Error::other(words));
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await
}

/// Accepts connections until it is dropped, which closes them all.
pub(super) async fn accept(listener: TcpListener, service: Arc<Service>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(converse(stream, Arc::clone(&service)))),
            // Out of handles, most likely: some will be given back.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// A damaged answer, left by the handler for the connection that carries it.
type Slot = Mutex<Option<(Damage, Answer)>>;

async fn converse(stream: TcpStream, service: Arc<Service>) {
    let slot: Arc<Slot> = Arc::default();
    let handler = service_fn(|request| handle(request, Arc::clone(&service), Arc::clone(&slot)));
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), handler);
    // However it ends, the client sees it end; only a damaged answer is left to be written.
    let _ = (&mut connection).await;
    let damaged = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((damage, answer)) = damaged {
        let stream = connection.into_parts().io.into_inner();
        let _ = damage::play(stream, damage, answer).await;
    }
}

/// Whether a `Date` header can tell a time. Hyper writes one into each answer, and panics at any other time.
fn can_be_told(now: SystemTime) -> bool {
    const END: u64 = 253_402_300_800;
    now.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| since.as_secs() < END)
}

/// Answers a request. An error makes hyper let go of the connection without writing anything.
async fn handle(request: Request<Incoming>, service: Arc<Service>, slot: Arc<Slot>) -> io::Result<Answer> {
    let (asked, read) = Asked::read(request).await;
    match service.answer(asked, read).await {
        Reply::Sound(answer) => Ok(answer),
        Reply::Damaged(damage, answer) => {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((damage, answer));
            Err(io::Error::other("the answer is written by hand"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_beyond_the_header_is_not_told() {
        let second = Duration::from_secs(1);
        let last = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        assert_eq!([SystemTime::UNIX_EPOCH, last].map(can_be_told), [true; 2]);
        assert_eq!([SystemTime::UNIX_EPOCH - second, last + second].map(can_be_told), [false; 2]);
    }
}
