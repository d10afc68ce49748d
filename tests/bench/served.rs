//! A report over HTTP on loopback: its first rows, its last count, beside the bare transfer.

use crate::figures::{Figure, Table};
use crate::home::{self, Home};
use crate::opening::complete;
use crate::report::{FIRST, Made};
use crate::terminal::{Program, Terminal};
use crate::{Stage, behaview};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the second half of a slow answer is behind the first.
const LATE: Duration = Duration::from_millis(500);

/// Serves one report, its second half so much later, and a list that names it; ends with the process.
fn serve(report: PathBuf, late: Duration) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for call in listener.incoming().flatten() {
            let report = report.clone();
            std::thread::spawn(move || answer(call, &report, late));
        }
    });
    address
}

fn answer(mut call: TcpStream, report: &PathBuf, late: Duration) -> std::io::Result<()> {
    let mut lines = BufReader::new(call.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let file = home::file();
    let head = |length: u64| {
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        )
    };
    if first.contains("quotas") {
        let body = r#"{"data":{"api_requests_daily":{"user":{"allowed":500,"used":1}}}}"#;
        return call.write_all((head(body.len() as u64) + body).as_bytes());
    }
    if first.contains("/behaviours") {
        let entry = format!(r#"{{"id":"{file}_Bench Box-1794474845","type":"private_file_behaviour"}}"#);
        let body = format!(r#"{{"data":[{entry}],"meta":{{"count":1}}}}"#);
        return call.write_all((head(body.len() as u64) + &body).as_bytes());
    }
    let mut source = std::fs::File::open(report)?;
    let length = source.metadata()?.len();
    call.write_all(head(length).as_bytes())?;
    std::io::copy(&mut (&mut source).take(length / 2), &mut call)?;
    std::thread::sleep(late);
    std::io::copy(&mut source, &mut call).map(drop)
}

/// How long the bytes alone take: each read over those before it, or kept in memory that the system has to give first.
fn transfer(address: SocketAddr, is_kept: bool) -> f64 {
    let started = Instant::now();
    let mut call = TcpStream::connect(address).unwrap();
    call.write_all(b"GET /report HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let (mut kept, mut buffer, mut read) = (Vec::<Vec<u8>>::new(), vec![0; 1 << 16], 1);
    while read > 0 {
        read = call.read(&mut buffer).unwrap();
        if is_kept {
            kept.push(buffer[..read].to_vec());
        }
    }
    started.elapsed().as_secs_f64() * 1_000.0
}

/// The program at the report that it is about to ask for, in a home of its own.
fn about_to_ask(address: SocketAddr) -> (Home, Terminal) {
    let home = Home::new(&format!("http://{address}"), "listing = \"identifiers\"\n");
    let file = home::file().to_string();
    let program = Program::new("behaview", behaview(), &[OsStr::new(&file)]).at(home.path());
    let mut running = program.with("BEHAVIEW_API_KEY", "bench").start();
    running.until("enter list sandboxes");
    running.settle();
    running.press(b"\r");
    running.until("enter open");
    running.settle();
    (home, running)
}

/// What is measured of an answer.
#[derive(Default)]
struct Measured {
    bare: Figure,
    /// The same where the bytes are kept.
    kept: Figure,
    first: Figure,
    last: Figure,
    memory: Figure,
    disk: Figure,
    /// First rows while the second half is late.
    early: Figure,
}

fn measure_one(stage: &Stage, report: &Made) -> Measured {
    let (address, slow) = (serve(report.path.clone(), Duration::ZERO), serve(report.path.clone(), LATE));
    let mut measured = Measured::default();
    for _ in 0..stage.wanted.reps {
        measured.bare.add(transfer(address, false));
        measured.kept.add(transfer(address, true));
        let (home, mut running) = about_to_ask(address);
        let pressed = running.press(b"\r");
        measured.first.time(running.until_since(pressed, FIRST));
        measured.last.time(running.until_since(pressed, &complete(report)));
        running.until("held since");
        measured.memory.add(running.peak().unwrap_or(f64::NAN) / report.bytes as f64);
        measured.disk.add(home.stored() as f64 / report.bytes as f64);
        let (_home, mut running) = about_to_ask(slow);
        let pressed = running.press(b"\r");
        measured.early.time(running.until_since(pressed, FIRST));
    }
    measured
}

pub fn measure(stage: &Stage, table: &mut Table) {
    for report in &stage.reports {
        let Measured { bare, kept, first, last, memory, disk, early } = measure_one(stage, report);
        let size = report.size();
        table.row(&format!("{size}: bare transfer, ms"), "socket", bare.words());
        table.row(&format!("{size}: transfer that keeps its bytes, ms"), "socket", kept.words());
        table.row(&format!("{size}: first rows, ms"), "behaview", first.words());
        table.row(&format!("{size}: every row counted, ms"), "behaview", last.words());
        table.row(&format!("{size}: peak memory, bytes a byte"), "behaview", memory.words());
        table.row(&format!("{size}: on disk, bytes a byte"), "behaview", format!("{:.2}", disk.median()));
        table.row(&format!("{size}: first rows where half is late, ms"), "behaview", early.words());
        table.grows("first rows, ms", report, &first);
        table.grows("every row counted, ms", report, &last);
        table.grows("peak memory, bytes a byte", report, &memory);
        let late = LATE.as_secs_f64() * 1_000.0;
        table.ratio(&format!("{size}: first rows against the late half"), early.median(), late, 1.0);
        let allowed = bare.median() * 1.1 + 60.0;
        table.ratio(&format!("{size}: complete against the bare transfer and 60 ms"), last.median(), allowed, 1.0);
        let over = last.median() - bare.median() * 1.1;
        table.limit(&format!("{size}: complete, what is over 1.1 of the bare transfer,"), over, 60.0, stage.pace);
        if report.bytes >= 10_000_000 {
            table.ratio(&format!("{size}: memory against the report"), memory.median(), 1.0, 1.3);
            table.ratio(&format!("{size}: on disk against the report"), disk.median(), 1.0, 0.35);
        }
    }
}
