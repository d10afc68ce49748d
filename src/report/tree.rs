//! A flat tree: rows in order with a depth each, parents before their children.

use super::attributes::PROCESS_LIST;
use super::body::Body;
use super::command_line;
use super::index::{Index, SectionForm};
use super::json::{Kind, Raw};
use super::rows::{Report, RowPlace};
use crate::text::{Untrusted, last_part};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Maximum length of a process list that becomes a tree, and of the body copied for it, in bytes.
const MAX_PROCESSES: usize = 100_000;
const MAX_BODY: usize = 64 * 1024 * 1024;

/// Maximum characters of the arguments in a process's label.
const MAX_ARGUMENT_CHARS: usize = 40;

/// The depth of each row of a tree, parents before their children.
#[derive(Debug, Clone, Default)]
pub struct Depths(pub Vec<u16>);

impl Depths {
    /// Returns the depths of the rows from one on, 0 at the root.
    pub(crate) fn after(&self, row: usize) -> &[u16] {
        self.0.get(row..).unwrap_or_default()
    }

    /// Returns the depth of a row, 0 at the root.
    pub fn get(&self, row: usize) -> Option<u16> {
        self.0.get(row).copied()
    }

    pub fn has_children(&self, row: usize) -> bool {
        matches!((self.get(row), self.get(row + 1)), (Some(depth), Some(next)) if next > depth)
    }

    pub fn parent(&self, row: usize) -> Option<usize> {
        let depth = self.get(row)?;
        self.0.get(..row)?.iter().rposition(|above| *above < depth)
    }

    /// Returns the row after the last descendant of this one.
    pub fn end_of(&self, row: usize) -> usize {
        let Some(depth) = self.get(row) else { return row };
        let below = self.after(row + 1);
        row + 1 + below.iter().position(|below| *below <= depth).unwrap_or(below.len())
    }

    /// Returns a row's guide lines: whether a sibling follows, at each depth from 1 to its own.
    ///
    /// The search stops after `reach` rows, where a line is drawn as if a sibling followed.
    pub(crate) fn guides(&self, row: usize, reach: usize) -> Vec<bool> {
        guides(self.get(row).unwrap_or_default(), self.after(row + 1).iter().copied().take(reach))
    }
}

/// Returns the guides of a row of this depth, by the depths of the rows after it.
fn guides(depth: u16, later: impl Iterator<Item = u16>) -> Vec<bool> {
    let mut found = vec![false; usize::from(depth)];
    let mut open = depth;
    for depth in later {
        if open == 0 {
            break;
        }
        if depth <= open {
            open = depth.saturating_sub(1);
            if let Some(guide) = usize::from(depth).checked_sub(1).and_then(|level| found.get_mut(level)) {
                *guide = true;
            }
        }
    }
    found
}

/// Finds the parents of rows in order, and reads each row of the tree only once.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    next: usize,
    /// The last row read, below its ancestors: depth and row of each.
    open: Vec<(u16, usize)>,
}

impl Parents {
    pub(crate) fn of(&mut self, row: usize, depths: &Depths) -> Option<usize> {
        if self.next > row + 1 {
            *self = Self::default();
        }
        while self.next <= row {
            let depth = depths.get(self.next)?;
            self.open.truncate(self.open.partition_point(|(above, _)| *above < depth));
            self.open.push((depth, self.next));
            self.next += 1;
        }
        self.open.iter().nth_back(1).map(|(_, parent)| *parent)
    }
}

/// Folded and selected rows of a tree, which decide the visible rows.
///
/// Rows are identified by place, as process identifiers repeat. Changes recompute visible rows.
#[derive(Debug, Default, Clone)]
pub struct Folds {
    /// Whether rows with children are folded by default.
    is_all: bool,
    /// The exceptions from the default.
    turned: BTreeSet<u32>,
    /// The only rows that are shown, with their ancestors, in order; `None` for all.
    retained: Option<Vec<u32>>,
    /// The visible rows, in order; `None` for all.
    visible: Option<Arc<Vec<u32>>>,
}

impl Folds {
    /// Folds these rows; `Folds::refresh` hides their children once the tree is known.
    pub fn of(rows: &[u32]) -> Self {
        Self { turned: rows.iter().copied().collect(), ..Self::default() }
    }

