//! Valid configs, and the messages about invalid ones.

use super::*;

fn read(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    std::fs::write(&path, text).unwrap();
    Config::load(&path, &[], &|_| None)
}

#[test]
fn config_error_names_the_line_and_shows_no_secret() {
    let error = read("api_key = \"topsecret\"\nprofiel = \"x\"\n").unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("profiel") && !error.contains("topsecret"), "{error}");
    for text in [
        "api_key = 123456789012345678\n",
        "5ecretK3y = \"x\"\n",
        "profiles = \"5ecretK3y\"\n",
        "[profiles.x]\nlisting = \"5ecretK3y\"\n",
        "[entitlements]\npremium_api = \"5ecretK3y\"\n",
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(!error.contains("5ecretK3y") && !error.contains("123456789"), "{error}");
    }
    let error = read("api_key = topsecret\n").unwrap_err().to_string();
    assert!(error.contains("line 1") && !error.contains("topsecret"), "{error}");
}

#[test]
fn settings_table_matches_the_parser() {
    // The values that the parser names in its error are those that it accepts.
    let taken = |table: &str| {
        let text = format!("{table}\nno_such_setting = 1\n");
        let error = toml::from_str::<Config>(&text).unwrap_err().message().to_owned();
        error.split("expected").nth(1).unwrap().split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let tables =
        ["profiles", "budget", "entitlements", "watch", "limits", "store", "team", "ui", "keys", "profiles.*.fields"];
    let mut names = taken("");
    // The table of commands lists the commands.
    names.push("keys.*".to_owned());
    for table in ["profiles.*", "profiles.*.fields", "budget", "entitlements", "watch", "limits", "store", "team", "ui"]
    {
        names.extend(taken(&format!("[{}]", table.replace('*', "x"))).iter().map(|name| format!("{table}.{name}")));
    }
    names.retain(|name| !tables.contains(&name.as_str()));
    let mut rows: Vec<_> = SETTINGS.iter().map(|setting| setting.name.clone()).collect();
    let variables = SETTINGS.iter().filter_map(Setting::variable);
    for variable in variables {
        assert!(TEMPLATE.contains(&format!("({variable})\n")), "{variable}");
    }
    names.sort();
    rows.sort();
    assert_eq!(names, rows);
}

#[test]
fn template_sets_every_setting_and_is_valid() {
    assert_eq!(toml::from_str::<Config>(TEMPLATE).unwrap().effective, []);
    let set: String = TEMPLATE
        .lines()
        .filter(|line| !line.starts_with("# "))
        .fold(String::new(), |text, line| text + line.trim_start_matches('#') + "\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    files::replace(&path, set.as_bytes()).unwrap();
    let found: Vec<_> = Config::check(&path).unwrap().into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        found,
        ["profile lab: ca_file cannot be read, or holds no certificate (PEM)"],
        "the example names a file that is not there"
    );
    for effective in Config::load(&path, &[], &|_| None).unwrap().effective() {
        assert!(matches!(effective.origin, SettingOrigin::File { .. }), "{effective:?}");
    }
    // A default is the value in an empty config.
    let nothing = Config::default();
    let default = |name: &str| SETTINGS.iter().find(|setting| setting.name == name).unwrap().default.to_owned();
    let profile = nothing.profile().unwrap();
    let quoted = |text: &str| format!("\"{text}\"");
    assert_eq!(default("profile"), quoted(&profile.name));
    assert_eq!(default("profiles.*.root"), quoted(&profile.root));
    assert_eq!(default("profiles.*.v3_prefix"), quoted(&profile.v3_prefix));
    assert_eq!(default("profiles.*.v2_prefix"), quoted(&profile.v2_prefix));
    assert_eq!(default("profiles.*.header"), quoted(&profile.header));
    assert_eq!(default("profiles.*.timeout_s"), profile.timeout_s.to_string());
    assert_eq!(default("profiles.*.connect_timeout_s"), profile.connect_timeout_s.to_string());
    assert_eq!(default("log_level"), quoted("info"));
}

#[test]
fn every_mistake_is_named_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let text = "profile = \"lab\"\nprofiel = \"x\"\napi_key = 5\n[budget]\ndaily = -1\nweekly = 3\n[budgte]\ndaily = 2\n\
                [profiles.lab]\nroot = \"https://x\"\nlisting = \"all\"\nproxy = \"x\"\n[keys]\nhelpp = \"x\"\nzoom = \"c\"\n";
    files::replace(&path, text.as_bytes()).unwrap();
    let found = Config::check(&path).unwrap();
    let lines: Vec<_> = found.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [2, 3, 5, 6, 7, 11, 12, 14, 15], "{found:?}");
    assert!(found[2].message.ends_with("expected a whole number, and none below zero"), "{found:?}");
    let text = "profile = \"lba\"\n[profiles.lab]\nroot = \"http://example.com\"\nproxy = \"x\"\nheader = \"a b\"\ntimeout_s = 0\nmax_response_mib = 0\n";
    std::fs::write(&path, text).unwrap();
    let found = Config::check(&path).unwrap();
    assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 3, 4, 5, 6, 7], "{found:?}");
    std::fs::write(&path, "a = \nb = 5ecretK3y\n[[x\n").unwrap();
    let found = Config::check(&path).unwrap();
    assert!(found.len() > 1 && found.iter().all(|finding| !finding.message.contains("5ecret")), "{found:?}");
}

