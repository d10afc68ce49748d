//! `behaview pivot`: lists stored files with a value, of any kind it can be. Sends nothing.

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
    /// Files that have the value as this kind, of all stored ones.
    files: usize,
    of_files: usize,
    /// Files that do not list it, but have a list that the service perhaps cut.
    unknown: usize,
}

impl PivotArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let Gateway { store, service, .. } = &setup(common, Spending::default())?.gateway;
        store.index_values(&Cancel::default())?;
        let mut is_found = false;
        let mut of_files = 0;
        for value in &self.values {
            let probe = Report::of_text(value);
            let mut known = HashSet::new();
            for found in probe.values_of(None, &StableBuildHasher, &Cancel::default())? {
                if !known.insert(found.hash) {
                    continue;
                }
                let none = Untrusted::default();
                let counted = store.with_values(|index| index.prevalence(&[(&found).into()], &none))?;
                let prevalence = counted.first().copied().unwrap_or_default();
                let holders = store.with_values(|index| index.holders(found.hash, MAX_HOLDERS))?;
                of_files = prevalence.of_files;
                is_found |= !holders.is_empty();
                self.print(value, &found.label(&probe), prevalence, &holders, service)?;
            }
        }
        match (is_found, of_files) {
            (true, _) => Ok(()),
            (false, 0) => fail!(NotFound, "nothing is stored yet, so there is nothing to find"),
            (false, _) => fail!(NotFound, "not in {}", count(of_files as u64, "stored file")),
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
        let Prevalence { files, of_files, perhaps_unlisted, .. } = prevalence;
        if !self.json && !holders.is_empty() {
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
                files,
                of_files,
                unknown: perhaps_unlisted,
            };
            if self.json {
                return print_body(json_line(&row)?.as_bytes());
            }
            let file = holder.file.as_ref().map_or_else(|| visible(&row.id), Sha256::short);
            let other = row.stored_for.as_deref().map(Untrusted::from);
            let other = other.map(|name| format!(" (stored for profile {})", name.visible_cut(40)));
            let sandbox = visible(&row.sandbox) + &other.unwrap_or_default();
            print_text(&format!("  {file}  {sandbox}  {}\n", text::moment(holder.received)))
        })
    }
}
