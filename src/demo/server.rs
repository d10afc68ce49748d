//! The socket side: accepts connections and lets hyper speak HTTP on them, unless a hook writes the bytes.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Writer;
use super::answers::Answer;
use super::call::DemoCall;
use super::service::DemoService;

pub(super) async fn bind(port: Option<u16>) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await
}

/// Accepts connections until it is dropped, which closes them all.
pub(super) async fn accept(listener: TcpListener, service: Arc<DemoService>) {
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

/// An answer that a hook writes, left by the handler for the connection that carries it.
type Slot = Mutex<Option<(Writer, Answer)>>;

async fn converse(stream: TcpStream, service: Arc<DemoService>) {
    let slot: Arc<Slot> = Arc::default();
    let handler = service_fn(|request| handle(request, Arc::clone(&service), Arc::clone(&slot)));
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), handler);
    // However it ends, the client sees it end; only what a hook writes is left.
    let _ = (&mut connection).await;
    let written = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((write, answer)) = written {
        let _ = write(connection.into_parts().io.into_inner(), answer).await;
    }
}

/// Answers a request. An error makes hyper let go of the connection without writing anything.
async fn handle(
    request: Request<Incoming>,
    service: Arc<DemoService>,
    slot: Arc<Slot>,
) -> io::Result<Response<Full<Bytes>>> {
    let (call, read) = DemoCall::read(request).await;
    let (answer, writer) = service.answer(call, read).await;
    if let Some(writer) = writer {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((writer, answer));
        return Err(io::Error::other("a hook writes the answer"));
    }
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Full::new(answer.body)).map_err(io::Error::other)
}
