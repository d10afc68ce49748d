//! Usage per day and endpoint, parsed leniently from a response.

use super::SetAside;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A response to the usage details call. Endpoint names are untrusted strings: escape them before
/// showing them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Calls per endpoint, for each day with any.
    pub daily: BTreeMap<Date, BTreeMap<String, u64>>,
    /// Calls per endpoint over all days, as the service sums them.
    pub total: BTreeMap<String, u64>,
    /// The parts that could not be parsed.
    pub set_aside: Vec<SetAside>,
}

impl Usage {
    /// Parses the body of `GET /users/{id}/api_usage`.
    pub fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Self::read(&serde_json::from_slice(body)?))
    }

    /// Reads a response that is parsed as JSON already.
    pub fn read(answer: &Value) -> Self {
        let mut usage = Self::default();
        let data = answer.get("data").unwrap_or(&Value::Null);
        let days = usage.object("daily", data.get("daily"));
        for (day, endpoints) in days.into_iter().flatten() {
            usage.add_day(day, endpoints);
        }
        if let Some(total) = usage.object("total", data.get("total")) {
            usage.total = usage.counts("total", total);
        }
        usage
    }

    fn add_day(&mut self, day: &str, endpoints: &Value) {
        let Ok(date) = day.parse::<Date>() else {
            return self.set_aside.push(SetAside::new(day, "not a date"));
        };
        if let Some(endpoints) = self.object(day, Some(endpoints)) {
            let counts = self.counts(day, endpoints);
            self.daily.insert(date, counts);
        }
    }

    fn object<'a>(&mut self, name: &str, value: Option<&'a Value>) -> Option<&'a Map<String, Value>> {
        let object = value.and_then(Value::as_object);
        if object.is_none() {
            self.set_aside.push(SetAside::new(name, "not an object"));
        }
        object
    }

    fn counts(&mut self, place: &str, endpoints: &Map<String, Value>) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (endpoint, count) in endpoints {
            match count.as_u64() {
                Some(count) => drop(counts.insert(endpoint.clone(), count)),
                None => {
                    let name = format!("{place}/{endpoint}");
                    self.set_aside.push(SetAside::new(name, "not a whole number"));
                }
            }
        }
        counts
    }

    /// Merges two responses, for ranges that one call cannot return. `other` wins for a day in
    /// both.
    pub fn plus(mut self, other: Self) -> Self {
        self.daily.extend(other.daily);
        for (endpoint, count) in other.total {
            let sum = self.total.entry(endpoint).or_default();
            *sum = sum.saturating_add(count);
        }
        self.set_aside.extend(other.set_aside);
        self
    }

    /// Endpoints whose total from the service differs from the sum of their days: endpoint, total,
    /// sum.
    pub fn disagreements(&self) -> Vec<(&str, u64, u64)> {
        let sums = self.by_endpoint();
        let named: BTreeSet<_> = sums.keys().copied().chain(self.total.keys().map(String::as_str)).collect();
        let of =
            |endpoint: &str| (self.total.get(endpoint).copied().unwrap_or(0), sums.get(endpoint).copied().unwrap_or(0));
        let pairs = named.into_iter().map(|endpoint| (endpoint, of(endpoint)));
        pairs.filter(|(_, (total, sum))| total != sum).map(|(endpoint, (total, sum))| (endpoint, total, sum)).collect()
    }

    /// All calls of a day; zero for a missing day.
    pub fn on(&self, day: Date) -> u64 {
        self.daily.get(&day).map_or(0, sum)
    }

    /// All calls of each day, oldest first.
    pub fn by_day(&self) -> impl Iterator<Item = (Date, u64)> + '_ {
        self.daily.iter().map(|(day, endpoints)| (*day, sum(endpoints)))
    }

    /// Calls per endpoint summed over the days; may differ from `total`.
    pub fn by_endpoint(&self) -> BTreeMap<&str, u64> {
        let mut endpoints = BTreeMap::new();
        for (endpoint, count) in self.daily.values().flatten() {
            let sum: &mut u64 = endpoints.entry(endpoint.as_str()).or_default();
            *sum = sum.saturating_add(*count);
        }
        endpoints
    }
}

fn sum(endpoints: &BTreeMap<String, u64>) -> u64 {
    endpoints.values().fold(0, |sum, count| sum.saturating_add(*count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use serde_json::json;

    #[test]
    fn odd_entries_are_set_aside_by_name_and_the_rest_is_read() {
        let usage = Usage::read(&json!({"data": {
            "daily": {
                "yesterday": {"files": 1},
                "2026-11-18": 7,
                "2026-11-19": {"files": 3, "urls": "many", "graphs": -1},
            },
            "total": null,
        }}));
        assert_eq!(usage.on(date(2026, 11, 19)), 3);
        let names: Vec<_> = usage.set_aside.iter().map(|aside| aside.name.as_str()).collect();
        assert_eq!(names, ["2026-11-18", "2026-11-19/graphs", "2026-11-19/urls", "yesterday", "total"]);
    }

    #[test]
    fn two_answers_are_one_and_disagreements_are_named() {
        let half = |day: &str, files: u64, total: u64| {
            let daily = json!({day: {"files": files}});
            Usage::read(&json!({"data": {"daily": daily, "total": {"files": total, "urls": 0}}}))
        };
        let whole = half("2026-11-18", 3, 3).plus(half("2026-11-19", 4, 4));
        assert_eq!((whole.daily.len(), whole.total["files"]), (2, 7));
        assert!(whole.disagreements().is_empty());
        let odd = half("2026-11-18", 3, 3).plus(half("2026-11-19", 4, 5));
        assert_eq!(odd.disagreements(), [("files", 8, 7)]);
    }

    #[test]
    fn sums_saturate() {
        let usage = Usage::read(&json!({"data": {"total": {}, "daily": {
            "2026-11-18": {"a": 2},
            "2026-11-19": {"a": u64::MAX, "b": 1},
        }}}));
        assert_eq!(usage.on(date(2026, 11, 19)), u64::MAX);
        assert_eq!(usage.by_endpoint()["a"], u64::MAX);
    }
}
