//! `behaview pivot`: lists stored files with a value, of any kind it can be. Pays nothing.

use super::*;
use crate::prevalence::{Prevalence, StableBuildHasher, ValueHolder};
use crate::store::IMPORTED;

/// The most listed reports of one value; all of them are counted.
const MAX_HOLDERS: usize = 10_000;

#[derive(Debug, Args)]
#[command(after_help = examples("pivot"))]
pub(super) struct PivotArgs {
    /// A host, an address, a URL, a hash, a path, a registry key or its data, a command, a mutex, a
    /// service, a behash
    #[arg(required = true, value_name = "VALUE")]
    values: Vec<String>,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct FoundHolder<'a> {
    value: &'a str,
    /// What the value is there.
    kind: &'a str,
    file: Option<String>,
    id: String,
    sandbox: String,
    received_at: Timestamp,
    /// The other profile whose report this is, if this profile cannot open it.
    stored_for: Option<String>,
    /// The colleague who has shared it, if it is not stored here.
    shared_by: Option<String>,
    /// Files that have the value as this kind, of all stored ones, or of the team's.
    files: usize,
    of_files: usize,
    is_of_team: bool,
    /// Files that do not list it, but have a list that the service perhaps cut.
    unknown: usize,
}

impl PivotArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let Setup { gateway, runtime, .. } = setup(common, Spending::default())?;
        gateway.store.index_values(&Cancel::default())?;
        let mut is_found = false;
        let mut all = Prevalence::default();
        // Exports defang addresses.
        let mut forms: Vec<_> = self.values.iter().flat_map(|value| [value.clone(), text::refanged(value)]).collect();
        let mut known = HashSet::new();
        forms.retain(|form| known.insert(form.clone()));
        if forms.iter().any(|form| form.trim().is_empty()) {
            fail!(Usage, "a value without text is none: quote it, or name another");
        }
        for value in &forms {
            if let Some(file) = Sha256::parse(value)
                && !gateway.store.reports(&gateway.service, &file)?.is_empty()
            {
                hint(format!("{} is a stored file itself: behaview triage shows what is stored of it", file.short()));
            }
            let probe = Report::of_text(value);
            let mut found = probe.values_of(None, &StableBuildHasher, &Cancel::default())?;
            let mut known = HashSet::new();
            found.retain(|found| known.insert(found.hashes.value));
            let values: Vec<_> = found.iter().map(|found| found.hashes).collect();
            let counted = runtime.block_on(gateway.prevalence(&values, &Untrusted::default()))?;
            all = counted.first().copied().unwrap_or_default();
            for (found, prevalence) in found.iter().zip(counted).filter(|(_, prevalence)| prevalence.files > 0) {
                is_found = true;
                let holders = runtime.block_on(gateway.value_holders(found.hashes.value, MAX_HOLDERS))?;
                self.print(value, &found.label(&probe), prevalence, &holders, &gateway.service)?;
            }
        }
        match (is_found, all.of_files) {
            (true, _) => Ok(()),
            (false, 0) => fail!(NotFound, "nothing is stored yet, so there is nothing to find"),
            (false, files) => {
                let files = count(files as u64, "stored file");
                let part = "behaview search finds a part of one, such as the name in a path";
                fail!(NotFound, "not in {files}{}, as a whole value: {part}", all.owner())
            }
        }
    }

    fn print(
        &self,
        value: &str,
        kind: &str,
        prevalence: Prevalence,
        holders: &[ValueHolder],
        service: &str,
    ) -> Result<()> {
        let Prevalence { files, of_files, perhaps_unlisted, is_of_team, .. } = prevalence;
        if !self.json {
            let label = prevalence.label().unwrap_or_else(|| "in the only stored file".to_owned());
            print_text(&format!("{}  {kind}  {label}\n", visible(value)))?;
        }
        holders.iter().try_for_each(|holder| {
            let is_other = holder.service != service && holder.service != IMPORTED;
            let row = FoundHolder {
                value,
                kind,
                file: holder.file.as_ref().map(ToString::to_string),
                id: holder.identifier.text().unicode(),
                sandbox: holder.identifier.parts().sandbox.unicode(),
                received_at: holder.received,
                stored_for: is_other.then(|| holder.profile.clone()),
                shared_by: holder.person.as_ref().map(Untrusted::unicode),
                files,
                of_files,
                is_of_team,
                unknown: perhaps_unlisted,
            };
            if self.json {
                return print_body(json_line(&row)?.as_bytes());
            }
            let file = holder.file.as_ref().map_or_else(|| visible(&row.id), Sha256::short);
            let shared = row.shared_by.as_deref().map(|name| ("shared by", name));
            let other = row.stored_for.as_deref().map(|name| ("stored for profile", name)).or(shared);
            let other = other.map(|(how, name)| format!(" ({how} {})", Untrusted::from(name).visible_cut(40)));
            let sandbox = visible(&row.sandbox) + &other.unwrap_or_default();
            print_text(&format!("  {file}  {sandbox}  {}\n", text::moment(holder.received)))
        })
    }
}
