//! The HTTP client of the service: profile, credential, sending, errors and limits.
//!
//! The gateway, its only caller, decides whether a call is sent at all.

pub mod client;
pub mod credential;
pub mod error;
mod http;
pub mod profile;

pub use client::Client;
pub use credential::{Credential, without_keys};
pub use error::ServiceError;
pub use http::ProxyRoute;
pub use profile::Profile;
