//! Nothing that was paid for is lost or mixed up: under a wrong clock, beside other programs, on another service, behind a pipe.

use crate::desk::{Desk, errors, json, main_file, squeezed, text};
use crate::store::{identifiers, store};
use behaview::demo::{Listing, Options};
use behaview::store::Store;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

const DAY: i64 = 86_400_000;

fn database(desk: &Desk) -> rusqlite::Connection {
    rusqlite::Connection::open(store(desk)).unwrap()
}

fn held(desk: &Desk) -> Vec<Value> {
    json(&desk.run(&["held", "--json"]))["held"].as_array().unwrap().clone()
}

/// Has it that everything so far was so many days ago, as a clock shows it that was set ahead by them.
fn age(desk: &Desk, days: i64) {
    let by = days * DAY;
    let change = format!(
        "UPDATE answer SET received = received - {by}; UPDATE report SET received = received - {by};
         UPDATE used SET day = day - {days}, at = at - {by};
         UPDATE file SET opened = opened - {by}; UPDATE ledger SET at = at - {by}, settled_at = settled_at - {by}"
    );
    database(desk).execute_batch(&change).unwrap();
}

/// Has it that the store was used every few days since then.
fn use_now_and_then(desk: &Desk, days: i64) {
    let now = jiff::Timestamp::now().as_millisecond();
    let files = format!(
        "WITH RECURSIVE past (n) AS (SELECT 0 UNION ALL SELECT n + 3 FROM past WHERE n < {days})
         INSERT INTO file (profile, sha256, opened) SELECT 'lab', printf('%064x', n), {now} - n * {DAY} FROM past"
    );
    database(desk).execute_batch(&files).unwrap();
}

fn waiting(desk: &Desk, arguments: &[&str]) -> Child {
    desk.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} did not come to pass");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_the_clock_jumped_over_makes_nothing_older() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    age(&desk, 400);
    desk.configure("[store]\ndays = 30\n");
    // What the first run leaves behind does not bear the clock out.
    for _ in 0..2 {
        let listed = desk.run(&["list", "--all", &main_file()]);
        let said = errors(&listed);
        assert!(listed.status.success() && said.contains("came longer ago than [store] days = 30 keeps"), "{said}");
        assert!(
            said.contains("went on by 400 days") && said.contains("behaview held --older-than 30d --yes"),
            "{said}"
        );
    }
    assert_eq!((held(&desk).len(), desk.paid()), (6, 2));
    // A clock that went through all of that time is believed.
    use_now_and_then(&desk, 400);
    let listed = desk.run(&["list", "--dry-run", &main_file()]);
    assert!(errors(&listed).contains("[store] limits deleted 6 reports"), "{listed:?}");
    assert_eq!(held(&desk).len(), 0);
}

#[test]
fn what_is_only_looked_at_grows_old_day_by_day() {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    let ids = identifiers();
    // It was used long ago, and then not for a year: what came later is no younger for that.
    assert!(desk.run(&["held"]).status.success());
    age(&desk, 365);
    assert!(desk.run(&["show", &ids[0]]).status.success());
    desk.configure("[store]\ndays = 30\n");
    let look = || desk.run(&["search", "--set", "offline=true", "nothing of this kind"]);
    for day in 0..29 {
        assert_eq!(held(&desk).len(), 1, "{day}");
        age(&desk, 1);
        let looked = look();
        assert!(!errors(&looked).contains("[store]"), "{day}: {looked:?}");
    }
    age(&desk, 1);
    let deleted = desk.run(&["show", "--offline", &ids[0]]);
    assert!(errors(&deleted).contains("[store] limits deleted 1 report"), "{deleted:?}");
    assert_eq!((held(&desk).len(), desk.paid()), (0, 1));
}

