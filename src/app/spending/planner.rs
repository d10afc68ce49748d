//! The planner: operations added up before any is asked, with what they would leave to the user and the group.

use crate::app::keys::KeyName;
use crate::app::over::{FormSource, InputForm, SheetRow, TextField};
use crate::app::panes::Move;
use crate::app::{Key, Model};
use crate::export::file;
use crate::quota::{Amount, Entitlements, ForecastLine, Kind, Operation, Plan, price};
use crate::text::{Untrusted, thousands};
use std::path::{Path, PathBuf};

pub type Planner = InputForm<PlannedOperations>;

#[derive(Debug, Default)]
pub struct PlannedOperations {
    items: Vec<Operation>,
    /// The first row that is shown, where there are so many.
    pub top: usize,
}

impl Planner {
    pub fn empty() -> Self {
        Self::with_fields(PlannedOperations::default(), 1)
    }

    fn set(&mut self, text: String) {
        self.fields = vec![TextField { text, is_suggested: false }];
    }

    pub fn operation(&self) -> Result<Operation, String> {
        let (name, amount) = self.words();
        let name = Some(name)
            .filter(|name| !name.is_empty())
            .ok_or("type an operation and how many, such as v2-file-report 600, or @ and a file of hashes")?;
        let kind = Kind::named(name).ok_or_else(|| {
            let more = if self.offered().next().is_some() { "; tab takes the first of these" } else { "" };
            format!("no operation is called {name}{more}")
        })?;
        match Amount::read(kind, amount)? {
            Amount::Numbers(numbers) => Ok(Operation::with(kind, numbers)),
            Amount::Listed { path, .. } => {
                Err(format!("enter counts the hashes that {} lists", Untrusted::from(path).visible_cut(60)))
            }
        }
    }

    /// Adds the typed operation; returns the file of hashes that has to be counted first.
    pub fn add(&mut self) -> Result<Option<PathBuf>, String> {
        if let Some((.., path)) = self.list() {
            return Ok(Some(file::typed(&path)));
        }
        self.source.items.push(self.operation()?);
        self.set(String::new());
        Ok(None)
    }

    /// Puts the number of hashes in the place of the file that lists them.
    pub fn counted(&mut self, path: &Path, count: u64) {
        let Some((operation, others, typed)) = self.list() else { return };
        if file::typed(&typed) == path {
            self.set(format!("{operation} {count} {others}").trim_end().to_owned());
        }
    }

    fn offered(&self) -> impl Iterator<Item = Kind> {
        let typed = self.text().trim();
        let mut kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| kind.name().contains(typed)).collect();
        kinds.sort_by_key(|kind| !kind.is_private());
        kinds.into_iter()
    }

    fn list(&self) -> Option<(&str, String, String)> {
        let (operation, amount) = self.words();
        match Amount::read(Kind::named(operation)?, amount).ok()? {
            Amount::Listed { path, others, .. } => Some((operation, others, path)),
            Amount::Numbers(_) => None,
        }
    }

    fn words(&self) -> (&str, &str) {
        let typed = self.text().trim();
        typed.split_once(char::is_whitespace).unwrap_or((typed, ""))
    }

    /// The typed operation, the sum and its outcome, then the parts: the outcome stays in sight.
    pub fn rows(&self, model: &Model) -> Vec<SheetRow> {
        let entitled = &model.figures.entitlements;
        let typed = self.operation();
        let mut rows = Vec::new();
        match &typed {
            Ok(operation) => {
                rows.push(priced("typed", operation, entitled));
                rows.push(row("takes", operation.kind().options_words()));
            }
            Err(missing) if self.source.items.is_empty() || !self.text().is_empty() => {
                rows.push(row("", missing.clone()));
                rows.extend(self.offered().map(|kind| row("", format!("  {}", kind.name()))));
            }
            Err(_) => {}
        }
        let mut plan = Plan::new();
        self.source.items.iter().cloned().chain(typed).for_each(|operation| plan.add(operation, entitled));
        if !plan.items().is_empty() {
            rows.extend(outcome(&plan, model));
        }
        rows.extend(self.source.items.iter().rev().map(|item| priced("planned", item, entitled)));
        rows
    }
}

