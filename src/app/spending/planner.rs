//! The planner: operations added up before any is asked, with what they would leave to the user and the group.

use crate::app::keys::KeyName;
use crate::app::keys::typing::type_into;
use crate::app::over::{OverlayScreen, Sheet, SheetRow, TYPED};
use crate::app::panes::Move;
use crate::app::{Key, Model, Place, Size};
use crate::export::file;
use crate::quota::{Amount, Entitlements, Kind, Line, Operation, Plan, price};
use crate::text::{Untrusted, thousands};
use std::path::{Path, PathBuf};

/// A plan that is being made.
#[derive(Debug)]
pub struct Planner {
    /// The typed line: an operation's name, and its amount.
    pub typed: String,
    items: Vec<Operation>,
    sheet: Sheet,
}

/// What stands above it.
const TITLE: &str = "What would it cost?";

/// A plan of nothing yet.
impl Default for Planner {
    fn default() -> Self {
        Self { typed: String::new(), items: Vec::new(), sheet: Sheet::new(TITLE, Vec::new(), 0) }
    }
}

impl Planner {
    /// Its rows as they are shown, the line that is typed into not counted.
    pub fn sheet(&self) -> &Sheet {
        &self.sheet
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
        self.items.push(self.operation()?);
        self.typed.clear();
        Ok(None)
    }

    /// Puts the number of hashes in the place of the file that lists them.
    pub fn counted(&mut self, path: &Path, count: u64) {
        let Some((operation, others, typed)) = self.list() else { return };
        if file::typed(&typed) == path {
            self.typed = format!("{operation} {count} {others}").trim_end().to_owned();
        }
    }

