use super::*;
use proptest::prelude::*;

/// Noon of a day in the middle of a month.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_794_484_800 + seconds).unwrap()
}

fn look(second: i64, after: i64, used: u64) -> QuotaSnapshot {
    let reading = |period| CounterReading { unit: Unit::Request, period, holder: Holder::User, used, allowed: 500 };
    let readings = [Period::Hourly, Period::Daily, Period::Monthly].map(reading).to_vec();
    QuotaSnapshot { sent: at(second), received: at(second + 1), account: "me".to_owned(), after, readings }
}

fn call(number: i64, second: i64, charge: Units) -> AuditedCall {
    let account = Some("me".to_owned());
    AuditedCall { number, from: at(second), until: at(second + 1), account, charge, max_charge: 1 }
}

const ONE: Units = Units::exactly(1);
const PERHAPS: Units = Units { min: 0, max: Some(1) };
const OPEN: Units = Units { min: 0, max: None };

/// What is found after a first window that shows that the counter counts our calls.
fn found(looks: &[QuotaSnapshot], calls: &[AuditedCall]) -> Vec<Finding> {
    let mut proof = look(-2_000, -1, 0);
    let mut all = vec![proof.clone()];
    (proof.sent, proof.received, proof.after) = (at(-1_000), at(-999), 0);
    proof.readings.iter_mut().for_each(|reading| reading.used = 1);
    all.push(proof);
    let calls: Vec<_> = [call(0, -1_900, ONE)].into_iter().chain(calls.iter().cloned()).collect();
    all.extend(looks.iter().cloned());
    let found = windows(&all, &calls);
    assert_eq!(found[0].finding(), Finding::Confirmed);
    found.iter().filter(|window| window.since >= at(0)).map(Window::finding).collect()
}

#[test]
fn never_rising_counter_is_unclear() {
    let windows = windows(&[look(0, 0, 7), look(1_000, 1, 7)], &[call(1, 10, PERHAPS)]);
    assert_eq!(windows[0].finding(), Finding::Unclear);
}

#[test]
fn counter_rise_determines_the_finding() {
    for (charges, rose, finding) in [
        (&[ONE, ONE][..], 2, Finding::Confirmed),
        (&[ONE, PERHAPS], 1, Finding::Free),
        (&[ONE, PERHAPS], 2, Finding::Charged(None)),
        (&[ONE, PERHAPS], 3, Finding::Unclear),
        (&[ONE, PERHAPS], 0, Finding::Contradicted),
        (&[PERHAPS, PERHAPS], 1, Finding::Unclear),
        (&[PERHAPS, PERHAPS], 0, Finding::Free),
        (&[ONE, OPEN], 6, Finding::Charged(Some(5))),
        (&[PERHAPS, OPEN], 6, Finding::Unclear),
        (&[OPEN, OPEN], 6, Finding::Unclear),
        (&[PERHAPS, OPEN], 0, Finding::Free),
        (&[ONE], 3, Finding::Unclear),
        (&[ONE], 0, Finding::Contradicted),
        (&[], 0, Finding::Confirmed),
    ] {
        let calls: Vec<_> = (1..).zip(charges).map(|(n, charge)| call(n, 10 * n, *charge)).collect();
        let looks = [look(0, 0, 7), look(1_000, 9, 7 + rose)];
        assert_eq!(found(&looks, &calls), [finding], "{charges:?} {rose}");
    }
}

#[test]
fn early_snapshot_can_only_confirm() {
    let soon = |rose: u64, charge| found(&[look(0, 0, 7), look(20, 9, 7 + rose)], &[call(1, 10, charge)]);
    assert_eq!(soon(1, ONE), [Finding::Confirmed]);
    assert_eq!(soon(0, ONE), [Finding::Unclear]);
    assert_eq!(soon(0, PERHAPS), [Finding::Unclear]);
    assert_eq!(soon(1, PERHAPS), [Finding::Unclear]);
}

#[test]
fn late_window_reaches_back_over_early_snapshots() {
    let calls = [call(1, 10, ONE), call(2, 30, PERHAPS), call(3, 50, PERHAPS)];
    let looks = [look(0, 0, 0), look(20, 1, 1), look(40, 2, 1), look(60, 3, 2), look(1_000, 3, 2)];
    let verdicts = |windows: Vec<Window>| windows.iter().map(Window::finding).collect::<Vec<_>>();
    let soon = [Finding::Confirmed, Finding::Unclear, Finding::Unclear, Finding::Confirmed];
    assert_eq!(verdicts(windows(&looks, &calls)), soon);
    // From the last look back to the first: nothing, the third call, it and the second, all.
    let late = [Finding::Confirmed, Finding::Charged(None), Finding::Unclear, Finding::Unclear];
    assert_eq!(verdicts(final_windows(&looks, &calls)), late);
}

