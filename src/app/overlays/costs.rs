//! Who spends the quota: what calls cost this month by user, project, operation and day.

use crate::app::overlays::{ListSource, ListView};
use crate::app::{Model, Size};
use crate::quota::{CallCost, CostGrouping, CostSum};

pub type CostView = ListView<CostRows>;

/// The sums of costs, each with what it is a sum by.
#[derive(Debug)]
pub struct CostRows(Vec<(CostGrouping, CostSum)>);

impl ListSource for CostRows {
    type Row = (CostGrouping, CostSum);

    fn rows(&self) -> &[Self::Row] {
        &self.0
    }

    fn text((by, sum): &Self::Row) -> String {
        format!("{} {}", by.name(), sum.cells().join(" "))
    }

    fn beside(&self, _: Size, _: &Model) -> (usize, usize) {
        (1, 3)
    }
}

/// Shows what calls cost, unless the user is typing.
pub(crate) fn show(model: &mut Model, costs: &[CallCost]) {
    let sums = CostGrouping::ALL.into_iter().flat_map(|by| by.sum(costs).into_iter().map(move |sum| (by, sum)));
    if !model.key_context().has_line() {
        model.overlays.put(CostView::new(CostRows(sums.collect())));
    }
}
