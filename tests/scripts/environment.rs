//! Around the program: completions, man pages, logs, the doctor, proxies and authorities.

use crate::harness::{CliHarness, FakeService, behaview, errors, json, main_file, squeezed, text};
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn completions_and_man_pages_know_every_command() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| behaview(home.path()).args(arguments).output().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = text(&run(&["completions", shell]));
        assert!(["ledger", "max-cost", "dry-run", "doctor"].iter().all(|word| text.contains(word)), "{shell}");
        let plain = squeezed(&text.replace(r"'\''", "'").replace("''", "'").replace('\\', ""));
        let missing =
            behaview::cli::commands().into_iter().find(|(_, about)| shell != "bash" && !plain.contains(about));
        assert_eq!(missing, None, "{shell}: {text}");
    }
    let page = text(&run(&["man"]));
    assert!(page.contains(".TH behaview 1") && page.contains("behaview\\-ledger(1)"), "{page}");
    for (code, words) in behaview::cli::exit_codes() {
        assert!(page.contains(&words.replace('-', "\\-")) && page.contains(&code.to_string()), "{words}");
    }
    assert!(text(&run(&["man", "list"])).contains("behaview\\-list"));
    assert!(text(&run(&["man", "store", "import"])).contains("behaview\\-store\\-import"));
    assert!(text(&run(&["help", "store", "import"])).contains("behaview store import"));
    assert_eq!(run(&["man", "nothing"]).status.code(), Some(2));
    let folder = home.path().join("man1");
    assert!(run(&["man", "--into", folder.to_str().unwrap()]).status.success());
    assert!(folder.join("behaview.1").exists() && folder.join("behaview-store-import.1").exists());
    for page in std::fs::read_dir(&folder).unwrap().map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap()) {
        let plain = page.replace('\\', "");
        let named = plain.match_indices("(1)").filter_map(|(end, _)| plain[..end].split([' ', '\n', ',']).next_back());
        let lost: Vec<_> = named.filter(|name| !folder.join(format!("{name}.1")).exists()).collect();
        assert!(lost.is_empty(), "{lost:?}: {page}");
    }
}

#[test]
fn help_of_every_command_begins_with_its_summary() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| text(&behaview(home.path()).args(arguments).output().unwrap());
    let begins = |help: &str, about: &str| squeezed(help).replace('\n', " ").starts_with(about);
    for (name, about) in behaview::cli::commands() {
        for arguments in [&["help", &name][..], &[&name, "--help"], &[&name, "-h"]] {
            let is_topic = arguments[0] == "help" && run(arguments).starts_with('#');
            let help = run(arguments);
            assert!(is_topic || begins(&help, &about) && !help.contains("\\x20"), "{arguments:?}: {help}");
            assert!(is_topic || !help.contains("--log-level <LEVEL>") && help.contains(" --log-level"), "{help}");
        }
        let page = run(&["man", &name]).replace(r"\*(Aq", "'").replace('\\', "");
        assert!(page.contains(&about), "{page}");
    }
}

#[test]
fn options_stand_before_or_after_a_command() {
    let cli = CliHarness::new();
    for arguments in [&["--quiet", "--set", "budget.daily=0", "list"][..], &["list", "-q", "--set", "budget.daily=0"]] {
        let output = cli.fails(&[arguments, &[&main_file()]].concat(), 11, &["over the budget"]);
        assert_eq!(errors(&output).lines().count(), 1, "{output:?}");
    }
    let set = ["--set", "budget.daily=3", "config", "--set", "watch.max_polls=4", "show", "--set", "budget.session=2"];
    let shown = squeezed(&text(&cli.run(&set)));
    let is_set = |name: &str| shown.contains(&format!("{name} flag\n"));
    assert!(["budget.daily 3", "budget.session 2"].into_iter().all(is_set), "{shown}");
}