#[test]
fn a_clock_that_was_ahead_is_believed_again_by_what_the_service_sent() {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    let ids = identifiers();
    assert!(desk.run(&["show", &ids[0]]).status.success());
    age(&desk, 400);
    desk.configure("[store]\ndays = 30\n");
    // Whatever the sandbox's time is, it had come when its report came.
    let newer = format!("{}_Box-{}", main_file(), jiff::Timestamp::now().as_second() - 5);
    assert!(desk.run(&["show", &ids[1]]).status.success());
    assert_eq!(held(&desk).len(), 2);
    let change = "UPDATE report SET identifier = CAST(?1 AS BLOB) WHERE answer = (SELECT MAX(id) FROM answer)";
    database(&desk).execute(change, [&newer]).unwrap();
    let listed = desk.run(&["list", "--dry-run", &main_file()]);
    assert!(errors(&listed).contains("[store] limits deleted 1 report,"), "{listed:?}");
}

/// Has the last report come at another time.
fn redate(desk: &Desk, at: i64) {
    let change = format!(
        "UPDATE answer SET received = {at} WHERE id = (SELECT MAX(id) FROM answer);
         UPDATE report SET received = {at} WHERE answer = (SELECT MAX(id) FROM answer)"
    );
    database(desk).execute_batch(&change).unwrap();
}

#[test]
fn what_came_while_the_clock_was_behind_is_of_no_age_that_anybody_knows() {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    let ids = identifiers();
    desk.configure("[store]\ndays = 30\n");
    assert!(desk.run(&["show", &ids[0]]).status.success());
    use_now_and_then(&desk, 400);
    // As by a clock without a battery.
    for at in [DAY, 30 * 365 * DAY] {
        redate(&desk, at);
        let looked = desk.run(&["list", "--dry-run", &main_file()]);
        assert!(!errors(&looked).contains("[store]"), "{at}: {looked:?}");
        assert_eq!(held(&desk).len(), 1);
    }
    // And by one that lost a few months, though what came before says so.
    redate(&desk, jiff::Timestamp::now().as_millisecond() - DAY);
    assert!(desk.run(&["show", &ids[1]]).status.success());
    redate(&desk, jiff::Timestamp::now().as_millisecond() - 200 * DAY);
    let looked = desk.run(&["list", "--dry-run", &main_file()]);
    assert!(!errors(&looked).contains("limits deleted"), "{looked:?}");
    assert_eq!(held(&desk).len(), 2);
}

#[test]
fn an_import_makes_what_was_paid_for_neither_older_nor_younger() {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    let (ids, folder) = (identifiers(), tempfile::tempdir().unwrap());
    let path = folder.path().join("report.json");
    for (n, days) in [(0, 40), (1, 0)] {
        let shown = desk.run(&["show", &ids[n]]);
        age(&desk, days);
        std::fs::write(&path, String::from_utf8(shown.stdout).unwrap().replace("\"data\"", " \"data\"") + "\n")
            .unwrap();
        let imported = desk.run(&["import", "--replace", path.to_str().unwrap()]);
        assert!(imported.status.success(), "{imported:?}");
    }
    use_now_and_then(&desk, 50);
    let fetched = |held: &[Value]| held.iter().filter(|thing| thing["imported_from"].is_null()).count();
    let before = held(&desk);
    desk.configure("[store]\ndays = 30\n");
    assert!(desk.run(&["list", "--dry-run", &main_file()]).status.success());
    let after = held(&desk);
    assert_eq!((fetched(&before), fetched(&after)), (2, 1), "{after:?}");
    assert_eq!(
        after.iter().filter(|thing| !thing["imported_from"].is_null()).count(),
        before.iter().filter(|thing| !thing["imported_from"].is_null()).count()
    );
}

