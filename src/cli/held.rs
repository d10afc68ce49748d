//! `behaview held`: lists and deletes the content of the store. Sends nothing.

use super::*;
use crate::app::over::held::{deletion_words, title};
use crate::report::{Deletion, Held as Thing, Holding, Purge, Retention};
use crate::request::again;
use crate::store::StoreError;

const EXAMPLES: &str = "\
Examples:
  behaview held
  behaview held --json
  behaview held --older-than 30d
  behaview held --all --yes

What is deleted is deleted from the disk, notes on it included; its bytes are not overwritten. The ledger \
always stays. Fetching a report again costs one request, if the service still has it. Without --yes it is \
only said what would be deleted, whose it is, and what fetching it again would cost.

Without --profile this is about everything; with it about what that profile can open: what its service sent, \
and what was imported. Of that --all and --older-than delete what the service sent. A note goes with the last \
stored copy of its report. With --older-than an earlier file is forgotten only if nothing of it is stored any \
more, and it was opened a day before that.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HeldArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Selection,
    /// Delete the listed items; without it nothing is deleted
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Selection {
    /// Delete this: a sandbox identifier, a file's SHA-256 (all of its reports), or an id that the list shows
    #[arg(long, value_name = "ID")]
    delete: Option<String>,
    /// Delete everything older, such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<SignedDuration>,
    /// Delete everything
    #[arg(long)]
    all: bool,
}

impl HeldArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        let (store, now) = (open_to_look(&folders.store)?, crate::clock::now());
        let all = store.inventory()?;
        let service = common.profile.as_deref().map(|name| service_named(name, &config, &all)).transpose()?;
        let kept = of_service(&all, service.as_deref());
        let Some(what) = self.which.purge(&kept, now)? else { return self.print(&store, &kept, &kept, None) };
        // An id or a hash already selects the items of one service.
        let only = service.as_deref().filter(|_| self.which.delete.is_none());
        let deletion = Deletion::of(what, only, &all);
        let files = store.forgotten(&deletion)?.len() as u64;
        let is_none = deletion.things.is_empty() && (deletion.notes, files) == (0, 0);
        let (things, gone): (Vec<_>, _) = (deletion.things.iter().collect(), Some((&deletion, files)));
        if !self.yes {
            self.print(&store, &things, if is_none { &kept } else { &things }, gone)?;
            if is_none {
                return Ok(());
            }
            fail!(Usage, "nothing was deleted: --yes deletes the listed items");
        }
        if !store.purge(&deletion)? {
            fail!(Other, "nothing was deleted: another program has changed the store in the meantime; try again");
        }
        let left = store.inventory()?;
        self.print(&store, &things, &of_service(&left, service.as_deref()), gone)
    }

    /// Prints the items that the command selects, the size of the store, and the deletion.
    fn print(&self, store: &Store, rows: &[&Holding], held: &[&Holding], gone: Option<(&Deletion, u64)>) -> Result<()> {
        let now = crate::clock::now();
        let sum = |of: fn(&Holding) -> u64| held.iter().map(|thing| of(thing)).fold(0, u64::saturating_add);
        let (size, on_disk) = (sum(|thing| thing.bytes), sum(|thing| thing.on_disk));
        if self.json {
            let rows = held.iter().map(|kept| row(store, kept, now)).collect::<Result<Vec<_>, StoreError>>()?;
            let deleted = gone.map(|(deletion, files)| self.deleted(deletion, files));
            return print_json(&json!({"held": rows, "bytes": size, "on_disk": on_disk, "deleted": deleted}));
        }
        let heading = ["received (UTC)", ">size", ">on disk", ">notes", "at service", "from", "id"];
        let cells = rows.iter().map(|kept| cells(kept, now));
        let mut text = if rows.is_empty() { String::new() } else { table(heading, cells) };
        text += &match held.len() as u64 {
            0 => "Nothing is stored.\n".to_owned(),
            things => format!("{} stored: {}, {} on disk\n", thousands(things), bytes(size), bytes(on_disk)),
        };
        if let Some((deletion, files)) = gone {
            let verb = if self.yes { "Deleted" } else { "Would be deleted" };
            let files = if files > 0 { format!(", {}", count(files, "earlier file")) } else { String::new() };
            let again = again(&deletion.things, &Entitlements::default(), now);
            let again = if self.yes || again.is_empty() { String::new() } else { again + "\n" };
            text += &format!("{verb}: {}{files}\n{again}", deletion_words(deletion));
        }
        print_text(&text)
    }

    fn deleted(&self, deletion: &Deletion, files: u64) -> Value {
        let mut profiles = BTreeMap::<&str, u64>::new();
        deletion.things.iter().for_each(|kept| *profiles.entry(&kept.profile).or_default() += 1);
        let (size, on_disk) = deletion.sizes();
        json!({
            "is_done": self.yes,
            "things": deletion.things.len(),
            "bytes": size,
            "on_disk": on_disk,
            "notes": deletion.notes,
            // Records of files that were opened, listed or imported, which are deleted too.
            "files": files,
            "profiles": profiles,
        })
    }
}

