//! Cursors that lead in circles lead nowhere: no page is asked for unless somebody asks for it.

use crate::faults::arm;
use behaview::report::page::Page;

use super::*;

fn page_at(cursor: Option<Untrusted>) -> Request {
    Request::Behaviours { file: dropper(), listing: Listing::Reports, cursor }
}

/// The page that is held, or the service's.
async fn turn_to(harness: &GatewayHarness, request: &Request) -> Page {
    let body = match harness.gateway.stored(request).unwrap() {
        Some(stored) => stored.body,
        None => harness.fetch(request).await.unwrap().body,
    };
    Page::of(&body).unwrap()
}

#[tokio::test]
async fn repeating_pages_are_free_after_one_round() {
    // A cycle of two pages takes three calls: the first without a cursor, and then with one.
    for (fault, pages) in [("cursor-same", 2), ("cursor-cycle", 3)] {
        let harness = GatewayHarness::begin().await;
        arm(&harness.demo, fault);
        let mut cursor = None;
        for _ in 0..10 {
            cursor = turn_to(&harness, &page_at(cursor)).await.end.cursor;
        }
        assert_eq!(harness.calls(), pages, "{fault}");
        assert_eq!(harness.gateway.spent().unwrap().total(), harness.charged(), "{fault}");
        assert_eq!(harness.gateway.store.reports(&harness.gateway.service, &dropper()).unwrap().len(), 6, "{fault}");
    }
}

#[tokio::test]
async fn foreign_report_costs_its_row_not_the_page() {
    let harness = GatewayHarness::begin().await;
    arm(&harness.demo, "mixed");
    let page = turn_to(&harness, &page_at(None)).await;
    assert_eq!(page.entries.len(), 5);
    let page = page.without_others(&dropper());
    assert_eq!((page.entries.len(), page.foreign), (4, 1));
    // Nothing is paid for twice, and the other file has nothing that nobody asked for.
    assert!(harness.gateway.stored(&page_at(None)).unwrap().is_some());
    let stored = |file| harness.gateway.store.reports(&harness.gateway.service, file).unwrap().len();
    assert_eq!((stored(&dropper()), files().iter().skip(1).map(stored).sum::<usize>()), (4, 0));
    assert_eq!((harness.calls(), harness.gateway.spent().unwrap().total()), (1, harness.charged()));
}
