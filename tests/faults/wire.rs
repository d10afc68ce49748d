//! Faults below HTTP: what the connection carries is written by hand.

use behaview::demo::{DemoResponse, Writer};
use flate2::{Compress, Compression, FlushCompress};
use std::fmt::Write;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How often a dripping answer drips.
const DRIPS_A_SECOND: u64 = 20;

/// Status line and headers, with the length of the body where it is announced.
fn head(reply: &DemoResponse, announced: bool) -> String {
    let mut head = format!("HTTP/1.1 {} Damaged\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    if announced {
        write!(head, "content-length: {}\r\n", reply.body.len()).unwrap();
    }
    head + "\r\n"
}

/// The body ends after so many bytes, fewer than announced.
pub fn cut(bytes: u64, announced: bool) -> Writer {
    Box::new(move |mut stream, reply| {
        Box::pin(async move {
            write_start(bytes, announced, &reply, &mut stream).await?;
            stream.shutdown().await
        })
    })
}

/// Nothing follows so many bytes of the body, and the connection stays open.
pub fn stall(bytes: u64) -> Writer {
    Box::new(move |mut stream, reply| {
        Box::pin(async move {
            write_start(bytes, true, &reply, &mut stream).await?;
            let mut ignored = [0; 256];
            while stream.read(&mut ignored).await? > 0 {}
            Ok(())
        })
    })
}

async fn write_start(bytes: u64, announced: bool, reply: &DemoResponse, stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(head(reply, announced).as_bytes()).await?;
    let length = reply.body.len().min(bytes as usize);
    stream.write_all(&reply.body[..length]).await
}

/// The body comes at so many bytes a second.
pub fn drip(rate: u64) -> Writer {
    Box::new(move |mut stream, reply| {
        Box::pin(async move {
            let pause = Duration::from_secs(1) / rate.min(DRIPS_A_SECOND) as u32;
            stream.write_all(head(&reply, false).as_bytes()).await?;
            for drop in reply.body.chunks(rate.div_ceil(DRIPS_A_SECOND) as usize) {
                stream.write_all(drop).await?;
                tokio::time::sleep(pause).await;
            }
            stream.shutdown().await
        })
    })
}

pub fn endless_headers() -> Writer {
    endless(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n", |n| {
        format!("x-more-{n}: {}\r\n", "and more ".repeat(100))
    })
}

pub fn endless_body() -> Writer {
    const START: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"data\":{\"attributes\":{\"tags\":[\"";
    endless(START, |_| "A".repeat(1 << 16))
}

fn endless(start: &'static [u8], more: fn(u64) -> String) -> Writer {
    Box::new(move |mut stream, _| {
        Box::pin(async move {
            stream.write_all(start).await?;
            for number in 0_u64.. {
                stream.write_all(more(number).as_bytes()).await?;
            }
            Ok(())
        })
    })
}

/// A gzip stream that unpacks to 4 GiB of white space: one compressed block, repeated 256 times.
///
/// It has no checksum at its end, which a client that reads that far may find out.
pub fn bomb() -> Vec<u8> {
    const HEADER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut block = Vec::with_capacity(64 << 10);
    let blanks = vec![b' '; 16 << 20];
    Compress::new(Compression::best(), false).compress_vec(&blanks, &mut block, FlushCompress::Sync).unwrap();
    [HEADER, &block.repeat(256)].concat()
}
