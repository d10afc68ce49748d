//! The manual: topics in Markdown that is readable as plain text, and their terminal layout.

use crate::text::{table, wrap};

/// A topic of the manual.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// The name in the palette.
    pub(crate) label: &'static str,
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal)+) => {
        pub const TOPICS: &[Topic] = &[$(Topic {
            name: $name,
            label: concat!("help: ", $name),
            text: include_str!(concat!("../../assets/help/", $name, ".md")),
        }),+];
    };
}

topics! {
    "keys" "config" "pricing" "store" "team" "export" "findings" "scripts" "json" "examples" "security" "accessibility" "demo" "troubleshooting" "glossary"
}

impl Topic {
    pub(crate) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// Lays out a topic in `columns`: without comments and fences, prose wrapped, tables aligned.
pub fn lay_out(topic: &str, columns: usize) -> String {
    let mut shown = String::new();
    let mut prose = String::new();
    let mut rows = Vec::new();
    let mut is_code = false;
    let is_item = |line: &str| line.starts_with("- ") || line.get(1..3) == Some(". ");
    for line in topic.lines().chain([""]) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_indented = line.starts_with("  ") && !is_item(&prose);
        let is_fixed = is_code || is_fence || is_indented || line.is_empty() || line.starts_with(['#', '|', '<']);
        if (is_fixed || is_item(line)) && !prose.is_empty() {
            let indent = prose.find(' ').filter(|_| is_item(&prose)).map_or(0, |at| at + 1);
            let rows = wrap(&std::mem::take(&mut prose), columns.saturating_sub(indent).max(1));
            shown += &(rows.join(&format!("\n{:indent$}", "")) + "\n");
        }
        if let Some(row) = line.strip_prefix("| ").filter(|_| !is_code) {
            rows.push(row.trim_end_matches('|').split(" | ").map(|cell| cell.trim().replace("\\|", "|")).collect());
        } else if !rows.is_empty() && !line.starts_with("|-") {
            let heading: Vec<String> = rows.remove(0);
            let heading: Vec<_> = heading.iter().map(String::as_str).collect();
            shown += &table(&heading, std::mem::take(&mut rows), columns).0;
        }
        if !is_fixed {
            prose = [&prose, line.trim()].join(" ").trim_start().to_owned();
        } else if !is_fence && !line.starts_with("<!--") && !line.starts_with('|') {
            shown += &format!("{line}\n");
        }
    }
    shown.trim_end().to_owned() + "\n"
}