impl Selection {
    fn purge(&self, kept: &[&Holding], now: Timestamp) -> Result<Option<Vec<Purge>>> {
        if self.all {
            return Ok(Some(vec![Purge::Everything]));
        }
        if let Some(age) = self.older_than {
            let before = now.checked_sub(age);
            let before = before.map_err(|_| FailureKind::Usage.error("that is longer ago than time goes"))?;
            return Ok(Some(vec![Purge::Before(before)]));
        }
        let Some(id) = &self.delete else { return Ok(None) };
        let found: Vec<_> = kept.iter().filter_map(|kept| one(kept, id)).collect();
        if found.is_empty() {
            fail!(NotFound, "nothing is stored with this id; behaview held lists the ids");
        }
        Ok(Some(found))
    }
}

/// The deletion for an id as the list shows it, if it names this item.
fn one(kept: &Holding, named: &str) -> Option<Purge> {
    if let Some(file) = Sha256::parse(named) {
        let service = kept.service.clone();
        return (kept.file.as_ref() == Some(&file)).then_some(Purge::File(service, file));
    }
    (id(kept) == named).then(|| kept.purge())
}

/// The service of a profile. For a profile that was removed from the config: the service of its stored items.
fn service_named(name: &str, config: &Config, kept: &[Holding]) -> Result<String> {
    let fetched = || kept.iter().find(|kept| kept.profile == name && !kept.is_import());
    match config.profile() {
        Ok(profile) => Ok(service_of(&profile)),
        Err(error) => fetched().map(|kept| kept.service.clone()).ok_or(error.into()),
    }
}

/// The items that a profile of this service can open: its own responses, imports and notes.
fn of_service<'a>(kept: &'a [Holding], service: Option<&str>) -> Vec<&'a Holding> {
    let is_here = |kept: &&Holding| {
        service.is_none_or(|service| kept.service == service || kept.is_import() || !kept.is_answer())
    };
    kept.iter().filter(is_here).collect()
}

fn row(store: &Store, kept: &Holding, now: Timestamp) -> Result<Value, StoreError> {
    let mut notes = Vec::new();
    if let Some(identifier) = kept.noted().filter(|_| kept.notes > 0) {
        notes = store.notes()?;
        notes.retain(|note| note.about.identifier == *identifier);
    }
    // Attribute and item are null for a note on the whole report.
    let note = |note: &Note| {
        let item = note.about.item.as_ref();
        json!({
            "attribute": item.map(|item| item.attribute.unicode()),
            "item": item.map(|item| item.text.unicode()),
            "text": note.text.unicode(),
            "written": note.written,
        })
    };
    Ok(json!({
        "id": id(kept),
        "what": what(kept),
        "profile": kept.profile,
        "file": kept.file.as_ref().map(ToString::to_string),
        "name": kept.name.as_ref().map(Untrusted::unicode),
        "sandbox": kept.noted().map(|identifier| identifier.parts().sandbox.unicode()),
        "received": kept.received,
        "bytes": kept.bytes,
        "on_disk": kept.on_disk,
        "notes": notes.iter().map(note).collect::<Vec<_>>(),
        "is_unread": kept.is_unread(),
        "at_service": kept.retention(now).map(Retention::words),
        "imported_from": kept.imported.as_ref().map(|imported| imported.from.unicode()),
        "imported_by": kept.imported.as_ref().map(|imported| imported.by.unicode()),
    }))
}

fn cells(kept: &Holding, now: Timestamp) -> [String; 7] {
    let from = match &kept.imported {
        Some(imported) => format!("imported {}", imported.words()),
        None if matches!(kept.what, Thing::Notes(_)) => "notes alone".to_owned(),
        None if kept.is_unread() => "unread".to_owned(),
        None => Untrusted::from(kept.profile.as_str()).visible_cut(40).to_string(),
    };
    [
        kept.received.strftime("%F %H:%M").to_string(),
        bytes(kept.bytes),
        bytes(kept.on_disk),
        if kept.notes == 0 { "-".to_owned() } else { kept.notes.to_string() },
        kept.retention(now).map_or_else(|| "-".to_owned(), Retention::short),
        from,
        match kept.what {
            Thing::Report(_) | Thing::Notes(_) => said(id(kept)).to_string(),
            Thing::Answer { .. } => format!("{} ({})", id(kept), what(kept)),
        },
    ]
}

fn what(kept: &Holding) -> String {
    let file = || kept.file.as_ref().map(|file| format!(" of {}", file.short())).unwrap_or_default();
    match &kept.what {
        Thing::Report(_) => "report".to_owned(),
        Thing::Notes(_) => "notes".to_owned(),
        Thing::Answer { key, .. } => match Request::of_holding_key(key.as_bytes()) {
            // Its reports are separate items, or were deleted.
            Some(Request::Behaviours { .. }) => format!("{}{}, without reports", title(kept), file()),
            _ => title(kept).cut(120).to_string(),
        },
    }
}

fn id(kept: &Holding) -> String {
    match &kept.what {
        Thing::Report(identifier) | Thing::Notes(identifier) => {
            // Identifiers with invalid Unicode are named by their visible form, which is unique.
            let text = std::str::from_utf8(identifier.as_bytes()).map(str::to_owned);
            text.unwrap_or_else(|_| identifier.text().visible().to_string())
        }
        Thing::Answer { id, .. } => id.clone(),
    }
}

/// Parses an age such as `30d` or `12h`.
fn age(text: &str) -> Result<SignedDuration, &'static str> {
    let read = |unit: char, seconds: i64| {
        let number = text.strip_suffix(unit)?.parse::<u32>().ok()?;
        Some(SignedDuration::from_secs(seconds * i64::from(number)))
    };
    read('d', 86_400).or_else(|| read('h', 3600)).ok_or("an age is a number of days or hours, such as 30d or 12h")
}
