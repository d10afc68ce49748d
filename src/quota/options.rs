//! The options that set an operation's numbers: their names, values and fields. The planner parses
//! by this table, `behaview cost` offers it, and the README shows it.

use super::{Kind, Numbers};
use crate::text::thousands;

/// The highest number accepted; the price of a higher one could overflow.
const MOST: u64 = 1_000_000_000;

/// An option of operations.
#[derive(Debug)]
pub struct Choice {
    /// Its name, with its dashes.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// The fields of [`Numbers`] that it sets. An operation that needs one of them takes the
    /// option.
    settles: &'static [&'static str],
    pub(super) value: Value,
}

/// The value of an option, and its effect on the numbers.
#[derive(Debug)]
pub(super) enum Value {
    Count(fn(&mut Numbers, u64)),
    /// A number for each file.
    Counts(fn(&mut Numbers, Vec<u64>)),
    Answer(fn(&mut Numbers, bool)),
    /// No value: the option is a flag.
    Nothing(fn(&mut Numbers)),
    /// The name of a file with hashes; the caller counts them.
    File,
}

/// Every option.
pub static OPTIONS: [Choice; 12] = [
    Choice {
        name: "--calls",
        about: "Calls: each page, pivot and step of a cursor is one; of a graph, those that load all its items",
        settles: &["calls", "loads"],
        value: Value::Count(|numbers, calls| {
            numbers.calls = calls;
            // If the items of a graph are loaded, these calls do it.
            numbers.loads = Some(calls);
        }),
    },
    Choice {
        name: "--hashes",
        about: "Hashes in the list; repeated ones count",
        settles: &["hashes"],
        value: Value::Count(|numbers, hashes| numbers.hashes = hashes),
    },
    Choice {
        name: "--hashes-from",
        about: "A file of hashes, apart by line ends, blanks or commas",
        settles: &["hashes"],
        value: Value::File,
    },
    Choice {
        name: "--submissions",
        about: "Submissions of each file asked about, such as 4,6",
        settles: &["submissions"],
        value: Value::Counts(|numbers, of_each_file| numbers.submissions = Some(of_each_file)),
    },
    Choice {
        name: "--known",
        about: "Whether the service has the file already",
        settles: &["known"],
        value: Value::Answer(|numbers, known| numbers.known = Some(known)),
    },
    Choice {
        name: "--exists",
        about: "Whether the analysis exists",
        settles: &["exists"],
        value: Value::Answer(|numbers, exists| numbers.exists = Some(exists)),
    },
    Choice {
        name: "--after-new-upload",
        about: "The look-up follows the upload of a file that was new to the service",
        settles: &["after_new_upload"],
        value: Value::Nothing(|numbers| numbers.after_new_upload = Some(true)),
    },
    Choice {
        name: "--rules",
        about: "Live hunting rules",
        settles: &["rules"],
        value: Value::Count(|numbers, rules| numbers.rules = rules),
    },
    Choice {
        name: "--active",
        about: "Whether their ruleset is active",
        settles: &["active"],
        value: Value::Answer(|numbers, active| numbers.active = active),
    },
    Choice {
        name: "--jobs",
        about: "Retrospective hunting jobs",
        settles: &["jobs"],
        value: Value::Count(|numbers, jobs| numbers.jobs = jobs),
    },
    Choice {
        name: "--graphs",
        about: "Graphs",
        settles: &["graphs"],
        value: Value::Count(|numbers, graphs| numbers.graphs = graphs),
    },
    Choice {
        name: "--scans",
        about: "Private scans",
        settles: &["scans"],
        value: Value::Count(|numbers, scans| numbers.scans = scans),
    },
];

impl Kind {
    /// The options that it takes; the one for its count comes first.
    pub fn options(self) -> impl Iterator<Item = &'static Choice> {
        self.needs().iter().flat_map(|number| OPTIONS.iter().filter(move |choice| choice.settles.contains(number)))
    }

    /// The option meant by a bare number; `None` if nothing is counted.
    pub(super) fn counted_by(self) -> Option<&'static Choice> {
        self.options().find(|choice| matches!(choice.value, Value::Count(_) | Value::Counts(_)))
    }

    /// The option that turns a price per item into a number. It sets the last of the operation's
    /// numbers, which is otherwise known only from the response.
    pub fn settled_by(self) -> Option<&'static Choice> {
        self.options().last()
    }

    /// The options that it takes, as text: "--hashes N, --hashes-from FILE, --after-new-upload".
    pub fn options_words(self) -> String {
        self.options().map(Choice::words).collect::<Vec<_>>().join(", ")
    }
}

