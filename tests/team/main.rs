//! A team store on a real PostgreSQL server: two people with a store each, a service, and one bill.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod budget;
#[path = "../faults/mod.rs"]
#[allow(dead_code)]
mod faults;
mod growth;
#[path = "../scripts/harness.rs"]
#[allow(dead_code)]
mod harness;
mod notes;
mod server;
mod sessions;
mod values;
mod wire;

use faults::arm;
use harness::{CliHarness, behaview, errors, json, main_file, piped, text};
use serde_json::Value;
use server::{Database, server};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// This machine may be busy, and the program is not optimized.
const PATIENT: &str = "timeout_ms = 20000\n";

/// A home of a colleague who uses the same service.
struct Colleague {
    home: TempDir,
    key: String,
}

impl Colleague {
    fn new(cli: &CliHarness, team: &str, more: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = |home: &Path| home.join(".config/behaview/config.toml");
        std::fs::create_dir_all(path(home.path()).parent().unwrap()).unwrap();
        std::fs::copy(path(cli.home.path()), path(home.path())).unwrap();
        let text = std::fs::read_to_string(path(home.path())).unwrap();
        std::fs::write(path(home.path()), format!("{text}[team]\nurl = \"{team}\"\n{more}")).unwrap();
        Self { home, key: cli.key.clone() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = behaview(self.home.path());
        command.args(arguments).env("VT_APIKEY", &self.key).env("BEHAVIEW_ENTITLEMENTS_PRIVATE_SCANNING", "true");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// A service, a database, and ana and ben; `None` without PostgreSQL.
fn team(name: &str) -> Option<(CliHarness, Database, Colleague, Colleague)> {
    let cli = CliHarness::new();
    let database = Database::new(server()?, name);
    database.init(behaview(cli.home.path()));
    let [ana, ben] = ["ana", "ben"].map(|person| Colleague::new(&cli, &database.url(person), PATIENT));
    Some((cli, database, ana, ben))
}

/// The identifiers of the reports of the main file, as `list --format ids` prints them.
fn identifiers(list: &Output) -> Vec<String> {
    text(list).lines().map(str::to_owned).collect()
}

#[test]
fn group_pays_once_for_lists_and_reports() {
    let Some((cli, database, ana, ben)) = team("once") else { return };
    let file = main_file();
    let shown = text(&ana.run(&["team", "check"]));
    assert!(shown.contains("ana@127.0.0.1/once, on this machine") && shown.contains("analyst"), "{shown}");
    let list = ana.run(&["list", &file, "--format", "ids"]);
    let reports = identifiers(&list);
    let first = ana.run(&["show", &reports[0]]);
    let paid = cli.paid();
    // Before anything is asked for, its price says who has paid.
    let price = text(&ben.run(&["list", &file, "--dry-run"]));
    assert!(price.contains("0, stored by the team (ana, ") && price.contains("Nothing was sent"), "{price}");
    // So does the app, where a report of the list that was taken costs nothing either.
    let laptop = Colleague::new(&cli, &database.url("ben"), PATIENT);
    let app = text(&piped(&mut laptop.command(&["--plain", &file]), "list\nopen\nquit\n"));
    assert!(app.contains("free: enter list sandboxes") && app.contains("spent this session: 0"), "{app}");
    assert!(app.contains("== 1 Processes") && cli.paid() == paid, "{app}");
    // A budget does not stop what costs nothing.
    let other = Colleague::new(&cli, &database.url("ben"), PATIENT);
    assert!(other.run(&["list", &file, "--max-cost", "0"]).status.success());
    let again = ben.run(&["list", &file, "--format", "ids"]);
    assert_eq!((identifiers(&again), cli.paid()), (reports.clone(), paid), "{}", errors(&again));
    assert!(errors(&again).contains("nothing was charged"), "{again:?}");
    assert_eq!((text(&ben.run(&["show", &reports[0]])), cli.paid()), (text(&first), paid));
    let ledger = text(&ben.run(&["ledger", "--json"]));
    assert!(ledger.contains("not sent: stored by the team (ana, "), "{ledger}");
    // What a relist pays for is shared as well.
    ben.run(&["list", &file, "--refresh"]);
    assert_eq!(cli.paid(), paid + 1);
    let status = json(&ana.run(&["team", "status", "--json"]));
    assert_eq!((status["people"].as_array().unwrap().len(), &status["waiting"]), (2, &0.into()), "{status}");
    let members: Vec<_> =
        status.as_object().unwrap().keys().chain(status["people"][0].as_object().unwrap().keys()).collect();
    let manual = include_str!("../../assets/help/json.md").split("## team status").nth(1).unwrap();
    assert!(members.iter().all(|member| manual.contains(member.as_str())), "{members:?}");
    assert!(status["reports"].as_u64() >= Some(4) && status["bytes"].as_u64() > Some(0), "{status}");
    // Who leads sees what everyone spent and saved, others their own; no neighbour's row hides it.
    database.run(
        "INSERT INTO behaview.call (person, machine, number, at, service, operation, unit, charged, saved)
         SELECT 'ana', 'forged', 1, 9223372036854775807, service, repeat('x', 100000), 'x', 0, 0 FROM behaview.call LIMIT 1",
    );
    let dora = Colleague::new(&cli, &database.url("dora"), PATIENT);
    let costs =
        |person: &Colleague| json(&person.run(&["ledger", "--team", "--json"]))["team"].as_array().unwrap().clone();
    let sum = |rows: &[Value], name: &str, column: &str| -> u64 {
        rows.iter().filter(|row| row["person"] == name).map(|row| row[column].as_u64().unwrap()).sum()
    };
    let (all, own) = (costs(&dora), costs(&ben));
    assert_eq!((sum(&all, "ana", "counts_as"), sum(&all, "ben", "counts_as")), (paid as u64, 1), "{all:?}");
    assert!(sum(&all, "ben", "saved") >= 1 && own.iter().all(|row| row["person"] == "ben"), "{own:?}");
    assert!(all.iter().any(|row| row["file"] == main_file()), "{all:?}");
    let spenders = text(&dora.run(&["quota", "--statement", "csv"]));
    assert!(spenders.contains("\"user\",\"ana\"") && spenders.contains("\"user\",\"ben\""), "{spenders}");
    assert_eq!((sum(&own, "ben", "calls"), all.len() > own.len()), (sum(&all, "ben", "calls"), true));
    assert_eq!(database.ask("SELECT count(*) FROM behaview.claim"), "0");
}

#[test]
fn concurrent_calls_of_two_people_are_one() {
    let Some((cli, _database, ana, ben)) = team("at_once") else { return };
    arm(&cli.demo, "delay=700");
    let both = [&ana, &ben].map(|person| person.start(&["list", &main_file()]));
    let both = both.map(|child| child.wait_with_output().unwrap());
    assert_eq!((both[0].status.success(), both[1].status.success(), cli.paid()), (true, true, 1), "{both:?}");
    assert_eq!(both[0].stdout.len(), both[1].stdout.len());
}

#[test]
fn claim_of_a_killed_program_expires() {
    let Some((cli, database, ana, ben)) = team("killed") else { return };
    arm(&cli.demo, "delay=60000*1");
    let mut killed = ana.start(&["list", &main_file()]);
    let began = Instant::now();
    while cli.demo.seen().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", killed.try_wait());
        std::thread::sleep(Duration::from_millis(20));
    }
    let waiting = ben.start(&["list", &main_file()]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(cli.demo.seen().len(), 1, "ben does not send while the claim may be alive");
    // As if 15 seconds had passed; the database does not let ben do that.
    let expire = "UPDATE behaview.claim SET renewed = now() - interval '16 seconds'";
    assert!(database.refusal("ben", expire).is_some_and(|why| why.contains("permission denied")));
    database.run(&format!("SET session_replication_role = replica; {expire}"));
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success() && errors(&output).contains("ana is fetching it"), "{output:?}");
    assert_eq!(cli.demo.seen().len(), 2);
}

#[test]
fn silent_database_delays_a_call_for_a_moment() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (address, why) in [(silent.local_addr().unwrap(), "no answer within 300 ms"), (closed, "refused")] {
        let cli = CliHarness::new();
        let ana = Colleague::new(&cli, &format!("postgres://ana:5ecret@{address}/b?sslmode=disable"), "");
        let refused = ana.run(&["list", &main_file(), "--set", "team.unreachable=refuse"]);
        assert_eq!((refused.status.code(), cli.paid()), (Some(8), 0), "{refused:?}");
        let began = Instant::now();
        let paid = ana.run(&["list", &main_file(), "--format", "ids"]);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert!(paid.status.success() && errors(&paid).matches(why).count() == 1, "{paid:?}");
        for output in [refused, ana.run(&["team", "check"]), ana.run(&["team", "status"]), ana.run(&["config", "show"])]
        {
            assert!(!format!("{output:?}").contains("5ecret"), "{output:?}");
        }
        // What could not be shared waits for the next call.
        let Some(server) = server() else { continue };
        let database = Database::new(server, &format!("later_{}", address.port()));
        database.init(behaview(cli.home.path()));
        let url = database.url("ana");
        let with = |arguments: &[&str]| {
            ana.command(arguments)
                .env("BEHAVIEW_TEAM_URL", &url)
                .env("BEHAVIEW_TEAM_TIMEOUT_MS", "20000")
                .output()
                .unwrap()
        };
        assert_eq!(json(&with(&["team", "status", "--json"]))["waiting"], 5);
        with(&["show", &identifiers(&paid)[0], "--refresh"]);
        let status = json(&with(&["team", "status", "--json"]));
        assert_eq!((&status["waiting"], &status["responses"]), (&0.into(), &5.into()), "{status}");
    }
}

#[test]
fn database_refuses_a_forged_name_and_every_change() {
    let Some((cli, database, ana, _ben)) = team("forged") else { return };
    ana.run(&["list", &main_file()]);
    let row = "(service, key, received, digest, length, packed";
    let values = "('s', 'k', 1, sha256('x'), 1, 'x'";
    let add = |more: &str, value: &str| format!("INSERT INTO behaview.response {row}{more}) VALUES {values}{value})");
    for (person, statement) in [
        ("ben", add(", person", ", 'ana'")),
        ("ben", add("", "").replace("'k', 1", "'k', 99999999999999")),
        ("ben", "UPDATE behaview.response SET packed = 'x'".to_owned()),
        ("ben", "DELETE FROM behaview.response".to_owned()),
        ("ben", "INSERT INTO behaview.claim (service, key, token, person) VALUES ('s', 'k', 't', 'ana')".to_owned()),
        ("ben", "UPDATE behaview.call SET person = 'ben'".to_owned()),
        ("ben", "DELETE FROM behaview.call".to_owned()),
        ("ben", "SET ROLE admin".to_owned()),
        ("carl", add("", "")),
    ] {
        assert!(database.refusal(person, &statement).is_some(), "{statement}");
    }
    assert_eq!(database.refusal("ben", &add("", "")), None);
    assert_eq!(database.ask("SELECT person FROM behaview.response WHERE service = 's'"), "ben");
    // Another's claim can be neither released nor taken while it is renewed.
    database.refusal("ana", "INSERT INTO behaview.claim (service, key, token) VALUES ('s', 'k', 'of ana')");
    database.refusal("ben", "DELETE FROM behaview.claim; UPDATE behaview.claim SET token = 'of ben'");
    database.refusal("ben", "UPDATE behaview.call SET charged = 99");
    assert_eq!(database.ask("SELECT max(charged) FROM behaview.call WHERE person = 'ana'"), "1");
    assert_eq!(database.ask("SELECT token || person FROM behaview.claim WHERE service = 's'"), "of anaana");
    // Who may only read takes what is shared, and pays for the rest without a claim.
    let carl = Colleague::new(&cli, &database.url("carl"), PATIENT);
    let paid = cli.paid();
    assert!(carl.run(&["list", &main_file()]).status.success() && cli.paid() == paid);
    let refetched = carl.run(&["list", &main_file(), "--refresh"]);
    assert!(refetched.status.success() && cli.paid() == paid + 1, "{refetched:?}");
    let check = carl.run(&["team", "check"]);
    assert!(text(&check).contains("role reader") && text(&check).contains("behaview_analyst"), "{check:?}");
}

#[test]
fn copy_that_fails_a_check_is_not_used() {
    let Some((cli, database, ana, ben)) = team("damaged") else { return };
    let list = ana.run(&["list", &main_file(), "--format", "ids"]);
    let (reports, paid) = (identifiers(&list), cli.paid());
    assert!(ben.run(&["list", &main_file()]).status.success());
    std::fs::remove_dir_all(ben.home.path().join(".local/share/behaview/reports")).unwrap();
    // Another report's bytes; a wrong digest; an invalid length; and no compressed bytes.
    let of = |report: &str| format!("key = convert_to('behaviour {report}', 'UTF8')");
    let (first, second) = (of(&reports[0]), of(&reports[1]));
    let other = format!("SELECT digest, length, packed FROM behaview.response WHERE {second}");
    database.run(&format!("UPDATE behaview.response SET (digest, length, packed) = ({other}) WHERE {first}"));
    database.run(&format!("UPDATE behaview.response SET digest = sha256('x') WHERE {second}"));
    database.run(&format!("UPDATE behaview.response SET length = 9223372036854775807 WHERE {}", of(&reports[2])));
    database.run(&format!("UPDATE behaview.response SET packed = 'x' WHERE {}", of(&reports[3])));
    for (number, report) in reports.iter().take(4).enumerate() {
        let shown = ben.run(&["show", report]);
        assert!(
            shown.status.success() && errors(&shown).contains("the copy that ana has shared is not used"),
            "{shown:?}"
        );
        assert_eq!(cli.paid(), paid + number + 1, "{shown:?}");
        assert_eq!(text(&shown).is_empty(), text(&ana.run(&["show", report])).is_empty());
    }
}

#[test]
fn connection_is_verified_and_no_password_is_shown() {
    let Some((cli, database, _ana, _ben)) = team("verified") else { return };
    let url = database.url("ana").replace("?sslmode=disable", "");
    let authority: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/authority/authority.pem");
    let run = |url: &str, arguments: &[&str], ca_file: Option<&Path>| {
        let mut command = cli.command(arguments);
        command.env("BEHAVIEW_TEAM_URL", url).env("BEHAVIEW_TEAM_TIMEOUT_MS", "20000");
        if let Some(path) = ca_file {
            command.env("BEHAVIEW_TEAM_CA_FILE", path);
        }
        let output = command.output().unwrap();
        assert!(!format!("{output:?}").contains("5ecret"), "{output:?}");
        output
    };
    let trusted = run(&url, &["team", "check"], Some(&authority));
    assert!(trusted.status.success() && text(&trusted).contains("TLS"), "{trusted:?}");
    let unknown = run(&url, &["team", "check"], None);
    assert!(unknown.status.code() == Some(8) && text(&unknown).contains("team.ca_file"), "{unknown:?}");
    // 127.0.0.1 is named by the certificate, localhost is not.
    let renamed = run(&url.replace("127.0.0.1", "localhost"), &["team", "check"], Some(&authority));
    assert_eq!(renamed.status.code(), Some(8), "{renamed:?}");
    let wrong = run(&database.url("ana").replace("pw-ana", "pw-5ecret"), &["team", "check"], None);
    assert!(wrong.status.code() == Some(4) && text(&wrong).contains("~/.pgpass"), "{wrong:?}");
    let unmade = run(&database.url("admin").replace("/verified", "/postgres"), &["team", "check"], None);
    assert!(text(&unmade).contains("behaview team init"), "{unmade:?}");
    for output in
        [run(&url, &["config", "show"], None), run("postgres://ana:5ecret@db.example", &["list", &main_file()], None)]
    {
        assert!(format!("{output:?}").contains("team"), "{output:?}");
    }
    let argument = cli.run(&["team", "check", "--set", "team.url=postgres://ana@db.example/b"]);
    assert!(argument.status.code() == Some(2) && errors(&argument).contains("cannot be a flag"), "{argument:?}");
    // The password file of PostgreSQL, and a second init, which changes nothing.
    let without = url.replace(":pw-ana-5ecret", "");
    let file = cli.home.path().join(".pgpass");
    std::fs::write(&file, format!("127.0.0.1:{}:*:ana:pw-ana-5ecret\n", database.port)).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    assert!(run(&without, &["team", "check"], Some(&authority)).status.success());
    database.init(behaview(cli.home.path()));
    // An older schema still serves, and init brings it up to date.
    let older = Database::new(server().unwrap(), "older");
    older.run(include_str!("../../src/team/schema.sql"));
    let checked = run(&older.url("ana"), &["team", "check"], None);
    assert!(checked.status.success() && text(&checked).contains("older than this program"), "{checked:?}");
    assert_eq!(run(&older.url("ana"), &["ledger", "--team"], None).status.code(), Some(1));
    assert!(run(&older.url("ana"), &["list", &main_file()], None).status.success());
    assert_eq!(older.ask("SELECT count(*) FROM behaview.response"), "5");
    older.init(behaview(cli.home.path()));
    assert!(run(&older.url("ana"), &["ledger", "--team"], None).status.success());
    // A schema that asks for a newer program is not touched.
    database.run("INSERT INTO behaview.version (version, oldest_client) VALUES (99, 98)");
    assert!(text(&run(&database.url("ana"), &["team", "check"], None)).contains("update it"));
}