#[test]
fn what_two_programs_import_at_one_moment_is_held_once() {
    let (colleague, desk, folder) = (Desk::new(), Desk::new(), tempfile::tempdir().unwrap());
    json(&colleague.run(&["list", &main_file()]));
    let page = Store::open(&store(&colleague)).unwrap();
    let page = page.answer("lab", format!("behaviours {} ", main_file()).as_bytes()).unwrap().unwrap().body;
    let report = colleague.run(&["show", &identifiers()[0]]);
    for (name, bytes, things) in [("page.json", page.whole().unwrap(), 4), ("report.json", report.stdout, 1)] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        drop(desk.run(&["held", "--all", "--yes"]));
        // Each has seen that nothing is held before any can write.
        let writer = database(&desk);
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        let all = [(); 3].map(|()| waiting(&desk, &["import", path.to_str().unwrap()]));
        std::thread::sleep(Duration::from_secs(2));
        writer.execute_batch("COMMIT").unwrap();
        let said = all.map(|one| text(&one.wait_with_output().unwrap()));
        assert_eq!(said.iter().filter(|said| said.contains(": imported ")).count(), 1, "{said:?}");
        let held = held(&desk);
        assert_eq!(held.len(), things, "{held:?}");
        assert!(held.iter().all(|thing| thing["versions"] == 1), "{held:?}");
    }
}

#[test]
fn what_came_from_one_address_is_no_answer_of_another() {
    let (desk, other) = (Desk::new(), Desk::new());
    desk.configure("[budget]\ndaily = 1\n");
    json(&desk.run(&["list", &main_file()]));
    let root = format!("profiles.lab.root={}", other.demo.root());
    let at_other = |arguments: &[&str]| -> Output {
        desk.command(&[arguments, &["--set", &root]].concat()).env("VT_APIKEY", &other.key).output().unwrap()
    };
    let missing = at_other(&["list", "--offline", &main_file()]);
    assert_eq!(missing.status.code(), Some(13), "{missing:?}");
    assert!(errors(&missing).contains("Profile lab asks another address than before"), "{missing:?}");
    assert!(
        text(&at_other(&["ledger", "--json"])).contains("\"entries\": []"),
        "{:?}",
        at_other(&["ledger", "--json"])
    );
    // What the first service was asked is no part of the second one's day.
    let listed = at_other(&["list", &main_file()]);
    assert!(listed.status.success(), "{listed:?}");
    let again = at_other(&["list", &main_file()]);
    assert!(again.status.success() && !errors(&again).contains("another address"), "{again:?}");
    assert_eq!((desk.paid(), other.paid()), (1, 1));
    assert_eq!(json(&at_other(&["ledger", "--json"]))["entries"].as_array().unwrap().len(), 1);
    // The first one's is as it was.
    assert!(desk.run(&["list", "--offline", &main_file()]).status.success());
    assert_eq!(json(&desk.run(&["ledger", "--json"]))["entries"].as_array().unwrap().len(), 1);
    let held = held(&desk);
    let of = |name: &str| held.iter().filter(|thing| thing["profile"] == name).count();
    assert_eq!((of("lab"), of(&format!("lab at {}/", other.demo.root()))), (4, 4), "{held:?}");
}

#[test]
fn what_came_between_the_look_and_the_deletion_stays() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    let writer = database(&desk);
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let deleting = waiting(&desk, &["held", "--all", "--yes"]);
    std::thread::sleep(Duration::from_secs(2));
    let came = "INSERT INTO answer (profile, key, received, length, block, usable)
                SELECT profile, x'00', received, 0, block, 1 FROM answer; COMMIT";
    writer.execute_batch(came).unwrap();
    let refused = deleting.wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(errors(&refused).contains("nothing was deleted: another program has changed what is held"), "{refused:?}");
    assert_eq!(held(&desk).len(), 5);
    assert!(desk.run(&["held", "--all", "--yes"]).status.success());
    assert_eq!(held(&desk).len(), 0);
}

