//! Arrows between modules only point down, big libraries have one module each, old words stay gone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each module with the modules it may name.
const MAY_KNOW: &str = "\
text:
clock:
environment:
files:
log: clock files text
quota: text
report: text
request: quota report text
service: clock environment files request report text
prevalence: report text
store: clock files prevalence request report quota text
team: environment files prevalence quota report text
gateway: log prevalence service store team request report quota text
triage: report request text
app: export prevalence quota report request text triage
view: app prevalence quota report request text triage
export: report text
config: app environment files log quota service store team text view
demo:
runtime: app export files gateway prevalence quota report request store text triage view
cli: app clock config demo environment export files gateway prevalence quota report log request runtime service store team text triage view";

fn may_know() -> impl Iterator<Item = (&'static str, &'static str)> {
    MAY_KNOW.lines().map(|line| line.split_once(": ").unwrap_or((line.trim_end_matches(':'), "")))
}

/// Each library with the modules that may use it.
const USED_BY: &[(&str, &[&str])] = &[
    ("ratatui", &["view", "runtime"]),
    ("crossterm", &["runtime"]),
    ("reqwest", &["service"]),
    ("rusqlite", &["store"]),
    ("tokio", &["service", "team", "gateway", "runtime", "cli", "demo"]),
    ("tokio_postgres", &["team"]),
    ("hyper", &["demo"]),
    // The config's table of entitlements is one of options, too.
    ("clap", &["cli", "config"]),
];

/// Most methods on `Model`, and most files of the app that name each other in a circle.
const MOST_METHODS: usize = 261;
const MOST_IN_CIRCLE: usize = 8;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file with the name of its module.
fn source_files() -> Vec<(String, PathBuf)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&source, &mut found);
    let module = |path: &PathBuf| {
        let first = path.strip_prefix(&source).unwrap().components().next().unwrap();
        Path::new(first.as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned()
    };
    found
        .into_iter()
        .map(|path| (module(&path), path))
        .filter(|(module, _)| module != "lib" && module != "main")
        .collect()
}

/// Returns a file's code without comments and tests, which end with their line or their brace.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut code = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            code.push(line);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let head = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")).unwrap();
        if !head.ends_with(';') && !head.ends_with('}') {
            let end = |line: &&str| line.trim_end() == format!("{}}}", " ".repeat(indent));
            lines.by_ref().find(end).unwrap();
        }
    }
    code.join("\n")
}

