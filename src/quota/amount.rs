//! How many of an operation are meant, as it is typed behind the operation's name: in the app's planner, and in an item of a plan on
//! the command line. Each word is understood or named.

use super::{Kind, Numbers};

/// What stands before the name of a file that lists hashes.
const LISTED: char = '@';

/// The option that this stands for.
const HASHES_FROM: &str = "--hashes-from";

/// The highest number that is taken: the price of more could not be counted.
pub const MOST: u64 = 1_000_000_000;

/// How many are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amount<'a> {
    /// These.
    Numbers(Numbers),
    /// As many as a file lists.
    Listed {
        /// What is typed before the file.
        before: &'a str,
        /// The file.
        path: &'a str,
    },
}

/// The option with its value that a word stands for without one: a number, several numbers of submissions, a file behind `@`, or
/// whether a ruleset is active. Another word stands for none.
#[must_use]
pub fn spelled_out(kind: Kind, word: &str) -> Option<(&'static str, String)> {
    let listed = word.strip_prefix(LISTED).map(str::trim).filter(|path| !path.is_empty());
    let own = kind.number();
    let (option, value) = match word {
        _ if listed.is_some() => (HASHES_FROM, listed?.to_owned()),
        "active" => ("--active", "yes".to_owned()),
        "inactive" => ("--active", "no".to_owned()),
        _ if own == "--submissions" && submissions(word).is_ok() => (own, word.to_owned()),
        _ => (own, number(word).ok()?.to_string()),
    };
    kind.takes().contains(&option).then_some((option, value))
}

impl<'a> Amount<'a> {
    /// What is typed behind the name of an operation, each number with its option before it or without; one where nothing is.
    ///
    /// # Errors
    /// Names the first word that means nothing there.
    pub fn read(kind: Kind, typed: &'a str) -> Result<Self, String> {
        let (mut numbers, mut said, mut rest) = (Numbers::default(), Vec::new(), typed.trim());
        while !rest.is_empty() {
            let before = typed.trim().strip_suffix(rest).unwrap_or_default();
            let (word, after) = first(rest);
            // Its name may have blanks in it.
            let path = rest.strip_prefix(LISTED).or_else(|| (word == HASHES_FROM).then_some(after)).map(str::trim);
            let (option, value, after) = match (path, spelled_out(kind, word)) {
                (Some(path), _) => (HASHES_FROM, path.to_owned(), ""),
                (None, Some((option, value))) => (option, value, after),
                (None, None) => with_value(kind, word, after)?,
            };
            if !kind.takes().contains(&option) {
                return Err(takes_no(kind, word));
            }
            if said.contains(&option) || (option == HASHES_FROM && said.contains(&kind.number())) {
                return Err(format!("{word}: it is said already how many"));
            }
            said.push(option);
            match path {
                Some("") => return Err(format!("{word} takes a file of hashes")),
                Some(path) => return Ok(Self::Listed { before, path }),
                None => set(&mut numbers, option, &value)?,
            }
            rest = after;
        }
        Ok(Self::Numbers(numbers))
    }
}

/// An option that is written out, with the value behind it.
fn with_value<'a>(kind: Kind, word: &str, after: &'a str) -> Result<(&'static str, String, &'a str), String> {
    let Some(option) = kind.takes().iter().find(|option| **option == word) else {
        let is_no_number = !word.starts_with("--") && kind.takes().contains(&kind.number());
        return Err(if is_no_number { number(word).err().unwrap_or_default() + "; " } else { String::new() }
            + &takes_no(kind, word));
    };
    let (value, rest) = if *option == "--after-new-upload" { ("", after) } else { first(after) };
    Ok((option, value.to_owned(), rest))
}

fn takes_no(kind: Kind, word: &str) -> String {
    format!("{} does not take {word}; it takes {}", kind.name(), kind.takes().join(", "))
}

fn set(numbers: &mut Numbers, option: &str, value: &str) -> Result<(), String> {
    if value.is_empty() && option != "--after-new-upload" {
        return Err(format!("{option} takes {}", if is_asked(option) { "yes or no" } else { "a number" }));
    }
    match option {
        "--hashes" => numbers.hashes = number(value)?,
        "--submissions" => numbers.submissions = Some(submissions(value)?),
        "--known" => numbers.known = Some(is_yes(value)?),
        "--exists" => numbers.exists = Some(is_yes(value)?),
        "--after-new-upload" => numbers.after_new_upload = true,
        "--rules" => numbers.rules = number(value)?,
        "--active" => numbers.active = is_yes(value)?,
        "--jobs" => numbers.jobs = number(value)?,
        "--graphs" => numbers.graphs = number(value)?,
        "--scans" => numbers.scans = number(value)?,
        "--calls" => {
            numbers.calls = number(value)?;
            // Those that load the items of a public graph are its only calls.
            numbers.loads = Some(numbers.calls);
        }
        _ => return Err(format!("{option} is not known here")),
    }
    Ok(())
}