#[test]
fn what_was_paid_for_is_exported_though_another_program_deletes_it_meanwhile() {
    let options = Options { listing: Listing::Identifiers, delay: Duration::from_millis(1500), ..Options::default() };
    let (desk, ids) = (Desk::with(options), identifiers());
    let exporting = waiting(&desk, &["export", "--refresh", "--format", "json", &ids[0], &ids[1]]);
    until("the first report", || store(&desk).exists() && held(&desk).len() == 1);
    assert!(desk.run(&["held", "--delete", &ids[0], "--yes"]).status.success());
    let exported = exporting.wait_with_output().unwrap();
    assert!(exported.status.success(), "{exported:?}");
    assert!(ids[..2].iter().all(|id| text(&exported).contains(id)), "{exported:?}");
    assert_eq!((held(&desk).len(), desk.paid()), (1, 2));
}

#[test]
fn a_comparison_names_a_damaged_report_and_goes_on_with_the_others() {
    let (desk, ids) = (Desk::with(Options { listing: Listing::Identifiers, ..Options::default() }), identifiers());
    json(&desk.run(&["list", &main_file()]));
    for id in &ids[..2] {
        assert!(desk.run(&["show", id]).status.success());
    }
    let damage = "UPDATE block SET bytes = zeroblob(100)
                  WHERE answer = (SELECT id FROM answer WHERE key = CAST('behaviour ' || ?1 AS BLOB))";
    assert_eq!(database(&desk).execute(damage, [&ids[0]]).unwrap(), 1);
    let compared = desk.run(&["compare", "--json", &main_file()]);
    assert_eq!(compared.status.code(), Some(12), "{compared:?}");
    let said = errors(&compared);
    assert!(said.contains("cannot be compared: ") && said.contains("1 report could not be compared"), "{said}");
    let printed: Value = serde_json::from_slice(&compared.stdout).unwrap();
    assert_eq!([&printed["columns"][0]["held"], &printed["columns"][1]["held"]], [false, true]);
    assert!(!printed["items"].as_array().unwrap().is_empty());
}

#[test]
fn an_export_names_a_damaged_report_and_writes_the_others() {
    let ids = identifiers();
    for (more, count) in [(&[][..], 0), (&["--output", "one.csv"], 0), (&["--output", "out/"], 2)] {
        let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
        for id in &ids[..3] {
            assert!(desk.run(&["show", id]).status.success());
        }
        let damage = "UPDATE block SET bytes = zeroblob(100)
                      WHERE answer = (SELECT id FROM answer WHERE key = CAST('behaviour ' || ?1 AS BLOB))";
        assert_eq!(database(&desk).execute(damage, [&ids[1]]).unwrap(), 1);
        let arguments = [&["export", "--offline", &ids[0], &ids[1], &ids[2], "--format", "csv"], more].concat();
        let exported = desk.command(&arguments).current_dir(desk.home.path()).output().unwrap();
        assert_eq!(exported.status.code(), Some(12), "{exported:?}");
        let said = errors(&exported);
        assert!(said.contains(&ids[1]) && said.contains("damaged, and not written: 1 of 3 reports"), "{said}");
        let written = match more {
            [] => text(&exported),
            _ => std::fs::read_to_string(desk.home.path().join("one.csv")).unwrap_or_default(),
        };
        let is_there = |id: &String| written.contains(id);
        assert!(count > 0 || is_there(&ids[0]) && !is_there(&ids[1]) && is_there(&ids[2]), "{more:?}");
        assert_eq!(std::fs::read_dir(desk.home.path().join("out")).map_or(0, Iterator::count), count, "{more:?}");
    }
}

#[test]
fn a_search_goes_on_behind_a_name_whose_row_is_damaged() {
    let (desk, ids) = (Desk::with(Options { listing: Listing::Identifiers, ..Options::default() }), identifiers());
    for id in &ids[..2] {
        assert!(desk.run(&["show", id]).status.success());
    }
    let sound = text(&desk.run(&["search", "exe", &ids[1]]));
    let damage = "UPDATE report SET seal = seal + 4 WHERE identifier = CAST(?1 AS BLOB)";
    assert_eq!(database(&desk).execute(damage, [&ids[0]]).unwrap(), 1);
    let found = desk.run(&["search", "exe", &ids[0], &ids[1]]);
    assert_eq!((found.status.code(), text(&found)), (Some(12), sound), "{found:?}");
    assert!(errors(&found).contains("is damaged"), "{found:?}");
}