#[test]
fn a_misspelt_word_is_answered_by_clap() {
    let cli = CliHarness::new();
    let hash = main_file();
    for (arguments, words) in [
        (&["lst"][..], "unrecognized subcommand 'lst'\n\n  tip: some similar subcommands exist: 'cost', 'list'"),
        (&["--ascii", "exprot"], "'export'"),
        (&["help", "shwo"], "'show'"),
        (&["man", "doctr"], "'doctor'"),
        (&["help", "store", "import", "extra"], "unknown command \"extra\": import has no further command"),
        (&["man", "store", "extra"], "unknown command \"extra\": store has list, remove, import"),
        (&["help", "pricing", "extra"], "unknown command \"extra\": behaview has "),
        (&["list", "--ofline"], "'--offline'"),
        (&["--ofline", &hash], "'--offline'"),
        (&[&hash, "quota"], "quota is a command: put it before files"),
        (&["d41d8cd98f00b204e9800998ecf8427e"], "looks like an MD5"),
        (&["da39a3ee5e6b4b0d3255bfef95601890afd80709"], "looks like a SHA-1"),
        (&[concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "behaview open"),
    ] {
        cli.fails(arguments, 2, &[words]);
    }
}

#[test]
fn a_name_that_is_not_found_costs_nothing() {
    let cli = CliHarness::new();
    // By standard no name ends in this (RFC 6761), so no host can prove it, whatever the resolver.
    cli.configure("[profiles.nowhere]\nroot = \"https://behaview.invalid\"\nconnect_timeout_s = 2\n");
    let failed = cli.run(&["list", "--profile", "nowhere", &main_file()]);
    let printed = errors(&failed);
    assert_eq!(failed.status.code(), Some(8), "{printed}");
    assert!(printed.contains("nothing was charged") && !printed.contains(&cli.key), "{printed}");
    let ledger = json(&cli.run(&["ledger", "--json", "--profile", "nowhere"]));
    assert_eq!((&ledger["entries"][0]["state"], &ledger["entries"][0]["counts_as"]), (&"unsent".into(), &0.into()));
    assert!(cli.demo.seen().is_empty());
}

#[cfg(unix)]
#[test]
fn demo_in_odd_home_runs_or_names_variable() {
    let folder = tempfile::tempdir().unwrap();
    let demo = |home: &str, temporary: &std::path::Path| {
        let mut command = behaview(folder.path());
        command.env("HOME", home).env("TMPDIR", temporary).args(["demo", "--plain"]);
        command.stdin(std::process::Stdio::null()).output().unwrap()
    };
    assert!(text(&demo("/dev/null/home", folder.path())).contains("== Sandboxes"));
    assert!(errors(&demo("no/root", folder.path())).contains("set HOME"));
    assert!(errors(&demo("/dev/null/home", &folder.path().join("missing"))).contains("set TMPDIR"));
}

fn logged(cli: &CliHarness) -> String {
    std::fs::read_to_string(cli.home.path().join(".local/state/behaview/log/behaview.log")).unwrap_or_default()
}

#[test]
fn calls_are_logged_and_an_error_names_its_line() {
    let cli = CliHarness::faulty("503*1");
    let failed = cli.run(&["list", &main_file()]);
    let printed = errors(&failed);
    let id = printed.split("[log ").nth(1).and_then(|rest| rest.split(']').next()).unwrap().to_owned();
    let log = logged(&cli);
    let line = log.lines().find(|line| line.contains(&format!(" {id} "))).unwrap();
    assert!(
        line.contains(" error ") && line.contains(" ms=") && line.contains("unavailable") && line.contains("price="),
        "{line}"
    );
    // Complete messages have no log line: no match, a wrong command line, a plan that does not fit.
    let unknown = &format!("{}_nobody-1794474845", main_file());
    for said_all in [&["show", unknown][..], &["store", "remove", unknown], &["show", "--offline", unknown]] {
        let failed = cli.run(said_all);
        assert!(!failed.status.success() && !errors(&failed).contains("[log"), "{said_all:?}: {failed:?}");
    }
    json(&cli.run(&["list", &main_file()]));
    json(&cli.run(&["list", "--log-level", "debug", &main_file()]));
    let log = logged(&cli);
    assert!(log.contains("outcome=\"response of ") && log.contains(" debug ") && log.contains(" stored "), "{log}");
    assert!(!log.contains(&cli.key));
    let before = log.len();
    json(&cli.run(&["list", "--log-level", "off", &main_file()]));
    assert_eq!(logged(&cli).len(), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let folder = cli.home.path().join(".local/state/behaview");
        for path in [folder.clone(), folder.join("log"), folder.join("log/behaview.log")] {
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{path:?}");
        }
    }
}

#[test]
fn unwritable_log_does_not_stop_the_command() {
    let cli = CliHarness::new();
    std::fs::create_dir_all(cli.home.path().join(".local/state")).unwrap();
    std::fs::write(cli.home.path().join(".local/state/behaview"), "").unwrap();
    let output = cli.run(&["list", &main_file()]);
    json(&output);
    assert!(errors(&output).contains("no log is written"), "{output:?}");
}

#[test]
fn doctor_finds_faults_and_is_offline_by_default() {
    let cli = CliHarness::new();
    let named = |output: &std::process::Output, name: &str| {
        let checks: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        checks.as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
    };
    let well = cli.run(&["doctor", "--json"]);
    assert!(well.status.success(), "{well:?}");
    assert!(named(&well, "key")["text"].as_str().unwrap().contains("VT_APIKEY"));
    assert_eq!(cli.demo.seen().len(), 0);
    let online = cli.run(&["doctor", "--json", "--online"]);
    assert!(online.status.success() && cli.paid() == 0, "{online:?}");
    assert_eq!(named(&online, "clock")["text"], "as the service's");
    let keyless = cli.command(&["doctor", "--json"]).env_remove("VT_APIKEY").output().unwrap();
    assert_eq!(keyless.status.code(), Some(3), "{keyless:?}");
    assert!(named(&keyless, "key")["advice"].as_str().unwrap().contains("BEHAVIEW_API_KEY"));
    assert!(errors(&keyless).contains("1 of 6 checks found something wrong, first: key"), "{keyless:?}");
    assert_eq!(named(&keyless, "key")["status"], "error");
    json(&cli.run(&["list", &main_file()]));
    let store = cli.home.path().join(".local/share/behaview/records.db");
    assert!(named(&cli.run(&["doctor", "--json"]), "store")["text"].as_str().unwrap().contains("sound"));
    std::fs::write(&store, vec![b'x'; 8192]).unwrap();
    let broken = cli.run(&["doctor", "--json"]);
    assert_eq!(
        (broken.status.code(), named(&broken, "store")["status"].as_str()),
        (Some(0), Some("warning")),
        "{broken:?}"
    );
    cli.configure("wrong = 1\n");
    let broken = cli.run(&["doctor"]);
    assert!(broken.status.code() == Some(14) && text(&broken).contains("config check"), "{broken:?}");
}

#[cfg(unix)]
#[test]
fn doctor_runs_no_key_command_and_checks_modes() {
    use std::os::unix::fs::PermissionsExt;
    let cli = CliHarness::new();
    let path = cli.home.path().join(".config/behaview/config.toml");
    let file = std::fs::read_to_string(&path).unwrap();
    let without_key = |arguments: &[&str]| text(&cli.command(arguments).env_remove("VT_APIKEY").output().unwrap());
    let set_mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::write(&path, format!("api_key_command = \"touch {}/ran\"\n{file}", cli.home.path().display())).unwrap();
    assert!(without_key(&["doctor"]).contains("not run now") && !cli.home.path().join("ran").exists());
    std::fs::write(&path, format!("api_key = \"abc\"\n{file}")).unwrap();
    set_mode(&path, 0o644);
    assert!(without_key(&["doctor"]).contains("chmod 600"));
    assert_eq!(cli.command(&["list", &main_file()]).output().unwrap().status.code(), Some(14));
    std::fs::write(&path, file).unwrap();
    let official = cli.home.path().join(".vt.toml");
    std::fs::write(&official, "apikey=\"abc\"\n").unwrap();
    set_mode(&official, 0o644);
    assert!(without_key(&["doctor"]).contains("run chmod 600 on it, and consider replacing the key"));
}

#[test]
fn unusable_cursor_is_reported_as_more_pages() {
    let cli = CliHarness::new();
    // Longer than any address, though no longer than a word that is read; and the key.
    for cursor in ["c".repeat(900_000), cli.key.clone()] {
        let page = format!(r#"{{"data":[{{"id":"a"}}],"meta":{{"cursor":"{cursor}"}}}}"#);
        let service = FakeService::of(vec![("200 OK", "", page)]);
        let listed = cli.run(&["list", "--all", "--refresh", &main_file(), "--set", &service.set]);
        assert!(errors(&listed).contains("its cursor cannot be requested"), "{listed:?}");
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        assert_eq!((listed["sandboxes"][0]["id"].as_str(), listed["more"].as_bool()), (Some("a"), Some(true)));
    }
}

#[test]
fn page_with_only_a_next_link_is_not_the_last() {
    let page = |id: &str, links: &str| {
        ("200 OK", "", format!(r#"{{"data":[{{"id":"{id}"}}],"links":{{{links}}},"meta":{{}}}}"#))
    };
    let service = FakeService::of(vec![
        page("a", r#""next":"http://127.0.0.1:1/x?cursor=w%2Bd%3D&limit=10""#),
        page("b", r#""next":"http://127.0.0.1:1/x?offset=20""#),
    ]);
    let cli = CliHarness::new();
    let listed = cli.run(&["list", "--all", &main_file(), "--set", &service.set]);
    let asked = service.asked();
    assert!(asked[0].contains("/behaviours?limit=40 "), "{asked:?}");
    assert!(asked[1].contains("/behaviours?limit=40&cursor=w%2Bd%3D "), "{asked:?}");
    assert_eq!(listed.status.code(), Some(12), "{listed:?}");
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let ids: Vec<_> = listed["sandboxes"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!((ids, listed["more"].as_bool()), (vec!["a", "b"], Some(true)));
}

/// Waits for one connection, says no, and gives what was said to it.
fn proxy() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut printed = [0; 2048];
        let length = stream.read(&mut printed).unwrap();
        stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").unwrap();
        String::from_utf8_lossy(&printed[..length]).into_owned()
    });
    (address, heard)
}

#[test]
fn configured_proxy_is_used_and_never_sees_the_key() {
    for by_variable in [false, true] {
        let cli = CliHarness::new();
        let (address, heard) = proxy();
        let mut command = cli.command(&["list", &main_file(), "--set", "root=https://scanner.invalid"]);
        let output = match by_variable {
            true => command.env("HTTPS_PROXY", &address).args(["--set", "proxy=env"]).output().unwrap(),
            false => command.arg("--set").arg(format!("proxy={address}")).output().unwrap(),
        };
        assert_eq!(output.status.code(), Some(8), "{output:?}");
        let heard = heard.join().unwrap();
        assert!(heard.starts_with("CONNECT scanner.invalid:443 ") && !heard.contains(&cli.key), "{heard}");
    }
}

#[test]
fn no_proxy_is_used_by_default_or_for_loopback() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (cli, file) = (CliHarness::new(), main_file());
    for flags in [&[][..], &["--set", "proxy=env"]] {
        let arguments = [&["list", "--refresh", &file], flags].concat();
        let mut command = cli.command(&arguments);
        for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(name, &address);
        }
        json(&command.output().unwrap());
    }
    let elsewhere =
        ["list", "--refresh", &main_file(), "--set", "root=https://127.0.0.1:1", "--set", "connect_timeout_s=2"];
    let output = cli.command(&elsewhere).env("HTTPS_PROXY", &address).output().unwrap();
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    assert!(listener.accept().is_err(), "the proxy was never connected to");
}

#[test]
fn silent_service_fails_after_the_profile_timeout() {
    let cli = CliHarness::faulty("stall=100*1");
    let began = std::time::Instant::now();
    cli.fails(&["list", &main_file(), "--set", "timeout_s=1"], 8, &["silent for too long"]);
    assert!(began.elapsed().as_secs() < 30);
}

#[test]
fn unreadable_ca_file_is_refused_before_sending() {
    let cli = CliHarness::new();
    let path = cli.home.path().join("ca.pem");
    let set = format!("ca_file={}", path.display());
    cli.fails(&["list", &main_file(), "--set", &set], 14, &["ca_file cannot be read"]);
    std::fs::write(&path, "no certificate\n").unwrap();
    cli.fails(&["list", &main_file(), "--set", &set], 14, &["holds no certificate"]);
    assert_eq!(cli.demo.seen().len(), 0);
}

#[cfg(unix)]
#[test]
fn a_debian_package_holds_a_program_that_runs() {
    let run = |program: &str, arguments: &[&str], target: &std::path::Path| {
        let mut command = std::process::Command::new(program);
        // The test's program is large: to compress it well would take longer than all other tests.
        command.args(arguments).env("CARGO_TARGET_DIR", target).env("DPKG_DEB_COMPRESSOR_LEVEL", "0").output()
    };
    let folder = tempfile::tempdir().unwrap();
    if run("dpkg-shlibdeps", &["--version"], folder.path()).is_err() {
        return; // no such system
    }
    let program = folder.path().join("behaview");
    let program = program.to_str().unwrap();
    assert!(run("strip", &["-o", program, env!("CARGO_BIN_EXE_behaview")], folder.path()).unwrap().status.success());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/debian.sh");
    let [made, again] = ["", "again"].map(|name| run(script, &[program], &folder.path().join(name)).unwrap());
    assert!(made.status.success(), "{made:?}");
    let [package, other] = [&made, &again].map(|made| std::fs::read(text(made).trim()).unwrap());
    assert!(package == other, "the same sources make another package");
    match run("lintian", &["--allow-root", "--fail-on", "error,warning", text(&made).trim()], folder.path()) {
        Ok(checked) => assert!(checked.status.success(), "{checked:?}"),
        Err(_) => println!("lintian is missing: the package was NOT checked by it"),
    }
    let root = folder.path().join("root");
    let package = text(&made).trim().to_owned();
    assert!(run("dpkg-deb", &["-x", &package, root.to_str().unwrap()], folder.path()).unwrap().status.success());
    let shown = run("dpkg-deb", &["-f", &package, "Version"], folder.path()).unwrap();
    assert_eq!(text(&shown).trim(), env!("CARGO_PKG_VERSION"));
    for file in [
        "man/man1/behaview.1.gz",
        "man/man1/behaview-ledger.1.gz",
        "man/man7/behaview-pricing.7.gz",
        "doc/behaview/NOTICES.gz",
        "bash-completion/completions/behaview",
        "zsh/vendor-completions/_behaview",
        "fish/vendor_completions.d/behaview.fish",
    ] {
        assert!(root.join("usr/share").join(file).metadata().unwrap().len() > 100, "{file}");
    }
    let version = run(root.join("usr/bin/behaview").to_str().unwrap(), &["--version"], folder.path()).unwrap();
    assert_eq!(text(&version), concat!("behaview ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn repeating_list_is_reported_and_not_continued() {
    let page = r#"{"data":[{"id":"a"}],"meta":{"cursor":"again"}}"#.to_owned();
    let service = FakeService::of(vec![("200 OK", "", page.clone()), ("200 OK", "", page)]);
    let cli = CliHarness::new();
    let listed = cli.run(&["list", "--all", &main_file(), "--set", &service.set]);
    assert_eq!((listed.status.code(), service.asked().len()), (Some(12), 2), "{listed:?}");
    assert!(errors(&listed).contains("further pages repeat or have nothing new"), "{listed:?}");
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&listed.stdout).unwrap()["sandboxes"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn pages_after_a_changed_list_are_refetched() {
    let page = |ids: &[&str], count: usize, cursor: &str| {
        let ids: Vec<_> = ids.iter().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
        let cursor = if cursor.is_empty() { String::new() } else { format!(r#","cursor":"{cursor}""#) };
        ("200 OK", "", format!(r#"{{"data":[{}],"meta":{{"count":{count}{cursor}}}}}"#, ids.join(",")))
    };
    let service = FakeService::of(vec![
        page(&["a", "b"], 4, "2"),
        page(&["c", "d"], 4, ""),
        page(&["a", "b"], 4, "2"),
        page(&["n", "a"], 5, "2"),
        page(&["b", "c"], 5, "4"),
        page(&["d"], 5, ""),
    ]);
    let cli = CliHarness::new();
    let list = |arguments: &[&str]| {
        let listed = json(&cli.run(&[&["list", &main_file(), "--set", &service.set], arguments].concat()));
        let ids = listed["sandboxes"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>().concat()
    };
    assert_eq!(list(&["--all"]), "abcd");
    // The same first page, byte for byte: what is behind it is held.
    assert_eq!((list(&["--refresh"]), list(&["--all"])), ("abcd".to_owned(), "abcd".to_owned()));
    assert_eq!((list(&["--refresh"]), list(&["--all"])), ("na".to_owned(), "nabcd".to_owned()));
    assert_eq!(list(&["--all"]), "nabcd");
    assert_eq!(service.asked().len(), 6);
}

#[test]
fn the_table_shows_what_the_config_changes() {
    let cli = CliHarness::new();
    cli.configure("[keys]\nzoom = [\"Z\", \"f11\"]\nplanner = \"none\"\n");
    let shown = text(&cli.run(&["keys"]));
    assert!(shown.contains("Z f11") && shown.contains("none "), "{shown}");
    let rows = json(&cli.run(&["keys", "--json"]));
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["command"] == name).unwrap().clone();
    assert_eq!(row("zoom")["keys"], serde_json::json!(["Z", "f11"]));
    assert_eq!(
        (row("zoom")["default_keys"][0].as_str(), row("planner")["keys"].as_array().unwrap().len()),
        (Some("z"), 0)
    );
    assert_eq!((row("open")["sends"].as_bool(), row("zoom")["sends"].as_bool()), (Some(true), Some(false)));
}