#[test]
fn the_store_is_persistent_by_default() {
    let limits = |text: &str| {
        read(text)
            .map(|c| (!c.is_persistent(), c.store.max_age_days.map(u32::from), c.store.max_size_mib.map(u32::from)))
    };
    assert_eq!(limits("").unwrap(), (false, None, None));
    assert_eq!(limits("[store]\npersist = false\n").unwrap(), (true, None, None));
    assert_eq!(limits("[store]\nmax_age_days = 30\nmax_size_mib = 2\n").unwrap(), (false, Some(30), Some(2)));
    for zero in ["max_age_days", "max_size_mib"] {
        let message = limits(&format!("[store]\n{zero} = 0\n")).unwrap_err().to_string();
        assert!(message.contains("line 2") && message.contains("above zero"), "{message}");
    }
    assert!(limits("[store]\npersist = \"some\"\n").unwrap_err().to_string().contains("line 2"));
}

#[test]
fn invalid_key_binding_is_named_by_its_line() {
    let keymap = read("[keys]\nzoom = [\"f11\", \"Z\"]\nplanner = \"none\"\n").unwrap().keymap;
    let command = |name| crate::app::Command::named(name).unwrap();
    let keys = |name| keymap.of(command(name)).iter().map(|key| format!("{key} ")).collect::<String>();
    assert_eq!((keys("zoom"), keys("planner")), ("f11 Z ".to_owned(), String::new()));
    for (text, line, wanted) in [
        ("[keys]\nhelp = \"f1\"\nzooom = \"Z\"\n", 3, "perhaps zoom"),
        ("[keys]\nhelp = \"hyper-h\"\n", 2, "unknown key"),
        ("profile = \"virustotal\"\n[keys]\n\nhelp = \"f1\"\nrefetch = \"R\"\n", 5, "does relist already"),
        ("[keys]\nhelp = 5\n", 2, "a key such as"),
        ("[keys]\n\"5ecretK3y\" = \"5ecretK3y\"\n", 2, "unknown command"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}:")) && error.contains(wanted), "{error}");
        assert!(!error.contains("5ecretK3y"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        files::replace(&path, text.as_bytes()).unwrap();
        let found = Config::check(&path).unwrap();
        assert!(found.len() == 1 && found[0].line == line && found[0].message.contains(wanted), "{found:?}");
    }
    let set = [("keys.refetch".to_owned(), "R".to_owned())];
    let error = Config::load(Path::new("/nonexistent/config.toml"), &set, &|_| None).unwrap_err().to_string();
    assert!(error.starts_with("flag: ") && error.contains("does relist already"), "{error}");
}

#[test]
fn the_ui_has_a_theme_of_a_known_name() {
    let ui = read("[ui]\ntheme = \"light\"\nascii = true\n").unwrap().ui;
    assert_eq!((ui.theme, ui.ascii, ui.plain), (Some(crate::view::Theme::Light), true, false));
    assert_eq!(read("[ui]\ntheme = \"auto\"\n").unwrap().ui.theme, None);
    let error = read("[ui]\n\ntheme = \"pink\"\n").unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("contrast") && !error.contains("pink"), "{error}");
}
