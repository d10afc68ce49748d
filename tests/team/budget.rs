//! The group's budgets: set by a lead, counted before each call, the same for everyone.

use super::*;
use std::io::{Read, Write};

fn budgets(person: &Colleague) -> Value {
    json(&person.run(&["team", "budget", "--json"]))["budgets"].clone()
}

/// Runs the app in lines; each is typed once the program waits for it.
fn talk(person: &Colleague, lines: &[&str]) -> String {
    let mut command = person.command(&["--plain", &main_file()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    let mut chunk = [0; 65536];
    for line in lines {
        while !shown.ends_with(b"\n> ") {
            let length = output.read(&mut chunk).unwrap();
            assert!(length > 0, "{}", String::from_utf8_lossy(&shown));
            shown.extend_from_slice(&chunk[..length]);
        }
        shown.push(b'\n');
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    output.read_to_end(&mut shown).unwrap();
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

#[test]
fn last_unit_of_a_budget_is_spent_by_one_program() {
    let Some((cli, database, ana, ben)) = team("budgets") else { return };
    let dora = Colleague::new(&cli, &database.url("dora"), PATIENT);
    let reports = identifiers(&ana.run(&["list", &main_file(), "--format", "ids"]));
    let refused = ana.run(&["team", "budget", "day", "9"]);
    assert_eq!((refused.status.code(), budgets(&ana)), (Some(4), serde_json::json!([])), "{refused:?}");
    assert!(text(&dora.run(&["team", "budget", "month", "100"])).contains("\nmonth "));
    // One unit is spent: three remain, and one of them is for incidents.
    let set = dora.run(&["team", "budget", "day", "4", "--reserve", "1"]);
    assert!(set.status.success(), "{set:?}");
    for wrong in [&["day", "1", "--reserve", "2"][..], &["month", "10x"], &["year", "1"], &["day"]] {
        assert_eq!(dora.run(&[&["team", "budget"], wrong].concat()).status.code(), Some(2), "{wrong:?}");
    }
    let start = |number: usize| {
        let person = if number < 3 { &ana } else { &ben };
        person.start(&["show", &reports[number % 3], "--refresh"])
    };
    let done: Vec<_> = (0..6).map(start).collect();
    let codes: Vec<_> = done.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    let with = |code| codes.iter().filter(|each| **each == Some(code)).count();
    assert_eq!((with(0), with(11), cli.paid()), (2, 4, 3), "{codes:?}");
    // The price says so before, on the screen too; the reserve needs a word of its own.
    let show = ["show", &reports[0], "--refresh"];
    let dry = ben.run(&[&show[..], &["--dry-run"]].concat());
    let words = "0 of the 3 that the group may spend today (UTC) is left, 1 more for incidents";
    assert!(dry.status.code() == Some(11) && errors(&dry).contains(words), "{dry:?}");
    assert_eq!(ben.run(&[&show[..], &["--dry-run", "--incident"]].concat()).status.code(), Some(0));
    // He may have won no unit, and then has nothing stored.
    assert!(ben.run(&["list", &main_file()]).status.success());
    let asked = talk(&ben, &["refetch", "y", "esc", "quit"]);
    assert!(asked.contains("over the group's budget") && asked.contains("Is this an incident?"), "{asked}");
    assert_eq!(cli.paid(), 3);
    talk(&ben, &["refetch", "y", "y", "quit"]);
    assert_eq!(cli.paid(), 4, "the reserve is spent after confirmation");
    let last = ana.run(&[&show[..], &["--incident"]].concat());
    assert!(last.status.code() == Some(11) && errors(&last).contains("0 of the 4") && cli.paid() == 4, "{last:?}");
    assert_eq!(budgets(&ben)[0], serde_json::json!({"period": "daily", "limit": 4, "reserve": 1, "spent": 4}));
    dora.run(&["team", "budget", "day", "none"]);
    assert_eq!(budgets(&ben).as_array().unwrap().len(), 1);
    // Forged costs do not make room, and no one changes what is counted.
    let forged = "INSERT INTO behaview.call (machine, number, at, service, operation, unit, charged, saved)
        SELECT 'm', 1, at, service, operation, unit, -99, 0 FROM behaview.call LIMIT 1";
    assert_eq!(database.refusal("ben", forged), None);
    assert_eq!(budgets(&ben)[0]["spent"], 4);
    for forbidden in ["DELETE FROM behaview.reservation", "UPDATE behaview.budget SET units = 99"] {
        assert!(database.refusal("ben", forbidden).is_some_and(|why| why.contains("permission denied")));
    }
}

#[test]
fn call_of_a_killed_program_counts_until_it_is_settled() {
    let Some((cli, database, ana, _ben)) = team("counted") else { return };
    let dora = Colleague::new(&cli, &database.url("dora"), PATIENT);
    dora.run(&["team", "budget", "month", "3"]);
    arm(&cli.demo, "delay=60000*1");
    let mut killed = ana.start(&["list", &main_file()]);
    let began = Instant::now();
    while cli.demo.seen().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", killed.try_wait());
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let open = || database.ask("SELECT count(*) FROM behaview.reservation");
    assert_eq!((open(), &budgets(&dora)[0]["spent"]), ("1".to_owned(), &1.into()));
    database.run("SET session_replication_role = replica; DELETE FROM behaview.claim");
    assert!(ana.run(&["list", &main_file()]).status.success());
    assert_eq!((open(), &budgets(&dora)[0]["spent"]), ("0".to_owned(), &2.into()));
}

#[test]
fn unreachable_database_is_confirmed_in_the_app() {
    let cli = CliHarness::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://ana:5ecret@{closed}/b?sslmode=disable");
    let ana = Colleague::new(&cli, &url, "unreachable = \"ask\"\n");
    let refused = ana.run(&["list", &main_file()]);
    assert_eq!((refused.status.code(), cli.paid()), (Some(8), 0), "{refused:?}");
    assert!(errors(&refused).contains("--set 'team.unreachable=go on' sends"), "{refused:?}");
    let app = talk(&ana, &["list", "y", "y", "quit"]);
    assert!(app.contains("Send and pay without the team") && cli.paid() == 1, "{app}");
    assert!(ana.run(&["list", &main_file(), "--refresh", "--set", "team.unreachable=go on"]).status.success());
}

#[test]
fn call_that_cannot_be_counted_is_refused() {
    let Some((cli, database, ana, _)) = team("uncounted") else { return };
    let refuse = ["list", &main_file(), "--set", "team.unreachable=refuse"];
    database.run("DROP TABLE behaview.budget CASCADE");
    let refused = ana.run(&refuse);
    assert!(errors(&refused).contains("lacks tables") && cli.paid() == 0, "{refused:?}");
    // Tables of before budgets have no function that counts.
    database.run("DROP FUNCTION behaview.reserve");
    assert!(ana.run(&refuse).status.success() && cli.paid() == 1);
}