    pub fn folded(&self, depths: &Depths) -> Vec<u32> {
        if !self.is_all {
            return self.turned.iter().copied().collect();
        }
        let folded = (0..depths.0.len()).filter(|row| depths.has_children(*row) && self.is_folded(*row));
        folded.filter_map(|row| u32::try_from(row).ok()).collect()
    }

    /// Returns how many rows of a tree with these depths are visible.
    pub fn len(&self, depths: &Depths) -> usize {
        self.visible.as_ref().map_or_else(|| depths.0.len(), |visible| visible.len())
    }

    /// Returns the row at a visible position.
    pub fn row(&self, position: usize) -> usize {
        let found = self.visible.as_ref().and_then(|visible| visible.get(position));
        found.map_or(position, |row| *row as usize)
    }

    /// Returns the visible position of a row, or of the nearest visible one before it.
    pub fn position(&self, row: usize) -> usize {
        let before = |visible: &Arc<Vec<u32>>| visible.partition_point(|visible| *visible as usize <= row);
        self.visible.as_ref().map_or(row, |visible| before(visible).saturating_sub(1))
    }

    /// Returns whether a row's children are hidden, if it has any.
    pub fn is_folded(&self, row: usize) -> bool {
        let is_turned = !self.turned.is_empty() && u32::try_from(row).is_ok_and(|row| self.turned.contains(&row));
        is_turned != self.is_all
    }

    /// Folds a row, or unfolds it.
    pub fn fold(&mut self, row: usize, fold: bool, depths: &Depths) {
        self.turn(row, fold, depths);
        self.refresh(depths);
    }

    fn turn(&mut self, row: usize, fold: bool, depths: &Depths) {
        if self.is_folded(row) == fold || !self.has_children(row, depths) {
            return;
        }
        let Ok(row) = u32::try_from(row) else { return };
        if !self.turned.remove(&row) {
            self.turned.insert(row);
        }
    }

    /// Shows a row: unfolds every folded row above it.
    pub fn reveal(&mut self, row: usize, depths: &Depths) {
        let mut above = depths.parent(row);
        while let Some(parent) = above.filter(|_| self.any()) {
            self.turn(parent, false, depths);
            above = depths.parent(parent);
        }
        self.refresh(depths);
    }

    /// Folds every row that has children, or none.
    pub fn fold_all(&mut self, fold: bool, depths: &Depths) {
        self.is_all = fold;
        self.turned.clear();
        self.refresh(depths);
    }

    /// Returns whether any row is folded.
    pub fn any(&self) -> bool {
        self.is_all || !self.turned.is_empty()
    }

    /// Shows only these rows, given in order, and their ancestors; `None` shows all.
    pub fn retain(&mut self, rows: Option<&[u32]>, depths: &Depths) {
        self.retained = rows.map(|rows| with_ancestors(rows, depths));
        self.refresh(depths);
    }

    /// Returns whether the row has selected children; folded ones count.
    pub fn has_children(&self, row: usize, depths: &Depths) -> bool {
        let Some(retained) = &self.retained else { return depths.has_children(row) };
        let after = retained.partition_point(|retained| *retained as usize <= row);
        let next = retained.get(after).and_then(|next| depths.get(*next as usize));
        matches!((depths.get(row), next), (Some(depth), Some(next)) if next > depth)
    }

    /// Returns what `Depths::guides` does, among the visible rows.
    pub fn guides(&self, row: usize, depths: &Depths, reach: usize) -> Vec<bool> {
        let Some((visible, depth)) = self.visible.as_ref().zip(depths.get(row)) else {
            return depths.guides(row, reach);
        };
        let later = visible.iter().skip(self.position(row).saturating_add(1)).take(reach);
        guides(depth, later.filter_map(|row| depths.get(*row as usize)))
    }

    /// Recomputes the visible rows after rows were added.
    pub(crate) fn refresh(&mut self, depths: &Depths) {
        self.visible = (self.any() || self.retained.is_some()).then(|| match &self.retained {
            Some(retained) => self.unhidden(retained.iter().copied(), depths),
            None => self.unhidden((0..).take(depths.0.len()), depths),
        });
    }

