//! How long work on a report ends when nobody waits for it any more.

use std::io;

/// Asked now and then by what takes long: an error of the kind "interrupted" once nobody wants what would come of it.
pub(crate) fn still_wanted(is_wanted: &dyn Fn() -> bool) -> io::Result<()> {
    if is_wanted() { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
}

#[cfg(test)]
mod tests {
    use super::super::compare::Matrix;
    use super::super::rules::Rules;
    use super::super::{Body, Index, Indicators, Report};

    #[test]
    fn what_nobody_wants_any_more_is_no_result() {
        let body = Body::in_memory(br#"{"tags":["A"],"mutexes_created":["m"]}"#.to_vec());
        let report = Report::new(body.clone(), Index::of(&body).unwrap());
        let (rules, _) = Rules::read(None);
        let kinds = [
            Indicators::of(&report, &|_| None, &|| false).unwrap_err().kind(),
            rules.judge(&report, &|| false).unwrap_err().kind(),
            Matrix::of(&[Some(body)]).unwrap().find(b"m", &|| false).unwrap_err().kind(),
        ];
        assert_eq!(kinds, [std::io::ErrorKind::Interrupted; 3]);
    }
}
