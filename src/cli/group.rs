//! `behaview files`: lists the private files of the group, or its analyses.

use super::list::{MAX_PAGES, MORE_PAGES, print_dry_run_of_lists};
use super::*;
use crate::report::{GroupEntry, GroupPage, Retention};
use crate::request::GroupList;
use crate::runtime::load_group;

#[derive(Debug, Args)]
#[command(after_help = examples("files"))]
pub(super) struct FilesArgs {
    /// List the analyses instead, the last one first
    #[arg(long)]
    analyses: bool,
    /// Fetch every page that is not stored, not only the first; each costs one request, 100 at most
    #[arg(long)]
    all: bool,
    /// List once more, though the list is stored; its further pages then cost again
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    spending: Spending,
}

impl FilesArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let setup = setup(common, self.spending)?;
        let list = if self.analyses { GroupList::Analyses } else { GroupList::Files };
        let mut pages = if self.refresh { Vec::new() } else { load_group(&setup.gateway, list)? };
        if self.spending.dry_run {
            let ends = pages.into_iter().map(|(_, page)| page.end).collect();
            let lists = vec![(Request::GroupList { list, cursor: None }, ends)];
            return print_dry_run_of_lists(&setup, lists, self.all, self.refresh);
        }
        let fetched = self.fetch(&setup, list, &mut pages);
        print_cost(&setup)?;
        let printed = if pages.is_empty() { Ok(()) } else { self.print(&setup, &pages) };
        fetched.and(printed)
    }

    /// Fetches the first page, or all that are not stored; those before a failure stay.
    fn fetch(&self, setup: &Setup, list: GroupList, pages: &mut Vec<(Timestamp, GroupPage)>) -> Result<()> {
        let runtime = runtime()?;
        for _ in 0..MAX_PAGES {
            let cursor = pages.last().map(|(_, page)| page.end.cursor.clone());
            let is_repeated = pages.iter().rev().skip(1).any(|(_, page)| Some(&page.end.cursor) == cursor.as_ref());
            if cursor == Some(None) || is_repeated || cursor.is_some() && !self.all {
                break;
            }
            let request = Request::GroupList { list, cursor: cursor.flatten() };
            let response = runtime.block_on(fetch(setup, &request, self.refresh && pages.is_empty()))?;
            pages.push((response.received, GroupPage::of(&response.body)?));
        }
        Ok(())
    }

    fn print(&self, setup: &Setup, pages: &[(Timestamp, GroupPage)]) -> Result<()> {
        let reports = setup.gateway.store.count_reports(&setup.gateway.service)?;
        let reports = |entry: &GroupEntry| entry.file.as_ref().and_then(|file| reports.get(file)).copied().unwrap_or(0);
        let entries = pages.iter().flat_map(|(_, page)| &page.entries);
        let end = pages.last().map(|(_, page)| page.end.clone()).unwrap_or_default();
        let more = end.cursor.is_some() || end.is_lost;
        if more {
            warn(MORE_PAGES);
        }
        if room().is_none() || self.spending.json {
            let entry = |entry: &GroupEntry| {
                json!({
                    "file": entry.file.as_ref().map(ToString::to_string),
                    "analysis": entry.scan.as_ref().map(|(identifier, _)| identifier.text().unicode()),
                    "status": entry.scan.as_ref().map(|(_, progress)| progress.label()),
                    "name": entry.name.as_ref().map(Untrusted::unicode),
                    "type": entry.kind.as_ref().map(Untrusted::unicode),
                    "bytes": entry.size,
                    "analysed_at": entry.at,
                    "expires_at": entry.expires,
                    "reports_stored": reports(entry),
                })
            };
            let entries: Vec<_> = entries.map(entry).collect();
            let listed_at = pages.first().map(|(received, _)| *received);
            return print_json(&json!({"listed_at": listed_at, "total": end.count, "more": more, "entries": entries}));
        }
        let now = setup.gateway.now();
        let text = |text: &Option<Untrusted>| text.as_ref().map(|text| text.visible_cut(60).to_string());
        let cells = entries.map(|entry| {
            [
                entry.file.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
                text(&entry.name).unwrap_or_default(),
                text(&entry.kind).unwrap_or_default(),
                entry.size.map(bytes).unwrap_or_default(),
                entry.at.map(|at| at.strftime("%F %R").to_string()).unwrap_or_default(),
                entry.expires.map(|expires| Retention::until(expires, now).short(now)).unwrap_or_default(),
                entry.scan.as_ref().map(|(_, progress)| progress.label()).unwrap_or_default(),
                reports(entry).to_string(),
            ]
        });
        print_text(&table(
            ["file", "name", "-type", ">-size", "-analysed (UTC)", "expires", "status", ">reports"],
            cells,
        ))
    }
}