    /// Returns the rows that are not below a folded row.
    fn unhidden(&self, rows: impl Iterator<Item = u32>, depths: &Depths) -> Arc<Vec<u32>> {
        let mut visible = Vec::new();
        let mut folded = None;
        for row in rows {
            let depth = depths.get(row as usize).unwrap_or_default();
            if folded.is_some_and(|folded| depth > folded) {
                continue;
            }
            visible.push(row);
            folded = self.is_folded(row as usize).then_some(depth);
        }
        Arc::new(visible)
    }
}

/// Returns rows in order, with their ancestors.
fn with_ancestors(rows: &[u32], depths: &Depths) -> Vec<u32> {
    let end = rows.last().map_or(0, |last| *last as usize + 1);
    let mut found = Vec::new();
    let mut above: Vec<u32> = Vec::new();
    let mut wanted = rows.iter().copied().peekable();
    for (row, depth) in (0_u32..).zip(depths.0.iter().take(end)) {
        above.truncate(above.partition_point(|up| depths.get(*up as usize).is_some_and(|up| up < *depth)));
        above.push(row);
        if wanted.next_if_eq(&row).is_some() {
            let known = found.last().copied();
            found.extend(above.iter().copied().filter(|up| known.is_none_or(|known| *up > known)));
        }
    }
    found
}

/// Turns a complete report's process list into a tree by parent numbers, if it has no tree.
///
/// Returns a copy of the body in tree order if the list's differs: rows are in the bytes' order.
pub(super) fn arrange(body: &Body, index: &mut Index) -> Option<Body> {
    let has_tree = index.sections.iter().any(|section| section.form == SectionForm::Processes && !section.is_empty());
    let is_list = |name: &Untrusted| name.as_bytes() == PROCESS_LIST.as_bytes();
    let list = index.sections.iter_mut().find(|section| section.form == SectionForm::Array && is_list(&section.name));
    let list =
        list.filter(|list| index.is_complete && !has_tree && list.len() <= MAX_PROCESSES && body.len() <= MAX_BODY)?;
    let first = list.start(0)?;
    let end = list.end()?;
    let bytes = body.window(first as usize..end as usize);
    let starts = (0..list.len()).filter_map(|row| usize::try_from(list.start(row)?.checked_sub(first)?).ok());
    let elements: Vec<Range<usize>> =
        starts.map(|start| start..start + Raw::new(bytes.get(start..).unwrap_or_default()).bytes().len()).collect();
    let order = ordered(&parents(bytes, &elements));
    let is_in_order = order.iter().enumerate().all(|(place, (row, _))| place == *row);
    list.form = SectionForm::Processes;
    list.depths = Depths(order.iter().map(|(_, depth)| *depth).collect());
    if is_in_order {
        return None;
    }
    let mut written = Vec::with_capacity(bytes.len());
    let mut places = Vec::with_capacity(order.len());
    for (row, _) in &order {
        written.extend_from_slice(if written.is_empty() { b"" } else { b"," });
        places.push(first.saturating_add(u32::try_from(written.len()).unwrap_or(u32::MAX)));
        let element = elements.get(*row).cloned().unwrap_or_default();
        written.extend_from_slice(bytes.get(element).unwrap_or_default());
    }
    // The separators were not shorter; the bytes after the last element keep their offset.
    let last = elements.last().map_or(0, |last| last.end);
    written.resize(last, b' ');
    written.extend_from_slice(bytes.get(last..).unwrap_or_default());
    list.starts = places;
    let mut whole = body.window(0..first as usize).to_vec();
    whole.append(&mut written);
    whole.extend_from_slice(body.window(end as usize..body.len()));
    Some(Body::in_memory(whole))
}

/// Returns each process's parent row: the last with its number before it, or the first after it.
fn parents(bytes: &[u8], elements: &[Range<usize>]) -> Vec<Option<usize>> {
    let number = |row: usize, name: &str| {
        let raw = Raw::new(elements.get(row).and_then(|element| bytes.get(element.clone())).unwrap_or_default());
        let value = raw.member(name).filter(|_| raw.kind() == Kind::Object)?;
        Some(value.text()).filter(|text| !text.is_empty() && value.bytes() != b"null")
    };
    let mut rows: HashMap<Untrusted, Vec<usize>> = HashMap::new();
    for row in 0..elements.len() {
        if let Some(id) = number(row, "process_id") {
            rows.entry(id).or_default().push(row);
        }
    }
    let parent = |row: usize| {
        let known = rows.get(&number(row, "parent_process_id")?)?;
        let (before, after) = known.split_at_checked(known.partition_point(|known| *known < row))?;
        before.last().or_else(|| after.iter().find(|known| **known > row)).copied()
    };
    (0..elements.len()).map(parent).collect()
}