/// What a plan costs in all, and what it would leave.
fn outcome(plan: &Plan, model: &Model) -> Vec<SheetRow> {
    let mut rows = vec![row("in all", plan.totals_words())];
    match model.figures.balances_now(model.now) {
        None => rows.push(row("", "What it would leave is not known: the counters have not been asked.".to_owned())),
        Some(balances) => {
            let forecast = plan.forecast(&balances, model.now);
            rows.push(row(forecast.fit.words(), forecast.words));
            rows.extend(forecast.lines.iter().map(left));
        }
    }
    rows.push(row("", String::new()));
    rows
}

impl FormSource for PlannedOperations {
    fn height(_: &Planner, _: usize) -> usize {
        usize::MAX
    }

    /// Backspace takes the last operation back where the line is empty; tab completes a name.
    fn press(form: &mut Planner, key: Key, most: usize) -> bool {
        match key {
            Key::Named(KeyName::Backspace) if form.text().is_empty() => form.source.items.pop().is_some(),
            Key::Named(KeyName::Tab) => {
                let first = form.offered().next();
                first.map(|kind| form.set(format!("{} ", kind.name()))).is_some()
            }
            _ => {
                let is_typed = form.type_key(key, most);
                form.source.top = if is_typed { 0 } else { form.source.top };
                is_typed
            }
        }
    }

    fn go(form: &mut Planner, movement: Move) {
        // Each operation takes a row or two, and so does each limit.
        let (top, most) = (form.source.top, 2 * form.source.items.len() + 20);
        form.source.top = match movement {
            Move::Up(rows) => top.saturating_sub(rows),
            Move::Down(rows) => (top + rows).min(most),
            Move::First => 0,
            Move::Last => most,
        };
    }
}

fn row(head: &str, text: String) -> SheetRow {
    SheetRow { head: head.to_owned(), text }
}

fn priced(head: &str, operation: &Operation, entitled: &Entitlements) -> SheetRow {
    let price = price(operation, entitled);
    let (name, many) = (operation.kind().name(), operation.words());
    let text = format!("{name} · {many} · {} · rule {}, {}", price.short(), price.rule.number, price.basis.name());
    row(head, text)
}

fn left(line: &ForecastLine) -> SheetRow {
    let (remaining, allowed) = (thousands(line.limit.remaining), thousands(line.limit.allowed));
    let (unit, period) = (line.unit.plural(), line.limit.period.current());
    let leaves = match line.short.min {
        0 => format!("{} left after it, of {remaining} now", line.after_words()),
        _ => format!("{}, {remaining} left now", line.fit_words()),
    };
    row(line.limit.holder.name(), format!("{unit} {period}: {leaves} ({allowed} in all)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::Service;
    use crate::app::over::OverlayScreen;
    use crate::quota::Balances;
    use jiff::Timestamp;

    fn model() -> Model {
        let mut model = Model::new(Service::default(), Timestamp::UNIX_EPOCH);
        let answer = br#"{"data":{"api_requests_daily":{"user":{"allowed":600,"used":2}}}}"#;
        model.figures.balances = Some(Balances::parse(answer).unwrap());
        model
    }

    fn typed(words: &str) -> Planner {
        Planner::new(PlannedOperations::default(), words.to_owned())
    }

    fn text(planner: &Planner) -> String {
        planner.rows(&model()).into_iter().map(|row| format!("{}|{}\n", row.head, row.text)).collect()
    }

    #[test]
    fn what_is_no_operation_is_helped_along() {
        let planner = typed("report");
        assert!(text(&planner).contains("tab takes the first of these\n|  v2-file-report\n"), "{}", text(&planner));
        let mut planner = typed("v2-file-rep");
        assert!(planner.press(Key::Named(KeyName::Tab), 100) && planner.text() == "v2-file-report ");
        let planner = typed("v3-file many");
        assert!(text(&planner).contains("many is no number"));
    }
}