#[test]
fn comparison_extends_while_the_counter_lags() {
    let calls = [call(1, 10, ONE), call(2, 30, PERHAPS)];
    let words = |used: [u64; 4], last: i64| {
        let looks = [(0, 0), (20, 1), (1_000, 2), (2_000, 2)].into_iter().zip(used);
        let looks: Vec<_> = looks.map(|((second, after), used)| look(second, after, used)).collect();
        let whole = around(&windows(&looks, &calls), at(10), at(last))?;
        Some(format!("{} {}", whole.until.as_second() - at(0).as_second(), whole.label()))
    };
    for (used, last, wanted) in [
        ([7, 8, 8, 8], 10, "20 the counter rose by 1, as predicted"),
        ([7, 7, 7, 8], 30, "2000 the counter rose by 1"),
        (
            [7, 9, 9, 9],
            10,
            "20 the counter rose by 2, this program accounts for 1: others use the same key, an outcome is not known, or the counter lags",
        ),
    ] {
        assert_eq!(words(used, last).as_deref(), Some(wanted));
    }
    assert_eq!(around(&[], at(10), at(10)), None);
    let evidence = |used| {
        let looks = [look(0, 0, 7), look(20, 1, 7), look(1_000, 1, used)];
        evidence(&looks, &calls[..1]).remove(&1).unwrap()
    };
    assert_eq!(evidence(8), "the counter rose by 1, as predicted");
    assert!(evidence(7).starts_with("the counter did not rise, this program accounts for 1: others use"));
}

#[test]
fn doubtful_readings_make_no_window() {
    let looks = [look(0, 0, 7), look(1_000, 1, 7)];
    let calls = [call(1, 10, PERHAPS)];
    assert_eq!(found(&looks, &calls), [Finding::Free]);
    let other = |change: fn(&mut [QuotaSnapshot; 2], &mut AuditedCall)| {
        let mut looks = looks.clone();
        let mut call = calls[0].clone();
        change(&mut looks, &mut call);
        found(&looks, &[call])
    };
    let nothing: [Finding; 0] = [];
    assert_eq!(other(|_, call| call.from = at(1)), nothing, "in flight at the first reading");
    assert_eq!(other(|_, call| call.until = at(1_000)), nothing, "in flight at the second reading");
    assert_eq!(other(|_, call| call.account = None), nothing, "a call of another account");
    assert_eq!(other(|looks, _| looks[1].account = "you".to_owned()), nothing, "another key");
    assert_eq!(other(|looks, _| looks[1].after = 0), nothing, "the clock was set");
    assert_eq!(other(|looks, _| looks[1] = look(43_000, 1, 7)), [Finding::Free], "before midnight");
    assert_eq!(other(|looks, _| looks[1] = look(30 * 86_400, 1, 7)), nothing, "another month");
    assert_eq!(other(|looks, _| looks[1].readings[0].used = 0), [Finding::Free], "the end of an hour is not known");
    assert_eq!(other(|looks, _| looks[1].readings.clear()), nothing, "counters that are not shown");
    assert_eq!(other(|looks, _| looks[1].readings[1].used = 8), nothing, "counters that disagree");
}

#[test]
fn monthly_counter_decides_after_midnight() {
    let next_day = || {
        let mut look = look(86_400, 1, 8);
        look.readings[1].used = 0;
        look
    };
    assert_eq!(found(&[look(0, 0, 7), next_day()], &[call(1, 10, ONE)]), [Finding::Confirmed]);
    let mut odd = next_day();
    odd.readings[2].used = 3;
    assert!(found(&[look(0, 0, 7), odd], &[call(1, 10, ONE)]).is_empty(), "a counter that fell");
}

/// What happens, with what is true of it and cannot be seen.
#[derive(Clone, Debug)]
enum Step {
    Certain(u64),
    Unsure { max_charge: u64, is_charged: bool },
    Others(u64),
    Look,
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..4_u64).prop_map(Step::Certain),
        (1..4_u64, any::<bool>()).prop_map(|(max_charge, is_charged)| Step::Unsure { max_charge, is_charged }),
        (0..3_u64).prop_map(Step::Others),
        Just(Step::Look),
        (1..900_i64).prop_map(Step::Wait),
    ]
}

proptest! {
    /// After the findings no window's calls count for less than the service has charged for them.
    #[test]
    fn no_finding_counts_too_low(steps in prop::collection::vec(step(), 0..40)) {
        let mut now = 0;
        let mut used = 0;
        let mut calls = Vec::new();
        let mut looks = Vec::new();
        let mut truth = Vec::new();
        for step in steps {
            now += 10;
            let number = calls.len() as i64 + 1;
            match step {
                Step::Certain(units) => {
                    calls.push(call(number, now, Units::exactly(units)));
                    truth.push(units);
                    used += units;
                }
                Step::Unsure { max_charge, is_charged } => {
                    calls.push(call(number, now, Units { min: 0, max: Some(max_charge) }));
                    truth.push(if is_charged { max_charge } else { 0 });
                    used += truth.last().unwrap();
                }
                Step::Others(units) => used += units,
                Step::Look => looks.push(look(now, calls.len() as i64, used)),
                Step::Wait(seconds) => now += seconds,
            }
        }
        for window in windows(&looks, &calls).iter().chain(&final_windows(&looks, &calls)) {
            for call in &window.calls {
                let truth = truth[usize::try_from(call.number - 1).unwrap()];
                if call.is_uncertain() && window.finding() == Finding::Free {
                    prop_assert_eq!(truth, 0);
                }
            }
            prop_assert!(window.finding() != Finding::Contradicted, "prices that are right are not contradicted");
        }
    }
}
