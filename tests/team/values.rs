//! How common a value is among the files that a team has shared, and who has it.

use super::*;

#[test]
fn value_is_counted_in_the_files_of_the_team() {
    let Some((cli, database, ana, ben)) = team("prevalence") else { return };
    let reports = identifiers(&ana.run(&["list", &main_file(), "--format", "ids"]));
    let pivot = |person: &Colleague, more: &[&str]| person.run(&[&["pivot", "gate.lumen.example"], more].concat());
    // Nothing is stored on ben's machine.
    let shared = pivot(&ben, &[]);
    assert!(text(&shared).contains("host  in the only stored file") && text(&shared).contains("(shared by ana)"));
    assert_eq!(pivot(&ben, &["--offline"]).status.code(), Some(5));
    let missing = ben.run(&["pivot", "other.example"]);
    assert!(errors(&missing).contains("not in 1 stored file of the team"), "{missing:?}");
    // Nine further files of other people, in the same sandboxes; of one, two copies.
    let copy = |file: u64, received: u64| {
        database.run(&format!(
            "WITH added AS (INSERT INTO behaview.response (service, key, received, digest, length, packed)
                SELECT service, key || ' {file}', {received}, digest, length, packed FROM behaview.response
                WHERE substring(key FOR 10) = 'behaviour ' AND person = 'ana' RETURNING id, key)
             INSERT INTO behaview.report SELECT added.id, {file}, p.sandbox, p.hashes FROM added
                JOIN behaview.response r ON added.key = r.key || ' {file}' JOIN behaview.report p ON p.response = r.id"
        ));
    };
    (0..9).for_each(|file| copy(file, 1));
    copy(8, 2);
    let counted = json_line(&pivot(&ben, &["--json"]));
    assert_eq!((&counted["files"], &counted["of_files"]), (&10.into(), &10.into()), "{counted}");
    assert_eq!((&counted["is_of_team"], &counted["shared_by"]), (&true.into(), &"ana".into()), "{counted}");
    // The app counts in the sandbox too. What is stored here is not listed as a colleague's.
    let app = text(&piped(&mut ben.command(&["--plain", &main_file()]), "list\nopen\nrow-details\nquit\n"));
    assert!(app.contains("in 10 of 10 stored files of the team · 10 of 10 of this sandbox: noise"), "{app}");
    assert_eq!(json_line(&pivot(&ben, &["--json"]))["shared_by"], Value::Null);
    assert_eq!(cli.paid(), 1);
    // Counts are the database's: nobody writes them, or adds values to another's report.
    for statement in [
        "UPDATE behaview.value SET files = 9",
        "INSERT INTO behaview.value VALUES (2, 0, 9)",
        "DELETE FROM behaview.report",
        "SELECT FROM behaview.value WHERE hash = 1 AND sandbox = 0 FOR UPDATE",
        "INSERT INTO behaview.report (response, file, sandbox, hashes)
            SELECT id, 1, 1, '{5}' FROM behaview.response WHERE person = 'ana' AND substring(key FOR 10) <> 'behaviour '",
    ] {
        assert!(database.refusal("ben", statement).is_some(), "{statement}");
    }
    // They go with the responses: one of two copies changes nothing, the last file leaves nothing.
    let files = "SELECT files FROM behaview.value WHERE hash = 1 AND sandbox = 0";
    database.run("DELETE FROM behaview.response WHERE received = 2");
    assert_eq!(database.ask(files), "10");
    database.run(
        "DELETE FROM behaview.response WHERE key = any(SELECT key FROM behaview.response WHERE received = 1 LIMIT 8)",
    );
    database.run("DELETE FROM behaview.response");
    assert_eq!(database.ask("SELECT count(*) FROM behaview.value WHERE files <> 0"), "0");
    assert_eq!(reports.len(), 4);
}

fn json_line(output: &Output) -> Value {
    serde_json::from_str(text(output).lines().next().unwrap_or_default()).unwrap_or_default()
}