/// Orders rows, with depths, parents before children; a cycle starts at its first row.
fn ordered(parents: &[Option<usize>]) -> Vec<(usize, u16)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for (row, parent) in parents.iter().enumerate() {
        if let Some(children) = parent.and_then(|parent| children.get_mut(parent)) {
            children.push(row);
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    let mut seen = vec![false; parents.len()];
    let roots = parents.iter().enumerate().filter(|(_, parent)| parent.is_none()).map(|(row, _)| row);
    for start in roots.chain(0..parents.len()) {
        let mut open = vec![(start, 0_u16)];
        while let Some((row, depth)) = open.pop() {
            let Some(seen) = seen.get_mut(row).filter(|seen| !**seen) else { continue };
            *seen = true;
            order.push((row, depth));
            let below = children.get(row).into_iter().flatten().rev();
            open.extend(below.map(|child| (*child, depth.saturating_add(1))));
        }
    }
    order
}

/// A process and its start, by the sandbox's offset from the start of the analysis.
#[derive(Debug)]
pub(crate) struct ProcessStart {
    pub(crate) place: RowPlace,
    pub(crate) offset: f64,
    pub(crate) name: Untrusted,
    pub(crate) depth: u16,
}

impl Report {
    /// Returns the processes with a known start among the first `most`, in tree order.
    pub(crate) fn starts(&self, most: usize) -> Vec<ProcessStart> {
        let Some((section, tree)) = self.tree() else { return Vec::new() };
        let start = |row: usize| {
            let place = RowPlace { section, row };
            let record = self.record(place);
            let member = |name| Raw::new(&record.value).member(name).map(Raw::text);
            let offset = std::str::from_utf8(member("time_offset")?.as_bytes()).ok()?.parse::<f64>().ok()?;
            let name = process_label(&member("name")?, member("process_id").as_ref());
            let is_sane = offset.is_finite() && offset >= 0.0;
            is_sane.then(|| ProcessStart { place, offset, name, depth: tree.depths().get(row).unwrap_or(0) })
        };
        (0..tree.len().min(most)).filter_map(start).collect()
    }
}

/// Returns the program without folder, arguments as far as they fit, the process number.
fn process_label(name: &Untrusted, number: Option<&Untrusted>) -> Untrusted {
    let (program, arguments) = command_line::split(name.as_bytes());
    let program = Some(last_part(program)).filter(|last| !last.is_empty()).unwrap_or(name.as_bytes());
    let part = |before: &str, text: &str| if text.is_empty() { String::new() } else { format!("{before}{text}") };
    let arguments = String::from_utf8_lossy(arguments);
    let shown: String = arguments.chars().take(MAX_ARGUMENT_CHARS).collect();
    let more = if shown.len() < arguments.len() { "…" } else { "" };
    let number = number.map(|number| [b"  ", number.as_bytes()].concat()).unwrap_or_default();
    Untrusted::from([program, part(" ", &shown).as_bytes(), more.as_bytes(), &number].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_subtree_ends_where_the_next_row_is_no_deeper(
            depths in prop::collection::vec(prop_oneof![1 => Just(0_u16), 200 => 1_u16..6], 1..600),
        ) {
            let tree = Depths(depths.clone());
            let mut parents = Parents::default();
            for row in 0..depths.len() {
                let naive = (row + 1..depths.len()).find(|below| depths[*below] <= depths[row]);
                prop_assert_eq!(tree.end_of(row), naive.unwrap_or(depths.len()));
                let parent = (0..row).rev().find(|above| depths[*above] < depths[row]);
                prop_assert_eq!(tree.parent(row), parent);
                prop_assert_eq!(parents.of(row, &tree), parent);
            }
        }
    }
}

#[cfg(test)]
mod fold_tests {
    use super::*;
    use proptest::prelude::*;

    fn visible(folds: &Folds, depths: &Depths) -> Vec<usize> {
        (0..folds.len(depths)).map(|n| folds.row(n)).collect()
    }

    #[derive(Debug, Clone)]
    enum Step {
        Fold(usize),
        Unfold(usize),
        Reveal(usize),
        FoldAll(bool),
        Keep(Option<Vec<u32>>),
    }

    fn step() -> impl Strategy<Value = Step> {
        let rows = prop::collection::btree_set(0_u32..60, 0..20).prop_map(|rows| rows.into_iter().collect());
        prop_oneof![
            6 => (0_usize..60).prop_map(Step::Fold),
            4 => (0_usize..60).prop_map(Step::Unfold),
            1 => (0_usize..60).prop_map(Step::Reveal),
            1 => any::<bool>().prop_map(Step::FoldAll),
            1 => prop::option::of(rows).prop_map(Step::Keep),
        ]
    }

    /// Returns rows without a folded ancestor and, if only some are selected, at or above one.
    fn naive(folds: &Folds, retained: Option<&[u32]>, depths: &Depths) -> Vec<usize> {
        let above = |row: usize| std::iter::successors(Some(row), |row| depths.parent(*row));
        let is_kept = |row: usize| {
            let below = |below: &u32| (*below as usize) < depths.0.len() && above(*below as usize).any(|up| up == row);
            retained.is_none_or(|retained| retained.iter().any(below))
        };
        let is_open = |row: usize| above(row).skip(1).all(|up| !folds.is_folded(up));
        (0..depths.0.len()).filter(|row| is_kept(*row) && is_open(*row)).collect()
    }

    proptest! {
        #[test]
        fn visible_rows_agree_with_checking_all_ancestors(
            depths in prop::collection::vec(0_u16..6, 1..60),
            steps in prop::collection::vec(step(), 1..20),
        ) {
            let depths = Depths(depths);
            let mut folds = Folds::default();
            let mut retained = None;
            for step in steps {
                match step {
                    Step::Fold(row) => folds.fold(row, true, &depths),
                    Step::Unfold(row) => folds.fold(row, false, &depths),
                    Step::Reveal(row) => folds.reveal(row, &depths),
                    Step::FoldAll(fold) => folds.fold_all(fold, &depths),
                    Step::Keep(rows) => {
                        folds.retain(rows.as_deref(), &depths);
                        retained = rows;
                    }
                }
                let naive = naive(&folds, retained.as_deref(), &depths);
                prop_assert_eq!(visible(&folds, &depths), naive.clone());
                let mut restored = Folds::of(&folds.folded(&depths));
                restored.retain(retained.as_deref(), &depths);
                prop_assert_eq!(visible(&restored, &depths), naive.clone());
                for (position, row) in naive.iter().enumerate() {
                    prop_assert_eq!(folds.position(*row), position);
                    let depth = depths.get(*row).unwrap();
                    let later = naive.get(position + 1..).unwrap_or_default();
                    let at = |level| later.iter().map(|row| depths.get(*row).unwrap()).find(|below| *below <= level);
                    let guides: Vec<bool> = (1..=depth).map(|level| at(level) == Some(level)).collect();
                    prop_assert_eq!(folds.guides(*row, &depths, 100), guides);
                }
            }
        }
    }
}

#[cfg(test)]
mod list_tests {
    use super::*;
    use crate::report::{Pane, Report};

    fn tree(list: &str) -> Vec<(String, u16)> {
        let body =
            Body::in_memory(format!(r#"{{"tags":["a"],"processes_list":{list},"mutexes_created":["m"]}}"#).into());
        let report = Report::new(body.clone(), Index::of(&body));
        assert_eq!(report.row(report.sections(Pane::Services)[0], 0).text(), b"m");
        let (section, found) = report.tree().unwrap();
        let depth = |row| found.depths().get(row).unwrap();
        (0..found.len())
            .map(|row| (report.row(section, row).name().unwrap().visible().to_string(), depth(row)))
            .collect()
    }

    #[test]
    fn orphan_and_cyclic_processes_are_all_listed() {
        let found = tree(
            r#"[{"process_id":"1","parent_process_id":"2","name":"a"},{"process_id":"2","parent_process_id":"1","name":"b"},
            {"process_id":"5","parent_process_id":"9","name":"c"},{"process_id":"6","parent_process_id":"6","name":"d"}]"#,
        );
        let found: Vec<_> = found.iter().map(|(name, depth)| (name.as_str(), *depth)).collect();
        assert_eq!(found, [("c", 0), ("d", 0), ("a", 0), ("b", 1)]);
    }
}