#[test]
fn a_list_without_its_reports_is_named_for_what_it_is() {
    let desk = Desk::new();
    let listed = json(&desk.run(&["list", &main_file()]));
    for one in listed["sandboxes"].as_array().unwrap() {
        assert!(desk.run(&["held", "--delete", one["id"].as_str().unwrap(), "--yes"]).status.success());
    }
    let short = format!("{}…{}", &main_file()[..8], &main_file()[60..]);
    let words = format!("list of sandboxes of {short}, without reports");
    assert!(text(&desk.run(&["held"])).contains(&format!("({words})")), "{:?}", desk.run(&["held"]));
    assert_eq!(held(&desk)[0]["what"], words);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_the_place_of_one_is_refused_at_once_and_by_its_name() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    let (path, aim) = (store(&desk), desk.home.path().join("aim"));
    for ending in ["-journal", "-wal", "-shm", "-open", "-damaged", ""] {
        let name = format!("behaview.db{ending}");
        let (place, aside) = (path.with_file_name(&name), path.with_file_name("aside"));
        let was_there = std::fs::rename(&place, &aside).is_ok();
        let pipe = |place: &Path| assert!(std::process::Command::new("mkfifo").arg(place).status().unwrap().success());
        let link = |to: &'static str| move |place: &Path| std::os::unix::fs::symlink(to, place).unwrap();
        let to_nothing = |place: &Path| std::os::unix::fs::symlink(&aim, place).unwrap();
        for put in [&pipe as &dyn Fn(&Path), &link("/dev/zero"), &to_nothing] {
            put(&place);
            for command in [&["held"][..], &["list", "--refresh", &main_file()], &["doctor"]] {
                let refused = desk.run(command);
                assert!(!refused.status.success(), "{name}: {refused:?}");
                let said = errors(&refused) + &squeezed(&text(&refused));
                assert!(
                    said.contains(&name) && (said.contains("no ordinary file") || said.contains("is a link")),
                    "{said}"
                );
            }
            std::fs::remove_file(&place).unwrap();
        }
        if was_there {
            std::fs::rename(&aside, &place).unwrap();
        }
    }
    assert!(!aim.exists());
    assert_eq!((held(&desk).len(), desk.paid()), (4, 1));
}

#[cfg(unix)]
#[test]
fn doctor_says_what_does_not_work_where_the_store_cannot_be_written() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    // Whom no mode keeps from writing becomes somebody whom it does.
    const NOBODY: u32 = 65534;
    let desk = Desk::new();
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let run = |arguments: &[&str]| {
        if is_root {
            let all =
                std::process::Command::new("chown").arg("-R").arg(NOBODY.to_string()).arg(desk.home.path()).status();
            assert!(all.unwrap().success());
        }
        let mut command = desk.command(arguments);
        if is_root {
            std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        }
        let output = command.output().unwrap();
        (output.status.code(), squeezed(&text(&output)))
    };
    let doctor = || run(&["doctor"]);
    let (_, sound) = doctor();
    assert!(sound.contains("ok store "), "{sound}");
    let folder = store(&desk).parent().unwrap().to_owned();
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let share = folder.parent().unwrap();
    std::fs::create_dir_all(share).unwrap();
    mode(share, 0o500);
    let words = "What is held is shown if it can be read; nothing can be asked, imported or deleted";
    let (code, none) = doctor();
    assert!(code == Some(1) && none.contains("WRONG store ") && none.contains(words), "{none}");
    mode(share, 0o700);
    if is_root {
        chown(share, Some(0), None).unwrap();
    }
    json(&desk.run(&["list", &main_file()]));
    for of_file in [0o600, 0o400] {
        mode(&store(&desk), of_file);
        mode(&folder, 0o500);
        let (code, only_read) = doctor();
        assert!(code == Some(1) && only_read.contains("WRONG store ") && only_read.contains(words), "{only_read}");
        let (code, listed) = run(&["list", "--offline", &main_file()]);
        assert!(code == Some(0) && listed.contains("CAPE"), "{listed}");
    }
    mode(&folder, 0o700);
}

