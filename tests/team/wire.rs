//! The wire between the program and the database: it can be cut, and it times the statements.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// What statements do, by words in them.
const STATEMENTS: [(&str, &str); 4] = [
    // With it, in the same round trip, the answer is looked for again.
    ("claim", "INSERT INTO behaview.claim"),
    ("ask", "FROM behaview.response WHERE service = $1"),
    ("push", "INSERT INTO behaview.response"),
    ("ledger", "INSERT INTO behaview.call"),
];

type Times = Arc<Mutex<BTreeMap<&'static str, Vec<Duration>>>>;

pub struct Wire {
    pub port: u16,
    cuts: watch::Sender<usize>,
    times: Times,
}

impl Wire {
    /// Listens on a port of its own, and passes everything to that of the database.
    pub fn new(threads: &Runtime, database: u16) -> Self {
        let listener = threads.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (cuts, cut) = watch::channel(0);
        let times = Times::default();
        let timed = Arc::clone(&times);
        threads.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (mut cut, timed) = (cut.clone(), Arc::clone(&timed));
                cut.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(("127.0.0.1", database)).await else { return };
                    tokio::select! {
                        _ = cut.changed() => {}
                        _ = pass(client, server, timed) => {}
                    }
                });
            }
        });
        Self { port, cuts, times }
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.cuts.send_modify(|number| *number += 1);
    }

    /// For each kind of statement: how many there were, the median, and the 99th of 100.
    pub fn times(&self) -> Vec<String> {
        let mut times = self.times.lock().unwrap();
        let of = |(kind, times): (&&str, &mut Vec<Duration>)| format!("{kind} {}", percentiles(times));
        times.iter_mut().map(of).collect()
    }
}

/// Number, median and 99th percentile, and the maximum.
pub fn percentiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
    let [half, most, all] = [50, 99, 100].map(|percent| at(percent).map_or(0.0, |time| time.as_secs_f64() * 1000.0));
    format!("n={} p50={half:.2} p99={most:.2} max={all:.2} ms", times.len())
}

/// Passes bytes in both directions; a statement lasts until the server is ready for the next one.
async fn pass(mut client: TcpStream, mut server: TcpStream, times: Times) -> std::io::Result<()> {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut running = None;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let bytes = &asked[..read?];
                if bytes.is_empty() {
                    return server.shutdown().await;
                }
                let words = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]);
                let found = STATEMENTS.iter().find(|(_, start)| words.contains(start));
                running = running.or(found.map(|(kind, _)| (*kind, Instant::now())));
                server.write_all(bytes).await?;
            }
            read = server.read(&mut answered) => {
                let bytes = &answered[..read?];
                if bytes.is_empty() {
                    return client.shutdown().await;
                }
                client.write_all(bytes).await?;
                let is_ready = bytes.len() >= 6 && bytes[bytes.len() - 6..].starts_with(b"Z\0\0\0\x05");
                if let Some((kind, began)) = running.take_if(|_| is_ready) {
                    times.lock().unwrap().entry(kind).or_default().push(began.elapsed());
                }
            }
        }
    }
}
