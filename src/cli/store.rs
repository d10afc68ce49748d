//! `behaview store`: lists, removes and imports stored items. Sends nothing.

use super::*;
use crate::app::overlays::stored::{describe_deletion, origin, title};
use crate::report::{Deletion, DeletionTarget, StoredContent as Thing, StoredItem};
use crate::request::again;
use crate::store::StoreError;
use clap::{ArgGroup, Subcommand};

#[derive(Debug, Args)]
#[command(mut_subcommands(short_help), after_help = examples("store"))]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    command: Option<StoreCommand>,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// List the stored items: age, size, notes, expiry at the service, origin
    #[command(after_help = examples("store list"))]
    List(FormatFlags),
    /// Remove stored items
    Remove(RemoveArgs),
    /// Store reports that a colleague exported, so that a group pays once for all
    Import(import::ImportArgs),
}

#[derive(Debug, Default, Args)]
#[command(after_help = examples("store remove"), group = ArgGroup::new("items").required(true).args(["id", "older_than", "all"]))]
struct RemoveArgs {
    /// Remove this: a sandbox identifier, a file's SHA-256 (all of its reports), or an id that the
    /// list shows
    id: Option<String>,
    /// Remove everything older, such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<SignedDuration>,
    /// Remove everything
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    form: FormatFlags,
    /// Delete the listed items; without it nothing is deleted
    #[arg(long)]
    yes: bool,
}

impl StoreArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        match self.command {
            None => RemoveArgs::default().run(common),
            Some(StoreCommand::List(form)) => RemoveArgs { form, ..RemoveArgs::default() }.run(common),
            Some(StoreCommand::Remove(command)) => command.run(common),
            Some(StoreCommand::Import(command)) => command.run(common),
        }
    }
}

impl RemoveArgs {
    /// Deletes the selected items; if none are selected, lists everything.
    fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        let store = open_for_reading(&folders.store)?;
        let all = store.inventory()?;
        let service = common.profile.as_deref().map(|name| service_named(name, &config, &all)).transpose()?;
        let stored = of_service(&all, service.as_deref());
        let Some(what) = self.purge(&stored, crate::clock::now())? else {
            return self.print(&store, &stored, &stored, None);
        };
        // An id or a hash already selects the items of one service.
        let deletion = Deletion::of(what, service.as_deref().filter(|_| self.id.is_none()), &all);
        let files = store.forgotten(&deletion)?.len() as u64;
        let is_none = deletion.things.is_empty() && (deletion.notes, files) == (0, 0);
        let (items, gone): (Vec<_>, _) = (deletion.things.iter().collect(), Some((&deletion, files)));
        if !self.yes {
            self.print(&store, &items, if is_none { &stored } else { &items }, gone)?;
            if is_none {
                return Ok(());
            }
            fail!(Usage, "nothing was deleted: --yes deletes the listed items");
        }
        if !store.purge(&deletion)? {
            fail!(Other, "nothing was deleted: another program has changed the store in the meantime; try again");
        }
        self.print(&store, &items, &of_service(&store.inventory()?, service.as_deref()), gone)
    }

    fn purge(&self, items: &[&StoredItem], now: Timestamp) -> Result<Option<Vec<DeletionTarget>>> {
        if self.all {
            return Ok(Some(vec![DeletionTarget::Everything]));
        }
        if let Some(age) = self.older_than {
            let before = now.checked_sub(age);
            let before = before.map_err(|_| FailureKind::Usage.error("the age is too large"))?;
            return Ok(Some(vec![DeletionTarget::Before(before)]));
        }
        let Some(id) = &self.id else { return Ok(None) };
        let found: Vec<_> = items.iter().filter_map(|item| one(item, id)).collect();
        if found.is_empty() {
            fail!(NotFound, "nothing is stored with this id; behaview store lists the ids");
        }
        Ok(Some(found))
    }

    /// Prints the selected items, the size of the store, and the deletion.
    fn print(
        &self,
        store: &Store,
        rows: &[&StoredItem],
        all: &[&StoredItem],
        gone: Option<(&Deletion, u64)>,
    ) -> Result<()> {
        let now = crate::clock::now();
        let sum = |of: fn(&StoredItem) -> u64| all.iter().map(|item| of(item)).fold(0, u64::saturating_add);
        let size = sum(|item| item.bytes);
        let on_disk = sum(|item| item.on_disk);
        if self.form.json {
            let rows = all.iter().map(|item| row(store, item, now)).collect::<Result<Vec<_>, StoreError>>()?;
            let deleted = gone.map(|(deletion, files)| self.deleted(deletion, files));
            return print_json(&json!({"stored": rows, "bytes": size, "bytes_on_disk": on_disk, "deleted": deleted}));
        }
        let heading = ["received (UTC)", ">size", "->on disk", ">notes", "at service", "from", "what", "-id"];
        let cells = rows.iter().map(|item| cells(item, now));
        let mut text = if rows.is_empty() { String::new() } else { table(heading, cells) };
        text += &match all.len() as u64 {
            0 => "Nothing is stored.\n".to_owned(),
            items => format!("{} stored: {}, {} on disk\n", thousands(items), bytes(size), bytes(on_disk)),
        };
        if let Some((deletion, files)) = gone {
            let verb = if self.yes { "Deleted" } else { "Would be deleted" };
            let files = if files > 0 { format!(", {}", count(files, "earlier file")) } else { String::new() };
            let again = again(&deletion.things, &Entitlements::default(), now);
            let again = if self.yes || again.is_empty() { String::new() } else { again + "\n" };
            text += &format!("{verb}: {}{files}\n{again}", describe_deletion(deletion));
        }
        print_text(&text)
    }

    fn deleted(&self, deletion: &Deletion, files: u64) -> Value {
        let mut profiles = BTreeMap::<&str, u64>::new();
        deletion.things.iter().for_each(|item| *profiles.entry(&item.profile).or_default() += 1);
        let (size, on_disk) = deletion.sizes();
        json!({
            "done": self.yes,
            "items": deletion.things.len(),
            "bytes": size,
            "bytes_on_disk": on_disk,
            "notes": deletion.notes,
            // Records of files that were opened, listed or imported, which are deleted too.
            "files": files,
            "profiles": profiles,
        })
    }
}

