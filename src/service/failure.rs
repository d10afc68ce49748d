//! Why a call did not come to its end, in words that name no address.

use super::error::ServiceError;
use crate::text::Untrusted;
use std::error::Error as _;

/// A connection that was never made has sent nothing; after that anything may have been counted.
pub(super) fn not_sent_or_lost(error: &reqwest::Error) -> ServiceError {
    if !error.is_connect() && !error.is_builder() {
        return ServiceError::Lost(reason(error));
    }
    match refused_certificate(error) {
        Some(why) => ServiceError::Untrusted(why),
        None => ServiceError::Unreachable(reason(error)),
    }
}

/// Why the certificate that was shown is not trusted, if that is what went wrong.
fn refused_certificate(error: &reqwest::Error) -> Option<String> {
    let mut cause: Option<&dyn std::error::Error> = error.source();
    while let Some(here) = cause {
        if let Some(rustls::Error::InvalidCertificate(why)) = here.downcast_ref() {
            return Some(certificate_words(why));
        }
        // An error of the system's hides the one inside of it from those who ask for causes.
        let inside = here.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = inside.map(|inside| inside as &dyn std::error::Error).or_else(|| here.source());
    }
    None
}

fn certificate_words(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
        UnknownIssuer,
    };
    match why {
        UnknownIssuer => "no authority that this machine knows has signed it".to_owned(),
        Expired | ExpiredContext { .. } => "it has expired".to_owned(),
        NotValidYet | NotValidYetContext { .. } => "it is not valid yet; is this machine's clock right?".to_owned(),
        NotValidForName | NotValidForNameContext { .. } => "it is for another name".to_owned(),
        other => Untrusted::from(other.to_string()).visible_cut(120).to_string(),
    }
}

/// The innermost cause, which names no address: an address may hold the key.
pub(super) fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the service was silent for too long".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let is_outermost = std::ptr::eq(std::ptr::from_ref(cause).cast::<()>(), std::ptr::from_ref(error).cast::<()>());
    if is_outermost {
        "the connection failed".to_owned()
    } else {
        Untrusted::from(cause.to_string()).visible_cut(120).to_string()
    }
}
