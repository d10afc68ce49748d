//! The only module that uses the network: profile, credential, sending, typed errors, limits of size and time.
//!
//! It does not decide whether a call is worth its price. The gateway does, and only the gateway calls [`Client::send`].

pub mod client;
pub mod credential;
pub mod error;
mod http;
pub mod profile;
mod redact;
pub mod upload;

pub use client::Client;
pub use credential::Credential;
pub use error::ServiceError;
pub use http::ProxyRoute;
pub use profile::Profile;
pub use redact::without_keys;
