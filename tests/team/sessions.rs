//! Random sessions of many people at once, while programs, the database and connections are killed:
//! a report is paid for once, the team's ledger is never below the service, no report is lost.
//!
//! The usual test is small. `BEHAVIEW_SESSIONS=40 cargo test --test team sessions -- --nocapture`
//! runs 50 people with as many sessions each, and prints counts and times. `BEHAVIEW_OLDER=PATH`
//! is an older program, which every third person uses for the first half.

use super::server::{Database, own_server};
use super::wire::{Wire, percentiles};
use super::*;
use behaview::demo::{Endpoint, Options, PeriodAmounts};
use std::collections::{BTreeMap, HashMap};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What a person is, does and sees.
struct Person<'a> {
    number: usize,
    colleague: Colleague,
    older: Option<String>,
    random: u64,
    /// The reports in this person's store.
    stored: Vec<usize>,
    all: &'a Outcomes,
}

/// What came of all sessions.
struct Outcomes {
    began: Instant,
    /// Sessions by how they ended.
    ends: Mutex<BTreeMap<String, usize>>,
    /// Calls of each report that may have been charged without the team having the report: those of
    /// a killed program, or whose response the service did not send, or the database did not take.
    lost: Arc<Mutex<HashMap<usize, usize>>>,
    /// What came of each session: explains a failure.
    log: Mutex<Vec<(usize, String)>>,
    /// The bytes of each report that anybody has been shown.
    shown: Mutex<HashMap<usize, String>>,
    /// The time until a stored report is shown, whatever happens.
    usable: Mutex<Vec<Duration>>,
}

/// The identifier of a report that only this test has.
fn report(number: usize) -> String {
    format!("{}_Lab{number}-1794474845", main_file())
}

/// The number of the report that a call is about.
fn number_of(target: &str) -> Option<usize> {
    target.split_once("_Lab")?.1.split('-').next()?.parse().ok()
}

fn next(random: &mut u64, below: u64) -> u64 {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) % below
}

impl Person<'_> {
    fn command(&self, arguments: &[&str], is_older: bool) -> Command {
        let command = self.colleague.command(arguments);
        let Some(path) = self.older.as_ref().filter(|_| is_older) else { return command };
        let mut older = Command::new(path);
        older.env_clear().args(command.get_args()).stdin(Stdio::null());
        older.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        older
    }

    /// Shows a report, perhaps killed in the midst of it.
    fn ask(&mut self, about: usize, is_older: bool, database: &Mutex<Database>) {
        // The first version left calls and responses of a killed first session unshared.
        let may_die = self.older.is_none() || !is_older;
        let dies_after = (next(&mut self.random, 100) < 12 && may_die).then(|| next(&mut self.random, 500));
        let mut command = self.command(&["show", &report(about)], is_older);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let Some(after) = dies_after {
            std::thread::sleep(Duration::from_millis(after));
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        let said = format!(
            "{:?} {}, older: {is_older}, {:?} {}",
            self.all.began.elapsed(),
            self.number,
            output.status,
            errors(&output)
        );
        self.all.log.lock().unwrap().push((about, said));
        let end = match (output.status.code(), output.status.signal()) {
            (_, Some(9)) => {
                *self.all.lost.lock().unwrap().entry(about).or_default() += 1;
                // As if 15 seconds had passed, which the full test waits for.
                if !is_full() {
                    let expire = "SET session_replication_role = replica; UPDATE behaview.claim \
                                  SET renewed = now() - interval '16 seconds' WHERE person = ";
                    let expire = format!("{expire} 'p{}'", self.number);
                    let mut database = database.lock().unwrap();
                    if database.try_run(&expire).is_err() {
                        database.reconnect();
                        let _ = database.try_run(&expire);
                    }
                }
                "killed".to_owned()
            }
            (Some(0), _) => {
                let shown = text(&output);
                assert!(shown.contains(&report(about)), "{about}: another report: {shown}");
                let first = self.all.shown.lock().unwrap().entry(about).or_insert(shown.clone()).clone();
                assert_eq!(first, shown);
                self.stored.push(about);
                if errors(&output).contains("shared later") {
                    *self.all.lost.lock().unwrap().entry(about).or_default() += 1;
                    *self.all.ends.lock().unwrap().entry("of these, not shared at once".to_owned()).or_default() += 1;
                }
                let is_free = errors(&output).contains("nothing was charged");
                if is_free { "taken from the team or the store" } else { "paid for" }.to_owned()
            }
            _ => {
                let why = errors(&output);
                assert!(output.status.code() == Some(8), "{why}");
                let kinds = ["is fetching", "no answer within", "not reachable", "the response was lost"];
                // As long as it takes to read that.
                std::thread::sleep(Duration::from_millis(200));
                kinds.iter().rev().find(|kind| why.contains(**kind)).map_or(why.clone(), |kind| (*kind).to_owned())
            }
        };
        *self.all.ends.lock().unwrap().entry(end).or_default() += 1;
    }

    /// Shows a stored report: nothing of what happens elsewhere may delay or prevent that.
    fn look(&mut self, is_older: bool) {
        let Some(about) = self.stored.last().copied() else { return };
        let began = Instant::now();
        let output = self.command(&["show", &report(about)], is_older).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        self.all.usable.lock().unwrap().push(began.elapsed());
    }

    fn run(&mut self, sessions: usize, database: &Mutex<Database>) {
        for session in 0..sessions {
            let is_older = session * 2 < sessions;
            if is_full() {
                std::thread::sleep(Duration::from_millis(next(&mut self.random, 12_000)));
            }
            // Many ask for the same at one moment.
            let about = session * 4 + next(&mut self.random, 12) as usize;
            self.ask(about, is_older, database);
            if next(&mut self.random, 3) == 0 {
                self.look(is_older);
            }
        }
    }
}

