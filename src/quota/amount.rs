//! Parses the amounts typed behind an operation's name. The app's planner and the command line
//! share this syntax. A word that cannot be parsed is an error that names it.

use super::options::Value;
use super::{Choice, Kind, Numbers};

/// Prefix of the name of a file that lists hashes.
const LISTED: char = '@';

/// The amounts of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amount {
    Numbers(Numbers),
    /// One for each hash that a file lists.
    Listed {
        path: String,
        numbers: Numbers,
        /// The words that set the other numbers.
        others: String,
    },
}

impl Amount {
    /// Parses the text behind an operation's name. Each number may follow its option or stand
    /// alone; without any text the count is one.
    pub fn read(kind: Kind, typed: &str) -> Result<Self, String> {
        Self::of(kind, words(typed)?)
    }

    /// Like [`Self::read`], for words that are split already.
    pub fn of(kind: Kind, words: Vec<String>) -> Result<Self, String> {
        let mut reading =
            AmountParser { kind, numbers: Numbers::default(), said: Vec::new(), path: None, others: Vec::new() };
        let mut rest = words.as_slice();
        while let [word, after @ ..] = rest {
            rest = reading.take(word, after)?;
        }
        Ok(match reading.path {
            None => Self::Numbers(reading.numbers),
            Some(path) => Self::Listed { path, numbers: reading.numbers, others: reading.others.join(" ") },
        })
    }
}

/// State of the parser.
struct AmountParser {
    kind: Kind,
    numbers: Numbers,
    said: Vec<&'static Choice>,
    path: Option<String>,
    others: Vec<String>,
}

impl AmountParser {
    /// Consumes a word with its values and returns the remaining words.
    fn take<'a>(&mut self, word: &'a str, after: &'a [String]) -> Result<&'a [String], String> {
        let (choice, value) = meant(self.kind, word)?;
        if self.said.iter().any(|said| said.says_the_same_as(choice)) {
            return Err(format!("{word}: it is said already how many"));
        }
        self.said.push(choice);
        let taken = match (&value, &choice.value) {
            (Some(_), Value::File) if word.starts_with("--") => 0,
            // A file name may contain blanks; it ends before the next option.
            (_, Value::File) => after.iter().take_while(|word| !word.starts_with("--")).count(),
            (Some(_), _) | (None, Value::Nothing(_)) => 0,
            (None, _) => after.len().min(1),
        };
        let (behind, rest) = after.split_at(taken);
        let value = value.iter().map(String::as_str).filter(|value| !value.is_empty());
        let value = value.chain(behind.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        choice.set(&mut self.numbers, &value)?;
        if choice.is_file() {
            self.path = Some(value);
        } else {
            self.others.push(word.to_owned());
            self.others.extend_from_slice(behind);
        }
        Ok(rest)
    }
}

/// Returns the option of a word and the word's own value. The option may be left out for a count,
/// for the submissions per file, for a file behind `@`, and for the state of a ruleset.
fn meant(kind: Kind, word: &str) -> Result<(&'static Choice, Option<String>), String> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
        _ => match word {
            "active" => ("--active", Some("yes".to_owned())),
            "inactive" => ("--active", Some("no".to_owned())),
            _ => match word.strip_prefix(LISTED) {
                Some(path) => ("--hashes-from", Some(path.to_owned())),
                None => (word, None),
            },
        },
    };
    if let Some(choice) = kind.options().find(|choice| choice.name == name) {
        return Ok((choice, value));
    }
    let typed = if word.starts_with("--") { name } else { word };
    let takes_no = || format!("{} does not take {typed}; it takes {}", kind.name(), kind.options_words());
    let counted_by = kind.counted_by().filter(|_| value.is_none() && !word.starts_with("--")).ok_or_else(takes_no)?;
    match counted_by.check(word) {
        Ok(()) => Ok((counted_by, Some(word.to_owned()))),
        Err(why) if word.starts_with(|first: char| first.is_ascii_digit()) => Err(why),
        Err(why) => Err(format!("{why}; {}", takes_no())),
    }
}

/// Splits text into words at blanks, except inside quotes. A backslash is literal, because paths
/// contain it.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut quoted_by) = (Vec::<String>::new(), None);
    let mut is_between = true;
    for letter in text.chars() {
        if quoted_by.is_none() && letter.is_whitespace() {
            is_between = true;
            continue;
        }
        if std::mem::take(&mut is_between) {
            words.push(String::new());
        }
        match (letter, quoted_by) {
            (mark, Some(open)) if mark == open => quoted_by = None,
            ('"' | '\'', None) => quoted_by = Some(letter),
            _ => words.last_mut().into_iter().for_each(|word| word.push(letter)),
        }
    }
    if quoted_by.is_some() { Err("a quotation mark is not closed".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would_and_paths_stay_whole() {
        let split = |text: &str| words(text).map(|words| words.join("|")).ok();
        assert_eq!(split("  v3-file   --calls 3 ").as_deref(), Some("v3-file|--calls|3"));
        assert_eq!(
            split(r#"a --from "C:\my list.txt" 'b "c"' ''"#).as_deref(),
            Some(r#"a|--from|C:\my list.txt|b "c"|"#)
        );
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("").as_deref(), Some(""));
    }
}
