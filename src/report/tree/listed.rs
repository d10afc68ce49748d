//! The tree of a flat list of processes, by the numbers of their parents: where a report has no tree of its own.
//!
//! Rows are in the order of the bytes. If the list is in another order than the tree, its elements
//! are reordered in a copy of the body; everything else stays where it is.

use crate::report::attributes::PROCESS_LIST;
use crate::report::body::Body;
use crate::report::index::{Form, Index};
use crate::report::json::{Kind, Raw};
use crate::text::Untrusted;
use std::collections::HashMap;
use std::ops::Range;

/// The longest list that is made a tree, and the largest body that is copied for it, in bytes.
const MOST: usize = 100_000;
const LARGEST: usize = 64 * 1024 * 1024;

/// Turns a complete report's process list into a tree, if the report has no tree. Returns the body
/// in tree order, if that differs from the order of the list.
pub(in crate::report) fn arrange(body: &Body, index: &mut Index) -> Option<Body> {
    let has_tree = index.sections.iter().any(|section| section.form == Form::Processes && !section.is_empty());
    let is_list = |name: &Untrusted| name.as_bytes() == PROCESS_LIST.as_bytes();
    let list = index.sections.iter_mut().find(|section| section.form == Form::Array && is_list(&section.name));
    let list = list.filter(|list| index.is_complete && !has_tree && list.len() <= MOST)?;
    let (first, end) = (list.start(0)?, list.end()?);
    let bytes = body.window(first as usize..end as usize);
    if bytes.len() > LARGEST {
        return None;
    }
    let starts = (0..list.len()).filter_map(|row| usize::try_from(list.start(row)?.checked_sub(first)?).ok());
    let elements: Vec<Range<usize>> =
        starts.map(|start| start..start + Raw::new(bytes.get(start..).unwrap_or_default()).bytes().len()).collect();
    let order = ordered(&parents(bytes, &elements));
    let is_in_order = order.iter().enumerate().all(|(place, (row, _))| place == *row);
    if !is_in_order && body.len() > LARGEST {
        return None;
    }
    list.form = Form::Processes;
    list.depths = order.iter().map(|(_, depth)| *depth).collect::<Vec<_>>().into();
    if is_in_order {
        return None;
    }
    let (mut written, mut places) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(order.len()));
    for (place, (row, _)) in order.iter().enumerate() {
        places.push(first.saturating_add(u32::try_from(written.len()).unwrap_or(u32::MAX)));
        let element = elements.get(*row).cloned().unwrap_or_default();
        written.extend_from_slice(bytes.get(element).unwrap_or_default());
        // What parts two elements stays between the places that they had.
        let between = elements.get(place).map_or(0, |element| element.end);
        let next = elements.get(place + 1).map_or(bytes.len(), |element| element.start);
        written.extend_from_slice(bytes.get(between..next).unwrap_or_default());
    }
    list.starts = places;
    let mut whole = body.window(0..first as usize).to_vec();
    whole.append(&mut written);
    whole.extend_from_slice(body.window(end as usize..body.len()));
    Some(Body::in_memory(whole))
}

/// The row of each process's parent: the last process before it that has the number, or else the first after it.
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
        let before = known.get(known.partition_point(|known| *known < row).checked_sub(1)?);
        before.copied()
    };
    let after = |row: usize| {
        let known = rows.get(&number(row, "parent_process_id")?)?;
        known.iter().copied().find(|known| *known > row)
    };
    (0..elements.len()).map(|row| parent(row).or_else(|| after(row))).collect()
}

/// Rows with their depths, parents before their children. A cycle starts at its first row in the
/// list.
fn ordered(parents: &[Option<usize>]) -> Vec<(usize, u16)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for (row, parent) in parents.iter().enumerate() {
        if let Some(children) = parent.and_then(|parent| children.get_mut(parent)) {
            children.push(row);
        }
    }
    let (mut order, mut seen) = (Vec::with_capacity(parents.len()), vec![false; parents.len()]);
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

#[cfg(test)]
mod tests {
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
    fn processes_without_a_parent_or_in_a_circle_are_all_there() {
        let found = tree(
            r#"[{"process_id":"1","parent_process_id":"2","name":"a"},{"process_id":"2","parent_process_id":"1","name":"b"},
            {"process_id":"5","parent_process_id":"9","name":"c"},{"process_id":"6","parent_process_id":"6","name":"d"}]"#,
        );
        let found: Vec<_> = found.iter().map(|(name, depth)| (name.as_str(), *depth)).collect();
        assert_eq!(found, [("c", 0), ("d", 0), ("a", 0), ("b", 1)]);
    }
}
