//! The socket side: accepts connections, lets hyper speak HTTP on them, and hands damaged ones over.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