fn is_asked(option: &str) -> bool {
    matches!(option, "--known" | "--exists" | "--active")
}

fn is_yes(word: &str) -> Result<bool, String> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("{word} is neither yes nor no")),
    }
}

fn first(words: &str) -> (&str, &str) {
    let (word, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    (word, rest.trim_start())
}

fn submissions(word: &str) -> Result<Vec<u64>, String> {
    word.split(',').map(number).collect()
}

/// A number, its thousands apart by commas or not.
fn number(word: &str) -> Result<u64, String> {
    let is_grouped = word.split(',').skip(1).all(|group| group.len() == 3) && !word.starts_with(',');
    let digits = word.replace(',', "");
    let is_number = is_grouped && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    match digits.parse().ok().filter(|number| *number <= MOST) {
        _ if !is_number => Err(format!("{word} is no number")),
        None => Err(format!("{word} is more than 1,000,000,000")),
        Some(number) => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(hashes: u64) -> Result<Amount<'static>, String> {
        Ok(Amount::Numbers(Numbers { hashes, ..Numbers::default() }))
    }

    #[test]
    fn a_number_stands_alone_or_behind_its_option_and_a_file_behind_its_sign() {
        let read = |typed| Amount::read(Kind::V2FileReport, typed);
        assert_eq!(read("  "), hashes(1));
        assert_eq!(read("1,200"), hashes(1_200));
        assert_eq!(read("--hashes 600"), hashes(600));
        let listed = |before| Ok(Amount::Listed { before, path: "my list.txt" });
        assert_eq!(read("@ my list.txt"), listed(""));
        assert_eq!(read("--hashes-from my list.txt"), listed(""));
        assert_eq!(read("--after-new-upload  @my list.txt "), listed("--after-new-upload  "));
        assert_eq!(read("--hashes"), Err("--hashes takes a number".to_owned()));
        assert_eq!(read("@"), Err("@ takes a file of hashes".to_owned()));
        assert!(read("--calls 2").is_err_and(|why| why.starts_with("v2-file-report does not take --calls; it takes")));
        assert!(read("many").is_err_and(|why| why.starts_with("many is no number; v2-file-report does not take many")));
        let spelled = |word| spelled_out(Kind::V2FileReport, word);
        assert_eq!((spelled("--calls"), spelled("@"), spelled("4,6"), spelled("active")), (None, None, None, None));
    }

    #[test]
    fn every_word_is_understood_or_named() {
        let usual = Numbers::default;
        for (kind, typed, numbers) in [
            (Kind::V2FileSubmissions, "4,6", Numbers { submissions: Some(vec![4, 6]), ..usual() }),
            (Kind::LivehuntRules, "3 inactive", Numbers { rules: 3, active: false, ..usual() }),
            (Kind::LivehuntRules, "--active no --rules 3", Numbers { rules: 3, active: false, ..usual() }),
            (Kind::GraphPublic, "2 --calls 5", Numbers { graphs: 2, calls: 5, loads: Some(5), ..usual() }),
            (Kind::V2FileScan, "--known yes", Numbers { known: Some(true), ..usual() }),
            (Kind::V3Analysis, "--exists no", Numbers { exists: Some(false), ..usual() }),
        ] {
            assert_eq!(Amount::read(kind, typed), Ok(Amount::Numbers(numbers)), "{typed}");
        }
        for (kind, typed, named) in [
            (Kind::V3File, "4,6", "4,6 is no number"),
            (Kind::V3File, "3 calls", "calls is no number"),
            (Kind::V3File, "3 4", "4: it is said already"),
            (Kind::V3File, "3 inactive", "does not take inactive"),
            (Kind::V3File, "2000000000", "2000000000 is more than 1,000,000,000"),
            (Kind::V2FileScan, "3", "v2-file-scan does not take 3; it takes --known"),
            (Kind::V3Analysis, "--exists", "--exists takes yes or no"),
            (Kind::V3Analysis, "--exists perhaps", "perhaps is neither yes nor no"),
            (Kind::V2FileReport, "3 @list", "@list: it is said already"),
            (Kind::V3File, "@list", "v3-file does not take @list"),
        ] {
            let why = Amount::read(kind, typed);
            assert!(why.as_ref().is_err_and(|why| why.contains(named)), "{typed}: {why:?}");
        }
    }

    #[test]
    fn every_option_that_an_operation_takes_sets_one_of_its_numbers() {
        for kind in Kind::ALL {
            for option in kind.takes().iter().filter(|option| **option != HASHES_FROM) {
                let value = if is_asked(option) { if *option == "--active" { "no" } else { "yes" } } else { "7" };
                let mut numbers = Numbers::default();
                set(&mut numbers, option, value).unwrap();
                assert_ne!(numbers, Numbers::default(), "{option}");
            }
        }
    }
}