impl Choice {
    /// The placeholder of its value in the help; `None` for a flag.
    pub fn value_name(&self) -> Option<&'static str> {
        match self.value {
            Value::Count(_) => Some("N"),
            Value::Counts(_) => Some("N,..."),
            Value::Answer(_) => Some("yes|no"),
            Value::File => Some("FILE"),
            Value::Nothing(_) => None,
        }
    }

    /// The option with its placeholder.
    pub fn words(&self) -> String {
        [Some(self.name), self.value_name()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Whether its value is a file.
    pub fn is_file(&self) -> bool {
        matches!(self.value, Value::File)
    }

    /// Whether both options set the same number.
    pub(super) fn says_the_same_as(&self, other: &Self) -> bool {
        self.settles.iter().any(|number| other.settles.contains(number))
    }

    /// Checks a value without using it.
    pub fn check(&self, value: &str) -> Result<(), String> {
        self.set(&mut Numbers::default(), value)
    }

    /// Sets its number to the value. The caller counts the hashes of a file and sets that number
    /// itself.
    pub(super) fn set(&self, numbers: &mut Numbers, value: &str) -> Result<(), String> {
        match self.value {
            Value::Nothing(_) if !value.is_empty() => return Err(format!("{} takes no value", self.name)),
            Value::Nothing(set) => set(numbers),
            _ if value.is_empty() => return Err(format!("{} takes {}", self.name, self.wanted())),
            Value::Count(set) => set(numbers, number(value)?),
            Value::Counts(set) => set(numbers, counts(value)?),
            Value::Answer(set) => set(numbers, is_yes(value)?),
            Value::File => {}
        }
        Ok(())
    }

    fn wanted(&self) -> &'static str {
        match self.value {
            Value::Count(_) => "a number",
            Value::Counts(_) => "numbers such as 4,6",
            Value::Answer(_) => "yes or no",
            Value::File => "a file of hashes",
            Value::Nothing(_) => "no value",
        }
    }
}

fn is_yes(word: &str) -> Result<bool, String> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("{word} is neither yes nor no")),
    }
}

/// Parses numbers separated by commas. Rejects a word that may be one number with grouped
/// thousands.
fn counts(word: &str) -> Result<Vec<u64>, String> {
    if word.contains(',') && number(word).is_ok() {
        return Err(format!(
            "{word} may be one number or several: write one without commas, several with a short one last"
        ));
    }
    word.split(',').map(number).collect()
}

/// Parses a number, with or without commas between thousands.
pub(super) fn number(word: &str) -> Result<u64, String> {
    let is_grouped = word.split(',').skip(1).all(|group| group.len() == 3) && !word.starts_with(',');
    let digits = word.replace(',', "");
    let is_number = is_grouped && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    match digits.parse().ok().filter(|number| *number <= MOST) {
        _ if !is_number => Err(format!("{word} is no number")),
        None => Err(format!("{word} is more than {}", thousands(MOST))),
        Some(number) => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_belongs_to_an_operation_and_every_number_has_an_option() {
        for choice in &OPTIONS {
            assert!(Kind::ALL.iter().any(|kind| kind.options().any(|taken| taken.name == choice.name)), "{choice:?}");
        }
        for (kind, number) in Kind::ALL.iter().flat_map(|kind| kind.needs().iter().map(move |number| (kind, number))) {
            let mut options = kind.options();
            assert!(options.any(|choice| choice.settles.contains(number)), "{kind:?} {number}");
        }
    }

    #[test]
    fn every_option_sets_one_of_the_numbers() {
        for choice in OPTIONS.iter().filter(|choice| !choice.is_file()) {
            let value = match choice.value {
                Value::Answer(_) if choice.name == "--active" => "no",
                Value::Answer(_) => "yes",
                Value::Nothing(_) => "",
                _ => "7",
            };
            let mut numbers = Numbers::default();
            choice.set(&mut numbers, value).unwrap();
            assert_ne!(numbers, Numbers::default(), "{choice:?}");
        }
    }
}