    /// The operations that match the typed letters, those on private files first.
    fn offered(&self) -> impl Iterator<Item = Kind> {
        let typed = self.typed.trim();
        let mut kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| kind.name().contains(typed)).collect();
        kinds.sort_by_key(|kind| !kind.is_private());
        kinds.into_iter()
    }

    /// The typed operation, its other options, and the file of hashes.
    fn list(&self) -> Option<(&str, String, String)> {
        let (operation, amount) = self.words();
        match Amount::read(Kind::named(operation)?, amount).ok()? {
            Amount::Listed { path, others, .. } => Some((operation, others, path)),
            Amount::Numbers(_) => None,
        }
    }

    /// The name of an operation, and the rest of the line.
    fn words(&self) -> (&str, &str) {
        let typed = self.typed.trim();
        typed.split_once(char::is_whitespace).unwrap_or((typed, ""))
    }

    /// Takes the last operation out of the plan.
    pub fn take_back(&mut self) {
        self.items.pop();
    }

    /// The typed operation with its price, then the sum and its outcome, then the parts, the last first: where
    /// there is little room, the outcome stays in sight.
    fn rows(&self, model: &Model) -> Vec<SheetRow> {
        let entitled = &model.figures.entitlements;
        let typed = self.operation();
        let mut rows = Vec::new();
        match &typed {
            Ok(operation) => {
                rows.push(priced("typed", operation, entitled));
                rows.push(row("takes", operation.kind().options_words()));
            }
            Err(missing) if self.items.is_empty() || !self.typed.is_empty() => {
                rows.push(row("", missing.clone()));
                rows.extend(self.offered().map(|kind| row("", format!("  {}", kind.name()))));
            }
            Err(_) => {}
        }
        let mut plan = Plan::new();
        self.items.iter().cloned().chain(typed).for_each(|operation| plan.add(operation, entitled));
        if !plan.items().is_empty() {
            rows.extend(outcome(&plan, model));
        }
        rows.extend(self.items.iter().rev().map(|item| priced("planned", item, entitled)));
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

impl OverlayScreen for Planner {
    fn place(&self) -> Place {
        Place::Form
    }

    fn go(&mut self, movement: Move, room: Size) {
        self.sheet.go(movement, below_the_line(room));
    }

    fn fit(&mut self, room: Size) {
        self.sheet.fit(below_the_line(room));
    }

    fn press(&mut self, key: Key, most: usize) -> bool {
        if key == Key::Named(KeyName::Backspace) && self.typed.is_empty() {
            self.take_back();
        }
        if key == Key::Named(KeyName::Tab) {
            let first = self.offered().next();
            return first.map(|kind| self.typed = format!("{} ", kind.name())).is_some();
        }
        let is_typed = type_into(&mut self.typed, key, most);
        if is_typed {
            self.sheet.top = 0;
        }
        is_typed
    }
}

/// The room that is left for its rows.
fn below_the_line(room: Size) -> Size {
    Size { height: room.height.saturating_sub(TYPED as u16).max(1), ..room }
}

impl Model {
    /// Recomputes the plan after keys and counters.
    pub(in crate::app) fn refresh_planner(&mut self) {
        let Some(planner) = self.over.top_as::<Planner>() else { return };
        let room = self.overlay_room();
        let newer = Sheet::of(TITLE, planner.rows(self), room.width.into());
        if let Some(planner) = self.over.top_as_mut::<Planner>() {
            planner.sheet.refresh(newer);
            planner.sheet.go(Move::Up(0), below_the_line(room));
        }
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

fn left(line: &Line) -> SheetRow {
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
    use crate::quota::Balances;
    use jiff::Timestamp;

    fn model() -> Model {
        let mut model = Model::new(Service::default(), Timestamp::UNIX_EPOCH);
        let answer = br#"{"data":{"api_requests_daily":{"user":{"allowed":600,"used":2}}}}"#;
        model.figures.balances = Some(Balances::parse(answer).unwrap());
        model
    }

    fn typed(words: &str) -> Planner {
        Planner { typed: words.to_owned(), ..Planner::default() }
    }

    fn text(planner: &Planner) -> String {
        planner.rows(&model()).into_iter().map(|row| format!("{}|{}\n", row.head, row.text)).collect()
    }

    #[test]
    fn operations_add_up_and_are_held_against_the_limits() {
        let mut planner = typed("v2-file-report 590");
        assert!(
            text(&planner).contains("typed|v2-file-report · 590 hashes · 590 requests · rule 8.2.1"),
            "{}",
            text(&planner)
        );
        assert_eq!(planner.add(), Ok(None));
        planner.typed = "v3-file 10".to_owned();
        let shown = text(&planner);
        assert!(shown.contains("too much|") && shown.contains("2 more than are left today"), "{shown}");
        planner.typed.clear();
        assert!(text(&planner).contains("fits|"), "{}", text(&planner));
        planner.take_back();
        assert!(!text(&planner).contains("planned"));
    }

    #[test]
    fn what_a_plan_of_the_command_line_takes_is_taken_here() {
        for (entry, words) in [
            ("private-behaviours --calls 3", "typed|private-behaviours · 3 calls"),
            ("v2-file-report --hashes 600", "typed|v2-file-report · 600 hashes"),
            ("v2-file-report --hashes", "--hashes takes a number"),
            (
                "v2-file-report --calls 3",
                "v2-file-report does not take --calls; it takes --hashes N, --hashes-from FILE",
            ),
            ("v2-file-submissions 4,6", "typed|v2-file-submissions · 10 submissions"),
            ("livehunt-rules 3 inactive", "typed|livehunt-rules · 3 rules · 0 · rule"),
            ("livehunt-rules 3 --active no", "typed|livehunt-rules · 3 rules · 0 · rule"),
            ("v3-file 3 times", "times is no number; v3-file does not take times; it takes --calls"),
            ("v2-file-scan 3", "v2-file-scan does not take 3; it takes --known"),
            ("v2-file-report --hashes-from a.txt", "enter counts the hashes that a.txt lists"),
        ] {
            let planner = typed(entry);
            assert!(text(&planner).contains(words), "{entry}: {}", text(&planner));
        }
    }

    #[test]
    fn a_file_of_hashes_stands_for_their_number() {
        let mut planner = typed("v2-file-report @my list.txt");
        assert!(text(&planner).contains("enter counts the hashes that my list.txt lists"), "{}", text(&planner));
        let path = planner.add().unwrap().unwrap();
        planner.counted(Path::new("another"), 3);
        planner.counted(&path, 590);
        assert!(text(&planner).contains("typed|v2-file-report · 590 hashes · 590 requests"), "{}", text(&planner));
    }

    #[test]
    fn what_is_no_operation_is_helped_along() {
        let planner = typed("report");
        assert!(text(&planner).contains("tab takes the first of these\n|  v2-file-report\n"), "{}", text(&planner));
        let mut planner = typed("v2-file-rep");
        assert!(planner.press(Key::Named(KeyName::Tab), 100) && planner.typed == "v2-file-report ");
        let planner = typed("v3-file many");
        assert!(text(&planner).contains("many is no number"));
    }
}