fn is_full() -> bool {
    std::env::var_os("BEHAVIEW_SESSIONS").is_some()
}

/// A service with any number of reports, some of whose responses are not sent.
fn service(lost: &Arc<Mutex<HashMap<usize, usize>>>) -> CliHarness {
    let much = PeriodAmounts { minute: 1 << 30, hourly: 1 << 30, daily: 1 << 30, monthly: 1 << 30 };
    let cli = CliHarness::with(Options { user_limits: much, group_limits: much, ..Options::default() });
    let (lost, mut random) = (Arc::clone(lost), 1);
    cli.demo.intercept(Box::new(move |call, change| {
        let Some(number) = number_of(call.target).filter(|_| call.endpoint == Endpoint::Behaviour) else { return };
        let (own, known) = (format!("_Lab{number}-"), "_CAPE%20Sandbox-");
        change.target = Some(call.target.replace(&own, known));
        change.delay = Duration::from_millis(next(&mut random, 150));
        change.reply = Some(Box::new(move |mut reply| {
            let body = String::from_utf8_lossy(&reply.body);
            reply.body = body.replace("_CAPE Sandbox-", &own).replace(known, &own).into();
            reply
        }));
        if next(&mut random, 100) < 3 {
            *lost.lock().unwrap().entry(number).or_default() += 1;
            change.write = Some(Box::new(|_, _| Box::pin(async { Ok(()) })));
        }
    }));
    cli
}

/// Kills the database and cuts connections until told to end; returns how often.
fn disturb(database: &Database, wire: &Wire, ends: &AtomicBool) -> (usize, usize) {
    let data = database.ask("SHOW data_directory");
    let pause = Duration::from_millis(if is_full() { 4000 } else { 700 });
    let (mut kills, mut cuts) = (0, 0);
    while !ends.load(Ordering::Relaxed) {
        std::thread::sleep(pause);
        if (kills + cuts) % 3 == 2 {
            let lines = std::fs::read_to_string(Path::new(&data).join("postmaster.pid")).unwrap_or_default();
            if let Some(process) = lines.lines().next().filter(|process| process.parse::<u32>().is_ok()) {
                let _ = Command::new("kill").args(["-9", process]).status();
                kills += 1;
            }
        } else {
            wire.cut();
            cuts += 1;
        }
    }
    (kills, cuts)
}

