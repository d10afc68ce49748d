//! The gateway, driven over real HTTP against the embedded service, with a real store on disk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

#[path = "../faults/answering.rs"]
mod answering;
mod artifacts;
mod budget;
mod by_hash;
mod counted;
mod each_fault;
#[path = "../faults/mod.rs"]
mod faults;
mod harness;
mod in_flight;
mod ledger;
mod licence;
mod pages;
mod rate;
mod redirects;
mod schedules;
mod secrets;
mod stored;
mod submitting;

use behaview::demo::{Demo, Options};
use behaview::gateway::{GatewayError, StoredResponse};
use behaview::quota::{Settlement, SpentUnits, State};
use behaview::report::Body;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::request::{Listing, Request};
use behaview::service::Profile;
use behaview::service::error::{ApiErrorKind, ServiceError};
use behaview::text::Untrusted;
use harness::{GatewayHarness, gateway, words};

/// The main file of the embedded service: six reports, on two pages.
fn dropper() -> Sha256 {
    files().swap_remove(0)
}

/// The private files that the embedded service holds.
fn files() -> Vec<Sha256> {
    Demo::files().iter().map(|file| Sha256::parse(&file.sha256).unwrap()).collect()
}

fn list(file: &Sha256) -> Request {
    Request::Behaviours { file: file.clone(), listing: Listing::Reports, cursor: None }
}

fn report(identifier: &str) -> Request {
    Request::Behaviour { identifier: Identifier::new(Untrusted::from(identifier)).unwrap() }
}

/// The report of the dropper's first sandbox.
fn first_report() -> Request {
    report(&format!("{}_CAPE Sandbox-1794474845", dropper()))
}

/// One request of each operation.
fn each_operation() -> [Request; 3] {
    [first_report(), list(&dropper()), Request::Quotas]
}

/// Whether the service may charge for it.
fn is_paid(request: &Request) -> bool {
    *request != Request::Quotas
}

fn bytes(answer: &StoredResponse) -> Vec<u8> {
    answer.body.to_vec()
}

/// Why the service refused.
fn refusal(result: Result<StoredResponse, GatewayError>) -> ApiErrorKind {
    match result {
        Err(GatewayError::Service { error: ServiceError::Refused(refusal), .. }) => refusal.reason,
        other => panic!("{other:?} is no refusal"),
    }
}