/// Whether `word` stands in the code as a path's segment.
fn names(code: &str, before: &str, word: &str) -> bool {
    let wanted = format!("{before}{word}");
    code.match_indices(&wanted).any(|(at, _)| {
        let starts = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = &code[at + wanted.len()..];
        starts
            && (rest.starts_with("::")
                || rest.starts_with(';')
                || (!before.is_empty() && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')))
    })
}

#[test]
fn every_module_is_listed() {
    for (module, path) in source_files() {
        assert!(may_know().any(|(listed, _)| listed == module), "{} belongs to no listed module", path.display());
    }
}

#[test]
fn no_module_uses_a_module_above_it() {
    let mut wrong = Vec::new();
    for (module, path) in source_files() {
        let (_, may) = may_know().find(|(listed, _)| *listed == module).unwrap();
        let code = code(&path);
        assert!(!code.contains("crate::{"), "what {} brings in by a group is not seen here", path.display());
        for (other, _) in may_know().filter(|(other, _)| *other != module && !may.split(' ').any(|may| may == *other)) {
            if names(&code, "crate::", other) {
                wrong.push(format!("{} names {other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_library_is_used_by_its_modules_only() {
    let mut wrong = Vec::new();
    for (module, path) in source_files() {
        let code = code(&path);
        for (library, _) in USED_BY.iter().filter(|(_, modules)| !modules.contains(&module.as_str())) {
            if names(&code, "", library) {
                wrong.push(format!("{} uses {library}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The app's state is split by subject: methods on all fields, and files in circles, are few.
#[test]
fn model_methods_and_module_cycles_are_few() {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/app");
    let module = |path: &Path| {
        let inside = path.strip_prefix(&app).unwrap().with_extension("");
        inside.to_str().unwrap().replace('/', "::").trim_end_matches("::mod").to_owned()
    };
    let files = source_files().into_iter().filter(|(_, path)| path.starts_with(&app) && !path.ends_with("tests.rs"));
    let files: BTreeMap<_, _> = files.map(|(_, path)| (module(&path), code(&path))).collect();
    let blocks =
        files.values().flat_map(|code| code.split("\nimpl Model {").skip(1)).map(|rest| rest.split("\n}").next());
    let heads = blocks
        .flat_map(|block| block.unwrap().lines())
        .filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let methods = heads.filter(|line| line.contains("fn ")).count();
    assert!(methods <= MOST_METHODS, "{methods} methods on Model");
    let named = |code: &str| -> BTreeSet<String> {
        let paths = code
            .split("crate::app::")
            .skip(1)
            .map(|rest| rest.split(|c: char| !c.is_lowercase() && c != '_' && c != ':'));
        let paths = paths.map(|mut parts| parts.next().unwrap().trim_end_matches(':').to_owned());
        let known = |path: String| {
            files.keys().filter(|file| path == **file || path.starts_with(&format!("{file}::"))).max().cloned()
        };
        paths.filter_map(known).collect()
    };
    let mut reached: BTreeMap<_, _> = files.iter().map(|(file, code)| (file.clone(), named(code))).collect();
    for middle in files.keys() {
        let beyond = reached[middle].clone();
        reached.values_mut().filter(|found| found.contains(middle)).for_each(|found| found.extend(beyond.clone()));
    }
    let circle = |file: &String| reached[file].iter().filter(|other| reached[*other].contains(file)).count();
    let largest = files.keys().max_by_key(|file| circle(file)).unwrap();
    assert!(
        circle(largest) <= MOST_IN_CIRCLE,
        "{largest} is in a circle of {}: {:?}",
        circle(largest),
        reached[largest]
    );
}

/// Words that are not to come back in code, manual and messages, each with the one to use.
const GONE: &[(&str, &str)] = &[
    ("held", "stored"),
    ("artefact", "artifact"),
    ("anew", "again"),
    ("at hand", "stored"),
    ("set aside", "quarantined, or reserved"),
    ("under way", "in progress"),
    ("deserves a look", "notable"),
    ("wants a yes", "asks for confirmation"),
    ("whoever", "who it is"),
    ("nobody", "who it is not"),
    ("somebody", "who it is"),
    ("so many", "the count by its name"),
];

/// Every text that users or contributors read: source, manual, settings, rules and the README.
fn texts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![root.join("README.md"), root.join("assets/config.toml")];
    files(&root.join("src"), &mut found);
    for folder in ["assets/help", "assets/rules"] {
        found.extend(std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    found
}

#[test]
fn retired_words_do_not_return() {
    let mut back = Vec::new();
    for path in texts() {
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        for ((word, better), (number, line)) in
            GONE.iter().flat_map(|gone| text.lines().enumerate().map(move |line| (gone, line)))
        {
            let is_word = |(at, _): (usize, &str)| {
                let is_letter = |c: char| c.is_alphabetic();
                !line[..at].ends_with(is_letter) && !line[at + word.len()..].starts_with(is_letter)
            };
            if line.match_indices(word).any(is_word) {
                back.push(format!("{}:{}: {word:?}: say {better}", path.display(), number + 1));
            }
        }
    }
    assert!(back.is_empty(), "{back:#?}");
}

#[test]
fn visibility_has_three_forms() {
    let paths = source_files().into_iter().map(|(_, path)| path).filter(|path| code(path).contains("pub(in "));
    assert_eq!(paths.collect::<Vec<_>>(), Vec::<PathBuf>::new(), "say pub, pub(crate) or pub(super)");
}

#[test]
fn type_names_are_unique() {
    let mut known = BTreeMap::<String, PathBuf>::new();
    for (_, path) in source_files().into_iter().filter(|(_, path)| !path.to_str().unwrap().contains("test")) {
        for line in code(&path).lines() {
            let item =
                line.trim_start_matches("pub ").trim_start_matches("pub(super) ").trim_start_matches("pub(crate) ");
            let Some((_, rest)) =
                item.split_once(' ').filter(|(word, _)| ["struct", "enum", "trait", "type"].contains(word))
            else {
                continue;
            };
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned();
            if let Some(other) = known.insert(name.clone(), path.clone()) {
                panic!("{name} is in {} and in {}", other.display(), path.display());
            }
        }
    }
}
