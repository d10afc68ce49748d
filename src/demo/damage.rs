//! Faults below HTTP: here a connection leaves hyper's hands, and what it carries is written by hand.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::FaultKind;
use super::answers::Answer;
use super::pieces::Pieces;

/// How often a dripping answer drips.
const DRIP_EVERY: Duration = Duration::from_millis(50);
const DRIPS_A_SECOND: u64 = 20;

/// What happens to a connection instead of a sound answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Reset,
    Lost,
    EndlessHeaders,
    Cut { after: u64, announced: bool },
    Stall { after: u64 },
    Drip { rate: u64 },
}

impl Damage {
    /// The damage a fault does, if it strikes below HTTP.
    pub fn of(kind: &FaultKind) -> Option<Damage> {
        Some(match *kind {
            FaultKind::Reset => Damage::Reset,
            FaultKind::Lost => Damage::Lost,
            FaultKind::EndlessHeaders => Damage::EndlessHeaders,
            FaultKind::Cut(after) => Damage::Cut { after, announced: true },
            FaultKind::CutBare(after) => Damage::Cut { after, announced: false },
            FaultKind::Stall(after) => Damage::Stall { after },
            FaultKind::Drip(rate) => Damage::Drip { rate },
            _ => return None,
        })
    }

    /// Whether the client sees a status at all.
    pub fn shows_status(self) -> bool {
        !matches!(self, Damage::Reset | Damage::Lost)
    }
}

/// Writes a damaged answer, and closes the connection.
pub(super) async fn play(mut stream: TcpStream, damage: Damage, answer: Answer) -> io::Result<()> {
    match damage {
        Damage::Reset => return stream.set_zero_linger(),
        Damage::Lost => {}
        Damage::EndlessHeaders => endless_headers(&mut stream).await?,
        Damage::Cut { after, announced } => {
            stream.write_all(head(&answer, announced.then_some(after)).as_bytes()).await?;
            write_up_to(after, answer.into_body(), &mut stream).await?;
        }
        Damage::Stall { after } => {
            stream.write_all(head(&answer, Some(after)).as_bytes()).await?;
            write_up_to(after, answer.into_body(), &mut stream).await?;
            wait_for_close(&mut stream).await?;
        }
        Damage::Drip { rate } => {
            stream.write_all(head(&answer, None).as_bytes()).await?;
            drip(rate, answer.into_body(), &mut stream).await?;
        }
    }
    stream.shutdown().await
}

/// Status line and headers. `cut` asks for an announced length: the true one, or if that is unknown
/// one above the cut.
fn head(answer: &Answer, cut: Option<u64>) -> String {
    let mut head = format!("HTTP/1.1 {}\r\nconnection: close\r\n", answer.status());
    for (name, value) in answer.headers() {
        head += &format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
    }
    if let Some(cut) = cut {
        let length = answer.body().length().unwrap_or(cut.saturating_add(1));
        head += &format!("content-length: {length}\r\n");
    }
    head + "\r\n"
}

async fn write_up_to(bytes: u64, body: Pieces, stream: &mut TcpStream) -> io::Result<()> {
    let mut left = bytes;
    for piece in body {
        let size = left.min(piece.len() as u64);
        stream.write_all(&piece.slice(..size as usize)).await?;
        left -= size;
        if left == 0 {
            break;
        }
    }
    stream.flush().await
}

async fn drip(rate: u64, body: Pieces, stream: &mut TcpStream) -> io::Result<()> {
    let drop_size = rate.div_ceil(DRIPS_A_SECOND) as usize;
    let pause = if rate < DRIPS_A_SECOND { Duration::from_secs(1) / rate as u32 } else { DRIP_EVERY };
    for piece in body {
        for drop in piece.chunks(drop_size) {
            stream.write_all(drop).await?;
            sleep(pause).await;
        }
    }
    Ok(())
}

async fn wait_for_close(stream: &mut TcpStream) -> io::Result<()> {
    let mut ignored = [0; 256];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}

async fn endless_headers(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n").await?;
    for number in 0_u64.. {
        stream.write_all(format!("x-more-{number}: {}\r\n", "and more ".repeat(100)).as_bytes()).await?;
    }
    Ok(())
}
