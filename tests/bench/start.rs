//! From exec to the first frame: nothing open, with a config file, a live profile and a store of many reports.

use crate::figures::{Figure, Table};
use crate::home::Home;
use crate::terminal::Program;
use crate::{Stage, behaview, peers};

/// Reports that are held.
const HELD: usize = 200;

pub fn measure(stage: &Stage, table: &mut Table) {
    let home = Home::offline();
    home.hold_many(stage.smallest(), HELD);
    let ours = Program::new("behaview", behaview(), &[]).at(home.path()).with("BEHAVIEW_API_KEY", "bench");
    let peers: Vec<_> = peers::on(stage.smallest()).into_iter().map(|peer| (peer.program, peer.first)).collect();
    let mut figures = vec![Figure::default(); peers.len() + 1];
    // The first start makes the store.
    ours.start().until("SHA-256");
    for _ in 0..stage.wanted.reps * 3 {
        figures[0].time(ours.start().until("SHA-256"));
        for ((program, first), figure) in peers.iter().zip(figures.iter_mut().skip(1)) {
            figure.time(program.start().until(first));
        }
    }
    table.row("exec to first frame, ms", "behaview", figures[0].words());
    for ((program, _), figure) in peers.iter().zip(&figures[1..]) {
        table.row("exec to first frame, ms", &program.name, figure.words());
        match program.name.as_str() {
            "less" => table.ratio("start against less", figures[0].median(), figure.median(), 1.3),
            "jless" => table.ratio("start against jless", figures[0].median(), figure.median(), 1.0),
            _ => {}
        }
    }
    let size = std::fs::metadata(behaview()).unwrap().len();
    // What only tests need of the libraries is in it: `cargo build --release` by itself makes a smaller one.
    table.row("the program as it is built here, bytes", "behaview", size.to_string());
}