#[test]
fn sessions_of_many_pay_once_whatever_is_killed() {
    let Some(server) = own_server("") else { return };
    let sessions: usize = std::env::var("BEHAVIEW_SESSIONS").map_or(3, |number| number.parse().unwrap());
    let older = std::env::var("BEHAVIEW_OLDER").ok();
    if older.is_none() {
        println!("NOT tested: two versions of the program (BEHAVIEW_OLDER is the path of an older one)");
    }
    let all = Outcomes {
        began: Instant::now(),
        ends: Mutex::default(),
        lost: Arc::default(),
        log: Mutex::default(),
        shown: Mutex::default(),
        usable: Mutex::default(),
    };
    let cli = service(&all.lost);
    let database = Database::new(&server, "many");
    database.init(behaview(cli.home.path()));
    let wire = Wire::new(&database.threads, database.port);
    let count = if is_full() { 50 } else { 8 };
    let mut people: Vec<_> = (0..count)
        .map(|number| {
            let name = format!("p{number}");
            database.run(&format!("CREATE ROLE {name} LOGIN PASSWORD 'pw-{name}-5ecret' IN ROLE behaview_analyst"));
            let url = database.url(&name).replace(&database.port.to_string(), &wire.port.to_string());
            let patience = if is_full() { "" } else { "timeout_ms = 5000\n" };
            let colleague = Colleague::new(&cli, &url, &format!("unreachable = \"refuse\"\n{patience}"));
            let older = older.clone().filter(|_| number % 3 == 0);
            Person { number, colleague, older, random: number as u64, stored: Vec::new(), all: &all }
        })
        .collect();
    let (ends, mut watched) = (AtomicBool::new(false), database.again());
    let database = Mutex::new(database);
    let disturbed = std::thread::scope(|scope| {
        let disturbing = scope.spawn(|| disturb(&watched, &wire, &ends));
        std::thread::scope(|scope| {
            for person in &mut people {
                scope.spawn(|| person.run(sessions, &database));
            }
        });
        ends.store(true, Ordering::Relaxed);
        disturbing.join().unwrap()
    });
    watched.reconnect();
    println!("{:?}; killed the database and cut connections {disturbed:?} times", all.ends.lock().unwrap());
    println!("usable: {}; {}", percentiles(&mut all.usable.lock().unwrap()), wire.times().join("; "));
    check(&people, &cli, &watched);
}

/// Lets everyone share what is left, then compares the team's store with the service.
fn check(people: &[Person<'_>], cli: &CliHarness, database: &Database) {
    database
        .run("SET session_replication_role = replica; UPDATE behaview.claim SET renewed = now() - interval '1 day'");
    let all = people[0].all;
    let last = report(1 << 20);
    let share = |person: &Person<'_>| {
        let run = |arguments: &[&str]| {
            person.colleague.command(arguments).env("BEHAVIEW_TEAM_TIMEOUT_MS", "20000").output().unwrap()
        };
        let output = run(&["show", &last]);
        // What the service did not send can be asked for again.
        assert!(output.status.success() || run(&["show", &last]).status.success(), "{output:?}");
        assert_eq!(json(&run(&["team", "status", "--json"]))["waiting"], 0);
    };
    std::thread::scope(|scope| people.iter().for_each(|person| drop(scope.spawn(|| share(person)))));
    let seen = cli.demo.seen();
    let mut charged = HashMap::<usize, usize>::new();
    for number in seen.iter().filter(|call| call.charged > 0).filter_map(|call| number_of(&call.path)) {
        *charged.entry(number).or_default() += 1;
    }
    let lost = all.lost.lock().unwrap().clone();
    for (number, times) in &charged {
        let lost = lost.get(number).copied().unwrap_or(0);
        let log = || {
            all.log
                .lock()
                .unwrap()
                .iter()
                .filter(|(about, _)| about == number)
                .map(|(_, said)| said.clone())
                .collect::<Vec<_>>()
        };
        assert!(
            *times <= 1 + lost,
            "report {number} was charged {times} times, {lost} of them without a report: {:#?}",
            log()
        );
    }
    let (spent, service) = (database.ask("SELECT sum(charged) FROM behaview.call"), cli.demo.used().user.daily);
    let again = charged.values().map(|times| times - 1).sum::<usize>();
    println!(
        "{} reports, charged {} times, {again} again after a loss; the team's ledger {spent}, the service {service}",
        charged.len(),
        seen.iter().filter(|call| call.charged > 0).count()
    );
    assert!(spent.parse::<u64>().unwrap() >= service, "the team's ledger has {spent}, the service {service}");
    // A newcomer has everything that anybody was shown, for nothing.
    let newcomer = &Colleague::new(cli, &database.url("ana"), PATIENT);
    let shown = all.shown.lock().unwrap();
    for (number, bytes) in shown.iter().take(if is_full() { usize::MAX } else { 4 }) {
        assert_eq!(text(&newcomer.run(&["show", &report(*number)])), *bytes, "report {number}");
    }
    assert_eq!(cli.demo.used().user.daily, service);
    // What was paid for and stored by a program that was killed then is shared by its next session.
    for number in charged.keys().filter(|number| !shown.contains_key(number)) {
        let question =
            format!("SELECT count(*) FROM behaview.response WHERE encode(key, 'escape') LIKE '%_Lab{number}-%'");
        let is_stored =
            |person: &&Person<'_>| person.colleague.run(&["show", "--offline", &report(*number)]).status.success();
        let holder = people.iter().find(is_stored).map(|person| person.number);
        assert!(
            holder.is_none() || database.ask(&question) != "0",
            "report {number} is only in the store of {holder:?}"
        );
    }
}
