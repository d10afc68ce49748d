//! How many of an operation are meant, as it is typed behind the operation's name: in the app's planner, and in an item of a plan on
//! the command line.

use super::Kind;

/// What stands before the name of a file that lists hashes.
const LISTED: char = '@';

/// The option that this stands for.
pub const HASHES_FROM: &str = "--hashes-from";

/// How many are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount<'a> {
    /// So many.
    Number(u64),
    /// As many as this file lists.
    Listed(&'a str),
}

impl<'a> Amount<'a> {
    /// What stands without an option: a number, or a file behind `@`.
    #[must_use]
    pub fn bare(text: &'a str) -> Option<Self> {
        let listed = text.strip_prefix(LISTED).map(str::trim).filter(|path| !path.is_empty()).map(Self::Listed);
        listed.or_else(|| text.replace(',', "").parse().ok().map(Self::Number))
    }

    /// What is typed behind the name of an operation, the option of its number before it or not; one where nothing is.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn read(kind: Kind, typed: &'a str) -> Result<Self, String> {
        let (own, typed) = (kind.number(), typed.trim());
        let (option, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let rest = rest.trim();
        match option {
            "" => Ok(Self::Number(1)),
            HASHES_FROM if !rest.is_empty() => Ok(Self::Listed(rest)),
            option if option == own && rest.is_empty() => Err(format!("{own} takes a number")),
            option if option == own => number(first(rest)),
            option if option.starts_with("--") => {
                Err(format!("here {} takes {own} and how many; behaview cost takes {option}", kind.name()))
            }
            _ => Self::bare(typed).or_else(|| Self::bare(option)).map_or_else(|| number(option), Ok),
        }
    }
}

fn first(words: &str) -> &str {
    words.split_whitespace().next().unwrap_or_default()
}

fn number<'a>(word: &str) -> Result<Amount<'a>, String> {
    let digits = word.replace(',', "");
    digits.parse().map(Amount::Number).map_err(|_| format!("{digits} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_alone_or_behind_its_option_and_a_file_behind_its_sign() {
        let read = |typed| Amount::read(Kind::V2FileReport, typed);
        assert_eq!(read("  "), Ok(Amount::Number(1)));
        assert_eq!(read("1,200"), Ok(Amount::Number(1_200)));
        assert_eq!(read("--hashes 600"), Ok(Amount::Number(600)));
        assert_eq!(read("@ my list.txt"), Ok(Amount::Listed("my list.txt")));
        assert_eq!(read("--hashes-from my list.txt"), Ok(Amount::Listed("my list.txt")));
        assert_eq!(read("--hashes"), Err("--hashes takes a number".to_owned()));
        assert!(read("--calls 2").is_err_and(|why| why.starts_with("here v2-file-report takes --hashes")));
        assert_eq!(read("many"), Err("many is no number".to_owned()));
        assert_eq!((Amount::bare("--calls"), Amount::bare("@")), (None, None));
    }
}
