//! A report over HTTP on loopback: its first rows, its last count, beside the bare transfer.

use crate::figures::{Figure, Table};
use crate::opening::complete;
use crate::report::FIRST;
use crate::terminal::Program;
use crate::{Stage, behaview};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Instant;

/// Serves one report, and a list that names it; ends with the process.
fn serve(report: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for call in listener.incoming().flatten() {
            let report = report.clone();
            std::thread::spawn(move || answer(call, &report));
        }
    });
    address
}

fn answer(mut call: TcpStream, report: &PathBuf) -> std::io::Result<()> {
    let mut lines = BufReader::new(call.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let file = "5".repeat(64);
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
    call.write_all(head(source.metadata()?.len()).as_bytes())?;
    std::io::copy(&mut source, &mut call).map(|_| ())
}

/// How long the bytes alone take.
fn transfer(address: SocketAddr) -> f64 {
    let started = Instant::now();
    let mut call = TcpStream::connect(address).unwrap();
    call.write_all(b"GET /report HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let (mut buffer, mut read) = (vec![0; 1 << 16], 1);
    while read > 0 {
        read = call.read(&mut buffer).unwrap();
    }
    started.elapsed().as_secs_f64() * 1_000.0
}

pub fn measure(stage: &Stage, table: &mut Table) {
    for report in &stage.reports {
        let address = serve(report.path.clone());
        let (mut bare, mut first, mut last, mut memory) = Default::default();
        for _ in 0..stage.wanted.reps {
            Figure::add(&mut bare, transfer(address));
            let home = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(home.path().join(".config/behaview")).unwrap();
            let config =
                format!("profile = \"lab\"\n[profiles.lab]\nroot = \"http://{address}\"\nlisting = \"identifiers\"\n");
            std::fs::write(home.path().join(".config/behaview/config.toml"), config).unwrap();
            let file = "5".repeat(64);
            let program = Program::new("behaview", behaview(), &[OsStr::new(&file)]).at(home.path());
            let mut running = program.with("BEHAVIEW_API_KEY", "bench").start();
            running.until("enter list sandboxes");
            running.settle();
            running.press(b"\r");
            running.until("enter open");
            running.settle();
            let pressed = running.press(b"\r");
            Figure::time(&mut first, running.until_since(pressed, FIRST));
            Figure::time(&mut last, running.until_since(pressed, &complete(report)));
            Figure::add(&mut memory, running.peak().unwrap_or(f64::NAN) / report.bytes as f64);
        }
        let size = report.size();
        table.row(&format!("{size}: bare transfer, ms"), "socket", bare.words());
        table.row(&format!("{size}: first rows, ms"), "behaview", first.words());
        table.row(&format!("{size}: every row counted, ms"), "behaview", last.words());
        table.row(&format!("{size}: peak memory, bytes a byte"), "behaview", memory.words());
        table.ratio(&format!("{size}: first rows against the bare transfer"), first.median(), bare.median(), 1.0);
        table.ratio(
            &format!("{size}: complete against the bare transfer and 60 ms"),
            last.median(),
            bare.median() * 1.1 + 60.0,
            1.0,
        );
    }
}
