//! The programs that are measured beside ours, as far as they are installed.

use crate::figures::Figure;
use crate::report::Made;
use crate::terminal::Program;
use std::ffi::OsStr;

/// A peer, and how it is spoken to.
pub struct Peer {
    /// How it is started on a report.
    pub program: Program,
    /// What its first screen with data shows.
    pub first: &'static str,
}

/// The largest report that every program opens in bearable time, in bytes.
pub const MOST: u64 = 100_000_000;

/// Every installed peer on a report; none on one that not all of them open.
pub fn on(report: &Made) -> Vec<Peer> {
    if report.bytes > MOST {
        return Vec::new();
    }
    let path = report.path.as_os_str();
    let script = |line: &str| vec![OsStr::new("-c").to_owned(), line.into(), "sh".into(), path.to_owned()];
    let peer = |name: &str, program: &str, arguments: &[&OsStr], first| Peer {
        program: Program::new(name, program, arguments),
        first,
    };
    let piped = script("jq . \"$1\" | less");
    let piped: Vec<&OsStr> = piped.iter().map(AsRef::as_ref).collect();
    let all = [
        ("jless", peer("jless", "jless", &[path], "Bench Box")),
        ("fx", peer("fx", "fx", &[path], "Bench Box")),
        ("jq", peer("jq | less", "sh", &piped, "Bench Box")),
        ("less", peer("less", "less", &[path], "Bench Box")),
        ("vim", peer("vim", "vim", &[OsStr::new("-n"), OsStr::new("-u"), OsStr::new("NONE"), path], "Bench Box")),
    ];
    all.into_iter().filter(|(needed, _)| is_installed(needed)).map(|(_, peer)| peer).collect()
}

/// Milliseconds that jless took for a report of 99 MB on the machine that the limits in milliseconds were set on.
const SET_AT: f64 = 253.0;

/// How many times slower than that machine this one is, by what jless takes for the same; none without it, or without such a report.
pub fn pace(reports: &[Made]) -> Option<f64> {
    let report = reports.iter().rfind(|report| (95_000_000..=MOST).contains(&report.bytes))?;
    let jless = on(report).into_iter().find(|peer| peer.program.name == "jless")?;
    let mut opened = Figure::default();
    for _ in 0..5 {
        opened.time(jless.program.start().until(jless.first));
    }
    Some(opened.median() / SET_AT)
}

/// Whether a program of this name is found.
pub fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
