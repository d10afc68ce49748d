//! What one report brought, and what a sandbox usually brings.

use crate::report::{Pane, Report};
use crate::text::{Untrusted, count};

/// Numbers of rows in one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportFigures {
    pub processes: u32,
    pub network: u32,
    pub has_capture: bool,
    /// Rows that the rules mark, without noise; `None` until it is opened.
    pub findings: Option<u32>,
}

impl ReportFigures {
    pub fn of(report: &Report) -> Self {
        let number = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
        Self {
            processes: number(report.tree().map_or(0, |(_, tree)| tree.len())),
            network: number(report.count(Pane::Network)),
            has_capture: report.values("has_pcap").any(|value| value.as_bytes() == b"true"),
            findings: None,
        }
    }
}

/// What a sandbox usually brings: the medians of its stored reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxYield {
    pub sandbox: Untrusted,
    /// The number of its stored reports.
    pub reports: usize,
    pub usual: ReportFigures,
}

impl SandboxYield {
    pub fn of(sandbox: Untrusted, all: &[ReportFigures]) -> Self {
        let median = |figure: fn(&ReportFigures) -> Option<u32>| {
            let mut found: Vec<_> = all.iter().filter_map(figure).collect();
            found.sort();
            found.get(found.len() / 2).copied()
        };
        let usual = ReportFigures {
            processes: median(|figures| Some(figures.processes)).unwrap_or(0),
            network: median(|figures| Some(figures.network)).unwrap_or(0),
            has_capture: median(|figures| Some(figures.has_capture.into())) > Some(0),
            findings: median(|figures| figures.findings),
        };
        Self { sandbox, reports: all.len(), usual }
    }

    /// Ranks it among sandboxes to open: findings first, then data that few sandboxes have.
    pub fn rank(&self) -> (Option<u32>, bool, u32, u32) {
        let ReportFigures { processes, network, has_capture, findings } = self.usual;
        (findings, has_capture, network, processes)
    }

    /// Describes them: `usually tree, network, 12 findings`.
    pub fn label(&self) -> String {
        let ReportFigures { processes, network, has_capture, findings } = self.usual;
        let kinds = [("tree", processes > 0), ("network", network > 0), ("capture", has_capture)];
        let mut parts: Vec<_> =
            kinds.iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| (*kind).to_owned()).collect();
        parts.extend(
            findings.map(|found| if found == 0 { "no finding".to_owned() } else { count(found.into(), "finding") }),
        );
        if parts.is_empty() { "usually nothing".to_owned() } else { format!("usually {}", parts.join(", ")) }
    }
}
