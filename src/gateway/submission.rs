//! Files to submit: their hash and size, read in bounded memory, and earlier submissions of them.

use super::{Gateway, GatewayError};
use crate::files;
use crate::report::identifier::Sha256;
use crate::request::{Request, Submission};
use crate::store::{Store, StoreError, Whose};
use crate::text::{bytes, count, moment};
use jiff::Timestamp;
use sha2::{Digest, Sha256 as Hash};
use std::io::{self, Read};
use std::path::Path;

/// Bytes per read.
const PIECE: usize = 256 * 1024;

impl Gateway {
    /// When the same request was sent without an answer: it may have arrived, and been charged.
    /// Private scans of a file count as the same, whatever options they give the sandboxes.
    pub fn unanswered(&self, request: &Request) -> Result<Option<Timestamp>, StoreError> {
        self.look_for(request, None).map_or(Ok(None), |look| look(self.store()))
    }

    /// A warning if the file was scanned before, or a scan of it is in progress.
    pub fn scanned_before(&self, file: &Sha256) -> Result<Option<String>, StoreError> {
        let held = self.store.reports(self.service(), file)?.len() as u64;
        let scan = self.store.pending_scan(self.service(), file)?;
        let scan = scan.filter(|scan| scan.identifier.is_some() && scan.is_pending(self.now()));
        let before = match scan {
            Some(scan) => format!("A scan of it was under way on {}", moment(scan.since)),
            None if held > 0 => format!("Scanned before: {} of it held", count(held, "report")),
            None => return Ok(None),
        };
        Ok(Some(format!("{before}. To send it is another scan.")))
    }

    /// Refuses to send a file, after its call is reserved, if it was sent before without the user's
    /// knowledge: another program may have sent it between the user's check and the call.
    pub(super) async fn check_unsent(&self, request: &Request, entry: i64) -> Result<(), GatewayError> {
        let Request::PrivateScan { submission, .. } = request else { return Ok(()) };
        let Some(look) = self.look_for(request, Some(entry)) else { return Ok(()) };
        let sent = self.work(look).await??;
        sent.filter(|_| sent > submission.sent).map_or(Ok(()), |sent| Err(GatewayError::SentBefore(sent)))
    }

    /// A lookup of the same request in the ledger; `None` if the request has no claim.
    fn look_for(
        &self,
        request: &Request,
        but: Option<i64>,
    ) -> Option<impl FnOnce(&Store) -> Result<Option<Timestamp>, StoreError> + Send + use<>> {
        let claim = request.claim()?;
        let start = match request {
            Request::PrivateScan { submission, .. } => Submission::claims_of(&submission.file).into_bytes(),
            _ => claim.clone(),
        };
        let (profile, service) = (self.profile().to_owned(), self.service().to_owned());
        let owner = self.client.owner();
        Some(move |store: &Store| {
            store.unanswered(Whose { profile: &profile, service: &service, owner }, (&start, &claim), but)
        })
    }
}

/// The hash and the size in bytes of an ordinary file of at most `largest` bytes.
pub fn look_at(path: &Path, largest: u64, is_wanted: &dyn Fn() -> bool) -> io::Result<(Sha256, u64)> {
    let (mut file, length) = files::open_ordinary(path)?;
    match length {
        0 => return Err(io::Error::other("it is empty")),
        _ if length > largest => return Err(io::Error::other(format!("it is larger than {}", bytes(largest)))),
        _ => {}
    }
    let (mut hash, mut size, mut piece) = (Hash::new(), 0_u64, vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece)?;
        // A file that grows as fast as it is read would never end.
        if read == 0 || size > length {
            break;
        }
        if !is_wanted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        hash.update(piece.get(..read).unwrap_or_default());
        size += read as u64;
    }
    if size != length {
        return Err(io::Error::other("it changes while it is read"));
    }
    let digits = crate::text::hex(hash.finalize());
    Sha256::parse(&digits).map(|file| (file, size)).ok_or_else(|| io::Error::other("it has no hash"))
}
