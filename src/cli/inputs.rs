//! Arguments that commands share: spending, confirmation, pane, hashes, identifiers, documents.

use super::document::{Document, STANDARD_INPUT, is_json};
use super::*;

/// Maximum number of characters of an argument that are shown: it may be the key.
const MAX_SHOWN_CHARS: usize = 15;

// Arguments that may cost something. No doc comment: clap would use it as command description.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct Spending {
    /// Send nothing that may bring the cost of this run above N
    #[arg(long, value_name = "N")]
    pub(super) max_cost: Option<u64>,
    /// Spend what the group's budget reserves for incidents, too
    #[arg(long)]
    pub(super) incident: bool,
    /// Print the price, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print JSON; without it a dry run prints text
    #[arg(long)]
    pub(super) json: bool,
}

// The output format.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct FormatFlags {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

// Arguments of commands that may need a confirmation.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct AgreedPrice {
    /// Send it even where others can see it, it cannot be undone, or it may have been done before
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    pub(super) spending: Spending,
}

impl AgreedPrice {
    /// Fails if there is a warning and `--yes` is missing.
    pub(super) fn check(self, warning: Option<&str>) -> Result<(), CliError> {
        match warning {
            Some(why) if !self.yes => Err(FailureKind::Usage.error(format!("nothing was sent. {why} --yes sends it"))),
            _ => Ok(()),
        }
    }
}

/// Parses a pane by its name in exports or its title on screen; the error lists them all.
pub(super) fn pane(text: &str) -> Result<Pane, String> {
    let is_meant = |name: &str| name.eq_ignore_ascii_case(text);
    let by_name = Pane::ALL.into_iter().find(|pane| is_meant(pane.name()));
    let by_title = || Pane::ALL.into_iter().find(|pane| is_meant(pane.title()) || is_meant(pane.short()));
    by_name.or_else(by_title).ok_or_else(|| format!("the panes are {}", Pane::ALL.map(Pane::name).join(", ")))
}

/// Parses a file's SHA-256, for the commands for scripts.
pub(super) fn parse_sha256(text: &str) -> Result<Sha256> {
    Sha256::parse(text).ok_or_else(|| FailureKind::Usage.error(format!("{} {}", shown(text), not_a_hash(text))).into())
}

pub(super) fn shown(text: &str) -> String {
    let text = masked(text);
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn not_a_hash(text: &str) -> String {
    let is_hexadecimal = text.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
    let other = match text.trim().len() {
        32 if is_hexadecimal => "an MD5",
        40 if is_hexadecimal => "a SHA-1",
        _ => return "is not a SHA-256 of 64 hexadecimal digits, the only hash that names a private file".to_owned(),
    };
    format!("looks like {other}: private files are known by their SHA-256 alone, 64 hexadecimal digits")
}

/// Maximum size of a list of identifiers, in bytes; a million identifiers are smaller.
const MAX_LIST_BYTES: u64 = 128 << 20;

pub(super) enum Subject<T, S = Document> {
    Saved(S),
    Service(T),
}

impl<T, S> Subject<T, S> {
    pub(super) fn service(&self) -> Option<&T> {
        match self {
            Self::Service(named) => Some(named),
            Self::Saved(_) => None,
        }
    }
}

/// Parses the arguments with `typed`, and the lines of standard input (`-`) with `piped`. Standard
/// input may be a document instead. Omits duplicates.
pub(super) fn read_subjects<T>(
    arguments: &[OsString],
    typed: impl Fn(&str) -> Result<T>,
    piped: impl Fn(&str) -> Result<T>,
) -> Result<Vec<Subject<T>>> {
    let mut subjects = Vec::new();
    let mut known = HashSet::new();
    for argument in arguments {
        match document::as_service_name(argument) {
            _ if argument == STANDARD_INPUT => match standard_input()? {
                Subject::Saved(document) => subjects.push(Subject::Saved(document)),
                Subject::Service(text) => {
                    for line in lines(&text).filter(|line| known.insert(in_lower_case(line))) {
                        subjects.push(Subject::Service(piped(line)?));
                    }
                }
            },
            Some(name) if known.insert(in_lower_case(name)) => subjects.push(Subject::Service(typed(name)?)),
            Some(_) => {}
            None => subjects.push(Subject::Saved(document::read_of(argument.as_ref(), arguments.len())?)),
        }
    }
    if subjects.is_empty() {
        fail!(Usage, "standard input names nothing: it has one identifier a line, or a document");
    }
    Ok(subjects)
}

fn in_lower_case(text: &str) -> String {
    match text.split_at_checked(64) {
        Some((hash, rest)) => hash.to_ascii_lowercase() + rest,
        None => text.to_owned(),
    }
}

/// Reads a document, or text, from standard input.
fn standard_input() -> Result<Subject<String>> {
    let path = Path::new(STANDARD_INPUT);
    let bytes = document::saved(path, MAX_LIST_BYTES)?;
    if is_json(&bytes) {
        return Ok(Subject::Saved(document::of(path, &Body::in_memory(bytes))?.with_remarks_printed()));
    }
    Ok(Subject::Service(String::from_utf8(bytes).map_err(|_| FailureKind::Usage.error("standard input is not UTF-8"))?))
}

/// Returns the lines with names, without comments that begin with `#`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Runs an action for each subject; prints a failure, and stops if it would repeat at a cost.
pub(super) fn each<T>(common: &Common, subjects: Vec<T>, mut work: impl FnMut(T) -> Result<()>) -> Result<()> {
    let all = subjects.len();
    let mut tried = 0;
    let mut failed = Vec::new();
    for subject in subjects {
        tried += 1;
        if all > 1 {
            show_progress(&format!("{tried} of {all}"), "\r");
        }
        let Err(error) = work(subject) else { continue };
        if all > 1 {
            exit::print_error(&error, common.log());
        }
        let is_item_error = exit::is_item_error(&error);
        failed.push(error);
        if !is_item_error {
            break;
        }
    }
    let done = tried - failed.len();
    match failed.pop() {
        None => Ok(()),
        Some(error) if all == 1 => Err(error),
        Some(error) if done == 0 => Err(exit::kind_of(&error).error(format!("none of {all} is there")).into()),
        Some(_) => fail!(Partial, "{done} of {all} are there"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_pane_means_it() {
        for meant in Pane::ALL {
            for name in [meant.name(), meant.title(), meant.short(), &meant.title().to_uppercase()] {
                assert_eq!(pane(name), Ok(meant));
            }
        }
        assert!(pane("nowhere").is_err_and(|words| words.contains("techniques")));
    }
}
