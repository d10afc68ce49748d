//! What this run, this machine and the group have spent; counts calls in the group's budgets, and
//! permits what the team's rules forbid.

use super::{Gateway, GatewayError, OnProgress};
use crate::quota::{Balances, CallCost, GroupBudget, Holder, Period, SpentUnits, TeamOverride};
use crate::request::Quote;
use crate::store::{RecordedCall, StoreError};
use crate::team::{TeamError, UnreachablePolicy};
use jiff::{SignedDuration, Timestamp};

/// How far back a reading of the counters shows the pace of late.
const LATELY: SignedDuration = SignedDuration::from_hours(7 * 24);

impl Gateway {
    /// Returns what this run has spent so far.
    pub fn spent(&self) -> Result<SpentUnits, StoreError> {
        Ok(self.store.spent(&self.session)?.into_values().sum())
    }

    /// Returns what all runs with this service and key have spent in the current period (UTC).
    pub fn spent_in(&self, period: Period) -> Result<SpentUnits, StoreError> {
        Ok(self.store.spent_in(self.payer(), period, self.now())?.into_values().sum())
    }

    /// Returns the limit of requests a minute, and how many of them are used.
    pub fn minute_limit(&self) -> Result<Option<(u64, u64)>, StoreError> {
        self.store.minute_limit(self.payer(), self.per_minute, self.now())
    }

    /// Counts a call in the group's budgets; it counts until [`Self::share`] shares its cost.
    pub(super) async fn count_in_budgets(
        &self,
        quote: &Quote,
        call: &RecordedCall,
        progress: OnProgress<'_>,
    ) -> Result<(), GatewayError> {
        let Some(team) = self.team.as_ref().filter(|_| !quote.price().is_free()) else { return Ok(()) };
        let machine = self.store.machine(&self.session).map_err(GatewayError::Ledger)?;
        let is_incident = self.is_incident();
        let worst = quote.price().verdict.units.max;
        match team.reserve(&self.service, (&machine, call.entry), worst, is_incident).await {
            Ok(budgets) => {
                let exceeded = |budget: &GroupBudget| budget.exceeded(quote.price().verdict.unit, worst, is_incident);
                budgets.iter().find_map(exceeded).map_or(Ok(()), |over| Err(GatewayError::OverBudget(over)))
            }
            Err(why) => self.go_on_without(team, why, progress),
        }
    }

    /// Returns what calls cost since a moment: the team's that its role may see, or this machine's.
    pub async fn costs(&self, since: Timestamp) -> Result<Vec<CallCost>, GatewayError> {
        if let Some(team) = &self.team {
            return team.costs(&self.service, since).await.map_err(GatewayError::Team);
        }
        let projects = self.store.projects()?;
        let project = |session| projects.get(session).map_or("", String::as_str);
        let mut entries = self.store.entries(self.payer())?;
        entries.retain(|entry| entry.at >= since);
        Ok(entries.iter().map(|entry| CallCost::of_entry(entry, project(&entry.session))).collect())
    }

    /// Adds what this machine knows: the limit per minute, and earlier readings of the counters.
    pub fn completed(&self, balances: Balances) -> Result<Balances, StoreError> {
        let mut balances = balances.with_minute_limit(self.minute_limit()?);
        let now = self.now();
        let since = now.checked_sub(LATELY).unwrap_or(now).max(Period::Monthly.began(now));
        for holder in Holder::ALL {
            let earlier = self.store.earlier_use(self.payer(), holder, since)?;
            balances.earlier.extend(earlier.map(|(at, used)| (holder, at, used)));
        }
        Ok(balances)
    }

    /// Returns the group's budgets; none without a team store that responds.
    pub async fn group_budgets(&self) -> Vec<GroupBudget> {
        let Some(team) = &self.team else { return Vec::new() };
        team.budgets(&self.service).await.unwrap_or_default()
    }

    pub fn is_incident(&self) -> bool {
        self.state().is_incident
    }

    /// Permits what the team's rules forbid.
    pub fn permit(&self, what: TeamOverride) {
        match what {
            TeamOverride::Incident => self.state().is_incident = true,
            TeamOverride::Unreachable => self.team.iter().for_each(|team| team.go_on()),
        }
    }

    /// Returns what the user may permit, so that a call that failed is sent.
    pub fn override_of(&self, error: &GatewayError) -> Option<TeamOverride> {
        let asks = || self.team.as_ref().is_some_and(|team| team.unreachable == UnreachablePolicy::Ask);
        match error {
            GatewayError::OverBudget(over) if over.reserve > 0 => Some(TeamOverride::Incident),
            GatewayError::Team(why) if !matches!(why, TeamError::Damaged | TeamError::Unusable(_)) && asks() => {
                Some(TeamOverride::Unreachable)
            }
            _ => None,
        }
    }
}