/// Returns the deletion for an id as the list shows it, if it names this item.
fn one(item: &StoredItem, named: &str) -> Option<DeletionTarget> {
    if let Some(file) = Sha256::parse(named) {
        return (item.file.as_ref() == Some(&file)).then(|| DeletionTarget::File(item.service.clone(), file));
    }
    (id(item) == named).then(|| item.purge())
}

/// Names a profile's service; of a profile removed from the config, that of its stored items.
fn service_named(name: &str, config: &Config, items: &[StoredItem]) -> Result<String> {
    let fetched = || items.iter().find(|item| item.profile == name && !item.is_import());
    match config.profile() {
        Ok(profile) => Ok(service_of(&profile)),
        Err(error) => fetched().map(|item| item.service.clone()).ok_or(error.into()),
    }
}

/// Returns the items that a profile of this service can open: its own responses, imports and notes.
fn of_service<'a>(items: &'a [StoredItem], service: Option<&str>) -> Vec<&'a StoredItem> {
    let is_here = |item: &&StoredItem| {
        service.is_none_or(|service| item.service == service || item.is_import() || !item.is_response())
    };
    items.iter().filter(is_here).collect()
}

fn row(store: &Store, item: &StoredItem, now: Timestamp) -> Result<Value, StoreError> {
    let mut notes = if item.notes > 0 { store.notes()? } else { Vec::new() };
    notes.retain(|note| item.noted() == Some(&note.about.identifier));
    // Attribute and item are null for a note on the whole report.
    let note = |note: &Note| {
        let item = note.about.item.as_ref();
        json!({
            "attribute": item.map(|item| item.attribute.unicode()),
            "item": item.map(|item| item.text.unicode()),
            "text": note.text.unicode(),
            "written_at": note.written,
        })
    };
    Ok(json!({
        "id": id(item),
        "kind": kind(item),
        "label": label(item),
        "profile": item.profile,
        "file": item.file.as_ref().map(ToString::to_string),
        "name": item.name.as_ref().map(Untrusted::unicode),
        "sandbox": item.noted().map(|identifier| identifier.parts().sandbox.unicode()),
        "received_at": item.received,
        "bytes": item.bytes,
        "bytes_on_disk": item.on_disk,
        "notes": notes.iter().map(note).collect::<Vec<_>>(),
        "quarantined": item.is_unread(),
        "at_service": item.retention(now),
        "imported_from": item.imported.as_ref().map(|imported| imported.from.unicode()),
        "imported_by": item.imported.as_ref().map(|imported| imported.by.unicode()),
    }))
}

fn cells(item: &StoredItem, now: Timestamp) -> [String; 8] {
    [
        item.received.strftime("%F %H:%M").to_string(),
        bytes(item.bytes),
        bytes(item.on_disk),
        if item.notes == 0 { "-".to_owned() } else { item.notes.to_string() },
        item.retention(now).map_or_else(|| "-".to_owned(), |found| found.short(now)),
        origin(item),
        label(item),
        to_visible(id(item)).to_string(),
    ]
}

fn kind(item: &StoredItem) -> &'static str {
    match item.what {
        Thing::Report(_) => "report",
        Thing::Notes(_) => "notes",
        Thing::Response { .. } => "response",
    }
}

fn label(item: &StoredItem) -> String {
    let file = item.file.as_ref().map(|file| format!(" of {}", file.short())).unwrap_or_default();
    match &item.what {
        Thing::Report(_) | Thing::Notes(_) => format!("{}{file}", title(item).cut(40)),
        Thing::Response { key, .. } => match Request::of_storage_key(key.as_bytes()) {
            // Its reports are separate items, or were deleted.
            Some(Request::Behaviours { .. }) => format!("{}{file}, without reports", title(item)),
            _ => title(item).cut(120).to_string(),
        },
    }
}

fn id(item: &StoredItem) -> String {
    match &item.what {
        Thing::Report(identifier) | Thing::Notes(identifier) => {
            // Identifiers with invalid Unicode are named by their visible form, which is unique.
            let text = std::str::from_utf8(identifier.as_bytes()).map(str::to_owned);
            text.unwrap_or_else(|_| identifier.text().visible().to_string())
        }
        Thing::Response { id, .. } => id.clone(),
    }
}

/// Parses an age such as `30d` or `12h`.
pub(super) fn age(text: &str) -> Result<SignedDuration, &'static str> {
    let read = |unit: char, seconds: i64| {
        let number = text.strip_suffix(unit)?.parse::<u32>().ok()?;
        Some(SignedDuration::from_secs(seconds * i64::from(number)))
    };
    read('d', 86_400).or_else(|| read('h', 3600)).ok_or("an age is a number of days or hours, such as 30d or 12h")
}