/// Ends a program by a signal once it has asked so many things that are paid for; gives what it said, in time.
#[cfg(unix)]
fn ended_by(desk: &Desk, name: &str, arguments: &[&str]) -> Output {
    use std::os::unix::process::ExitStatusExt;
    let asked = desk.paid();
    let child = waiting(desk, arguments);
    until("the call", || desk.paid() > asked);
    // What has come of it so far is here.
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    let killed = std::process::Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.signal().is_some(), "{output:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{name}: {:?}", began.elapsed());
    output
}

#[cfg(unix)]
#[test]
fn a_signal_lets_an_answer_that_is_paid_for_come_in() {
    for name in ["TERM", "HUP", "INT"] {
        let desk = Desk::new();
        desk.demo.arm("list:delay=500*1".parse().unwrap());
        ended_by(&desk, name, &["list", &main_file()]);
        assert_eq!((desk.paid(), held(&desk).len()), (1, 4), "{name}");
        let entries = json(&desk.run(&["ledger", "--json"]))["entries"].clone();
        assert_eq!(entries[0]["state"], "charged", "{name}: {entries}");
    }
}

#[cfg(unix)]
#[test]
fn what_a_signal_cuts_off_is_kept_and_written_down() {
    let desk = Desk::with(Options { listing: Listing::Identifiers, ..Options::default() });
    let ids = identifiers();
    desk.demo.arm("artefact:stall=900000*1".parse().unwrap());
    let fetch = ["fetch", &ids[0], "memdump", "--anyway", "--output", "memory.bin"];
    let said = errors(&ended_by(&desk, "TERM", &fetch));
    assert!(said.contains("it was given up") && said.contains("goes on where it ended"), "{said}");
    let entries = json(&desk.run(&["ledger", "--json"]))["entries"].clone();
    assert_eq!((&entries[0]["state"], &entries[0]["outcome"]), (&"unknown".into(), &"it was given up".into()));
    let part: i64 =
        database(&desk).query_row("SELECT length FROM answer WHERE usable = 2", [], |row| row.get(0)).unwrap();
    assert_eq!(part, 900_000, "what had come is here, to the last byte");
    let mut command = desk.command(&fetch);
    assert!(command.current_dir(desk.home.path()).status().unwrap().success());
    assert!(std::fs::metadata(desk.home.path().join("memory.bin")).unwrap().len() > 900_000);
}

#[test]
fn whoever_reads_waits_for_nobody_and_whoever_writes_says_so() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    let other = database(&desk);
    // No run of this day has been here yet.
    other.execute_batch("DELETE FROM used; BEGIN IMMEDIATE").unwrap();
    let file = main_file();
    for reads in
        [&["list", "--offline", &file][..], &["held"], &["ledger"], &["search", "cmd"], &["list", "--dry-run", &file]]
    {
        let began = Instant::now();
        let output = desk.run(reads);
        assert!(output.status.success() && began.elapsed() < Duration::from_secs(2), "{reads:?}: {output:?}");
        assert!(!errors(&output).contains("waits"), "{reads:?}: {output:?}");
    }
    let mut writes = waiting(&desk, &["list", "--all", &main_file()]);
    let (mut said, began) = (String::new(), Instant::now());
    let mut lines = std::io::BufReader::new(writes.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut lines, &mut said).unwrap();
    assert!(
        said.contains("another program is writing to the store") && began.elapsed() < Duration::from_secs(2),
        "{said}"
    );
    other.execute_batch("COMMIT").unwrap();
    assert!(writes.wait().unwrap().success());
    assert_eq!((held(&desk).len(), desk.paid()), (6, 2));
}
