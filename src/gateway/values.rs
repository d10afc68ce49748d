//! Counts and finds values in stored reports and the team's; shares those of a report.

use super::Gateway;
use crate::prevalence::{Prevalence, ValueHolder};
use crate::report::compare::ValueHashes;
use crate::store::StoreError;
use crate::team::{Team, TeamError};
use crate::text::Untrusted;
use std::collections::HashSet;
use std::sync::Arc;

impl Gateway {
    /// Shares the values of responses that are shared, up to one that cannot be counted now.
    pub(super) async fn share_values(&self, team: &Team, keys: Vec<Vec<u8>>) -> Result<(), TeamError> {
        let mut upload = team.upload();
        for key in keys {
            let (store, service, of) = (Arc::clone(&self.store), self.service.clone(), key.clone());
            let found = tokio::task::spawn_blocking(move || store.values_of_report(&service, &of)).await;
            if let Some((of, values)) = found.ok().flatten() {
                upload.add_values(&self.service, &key, &of, &values).await?;
            }
        }
        Ok(())
    }

    /// Counts values as a sandbox sees them: among stored files, or the team's if those are more.
    pub async fn prevalence(&self, values: &[ValueHashes], sandbox: &Untrusted) -> Result<Vec<Prevalence>, StoreError> {
        let mut counted = self.store.with_values(|index| index.prevalence(values, sandbox))?;
        let Some(team) = &self.team else { return Ok(counted) };
        let shared = self.or_logged("values not counted", team.prevalence(values, sandbox).await);
        for (own, team) in counted.iter_mut().zip(shared) {
            // Imported reports are not shared.
            if team.of_files > own.of_files && team.files >= own.files {
                *own = team;
            }
        }
        Ok(counted)
    }

    /// Returns the reports that have a value, at most `most`: the stored ones, then colleagues'.
    pub async fn value_holders(&self, hash: u64, most: usize) -> Result<Vec<ValueHolder>, StoreError> {
        let mut holders = self.store.with_values(|index| index.holders(hash, most))?;
        let Some(team) = &self.team else { return Ok(holders) };
        let shared = self.or_logged("values not found", team.holders(&self.service, hash).await);
        // Of a report that was fetched several times, the team has several.
        let mut known: HashSet<_> = holders.iter().map(|holder| holder.identifier.clone()).collect();
        holders.extend(shared.into_iter().filter(|holder| known.insert(holder.identifier.clone())));
        holders.truncate(most);
        Ok(holders)
    }
}
