//! Sends a file from the disk, piece by piece and once, to an address that may be trusted with it.

use super::client::{Client, Sink};
use super::error::{ServiceError, not_sent_or_lost};
use super::http::CallTimeout;
use crate::files;
use crate::report::identifier::Sha256;
use crate::request::{Address, Upload, UploadAddress};
use crate::text::Untrusted;
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response, Url};
use sha2::{Digest, Sha256 as Hash};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::pin::pin;
use std::time::SystemTime;

/// Bytes that are read at once.
const PIECE: usize = 256 * 1024;

/// Pieces that wait to be sent.
const WAITING: usize = 2;

/// Bytes that the system may still hold back when the last one was handed to it.
const HELD_BACK: u64 = 4 * 1024 * 1024;

/// What a file's name cannot have in the head of a form: there it ends the name, or the head itself. A browser sends it
/// percent-encoded, too.
const UNSENDABLE: &AsciiSet = &CONTROLS.add(b'"');

/// What tells that a file was written to: its length, and when that was.
type Stamp = (u64, Option<SystemTime>);

/// A file on its way into a call.
struct Feeder {
    file: File,
    /// As it was when it was opened.
    stamp: Stamp,
    pieces: Option<Sender<Bytes, io::Error>>,
    size: u64,
    gone: u64,
    hash: Hash,
    wanted: Option<Sha256>,
    /// The first piece, which is looked at before anything is sent: most files have no other.
    first: Option<Bytes>,
    /// Why it was broken off.
    broken: Option<String>,
}

/// What happens next while a file is sent.
enum Step {
    /// The service has answered, or is gone.
    Answered(reqwest::Result<Response>),
    /// Another piece has been handed over.
    Fed,
}

impl Client {
    /// Uploads a file, and waits for the answer's head. Silence ends the wait; slowness does not while the file moves on.
    pub(super) async fn upload(
        &self,
        address: &Address,
        upload: &Upload,
        sink: &mut dyn Sink,
    ) -> Result<Response, ServiceError> {
        let parameters = self.parameters(address)?;
        let (pieces, body) = Channel::new(WAITING);
        let mut feeder = Feeder::open(upload, self.profile.largest(upload.limit), pieces).await?;
        let call = self.upload_call(address)?.multipart(form(parameters, &upload.path, body, feeder.size));
        let mut sending = pin!(call.send());
        let patience = CallTimeout::new(&self.profile, 0);
        let answered = loop {
            let (gone, size) = (feeder.gone, feeder.size);
            sink.sent(gone, size);
            if feeder.is_done() {
                let patience = CallTimeout::new(&self.profile, size.min(HELD_BACK));
                break patience.wait(0, sending).await?;
            }
            let step = async {
                tokio::select! {
                    biased;
                    answered = &mut sending => Step::Answered(answered),
                    () = feeder.feed() => Step::Fed,
                }
            };
            match patience.wait(gone, step).await? {
                Step::Answered(answered) => break answered,
                Step::Fed => {}
            }
        };
        let broken = feeder.broken.take();
        let failed = |error| broken.map_or_else(|| not_sent_or_lost(&error), ServiceError::Unfinished);
        answered.map_err(failed)
    }

    /// The call without its body. The key goes to the service's own host alone, and a file nowhere that the profile does not name.
    fn upload_call(&self, address: &Address) -> Result<RequestBuilder, ServiceError> {
        let Some(to) = &address.to else { return self.with_key(address, self.http()?.post(self.url(address))) };
        let (url, is_own) = self.trusted(to)?;
        let call = self.http()?.post(url);
        if is_own { self.with_key(address, call) } else { Ok(call) }
    }

    /// An address that the service named for an upload, if it may be used; and whether it is on the service's own host.
    fn trusted(&self, to: &UploadAddress) -> Result<(Url, bool), ServiceError> {
        let text = std::str::from_utf8(to.expose().as_bytes()).unwrap_or_default();
        let foreign = |host: &str| ServiceError::ForeignUpload(Untrusted::from(host));
        // Whoever passes it on reads it however it is escaped. What ends it is no beginning of a key.
        let unescaped: Vec<_> = percent_decode_str(text).chain([b'\n']).collect();
        if self.redactor.has_redacted(text.as_bytes()) || self.redactor.is_in(&unescaped) {
            return Err(ServiceError::KeyInAddress);
        }
        let url = Url::parse(text).map_err(|_| foreign("no address at all"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(foreign("an address with a name and a password"));
        }
        let is_own = url.origin() == self.root.origin();
        if is_own || self.profile.upload_root().is_some_and(|root| root.origin() == url.origin()) {
            return Ok((url, is_own));
        }
        if !url.origin().is_tuple() {
            return Err(foreign("an address that leads to no host"));
        }
        Err(foreign(&url.origin().ascii_serialization()))
    }
}

impl Feeder {
    async fn open(upload: &Upload, limit: u64, pieces: Sender<Bytes, io::Error>) -> Result<Self, ServiceError> {
        let unsendable = |error: io::Error| ServiceError::Unsendable(error.to_string());
        let (file, size) = files::open_ordinary(&upload.path).map_err(unsendable)?;
        if size == 0 {
            return Err(ServiceError::Unsendable("it is empty".to_owned()));
        }
        if size > limit {
            return Err(ServiceError::Unsendable(format!("it is larger than {}", crate::text::bytes(limit))));
        }
        let changed = || ServiceError::Unsendable("it has changed since it was looked at".to_owned());
        let (wanted, found) = upload.file.clone().unzip();
        if found.is_some_and(|found| found != size) {
            return Err(changed());
        }
        let (pieces, hash) = (Some(pieces), Hash::new());
        let stamp = stamp(&file).map_err(unsendable)?;
        let mut feeder = Self { file, stamp, pieces, size, gone: 0, hash, wanted, first: None, broken: None };
        let first = feeder.read().await.map_err(unsendable)?;
        feeder.first = feeder.check(first).map_err(|_| changed())?;
        Ok(feeder)
    }

    fn is_done(&self) -> bool {
        self.pieces.is_none()
    }

    /// Hands the next piece over; where there is none, or the file is not what it was, ends.
    async fn feed(&mut self) {
        let piece = match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read().await.and_then(|piece| self.check(piece)),
        };
        let Some(mut pieces) = self.pieces.take() else { return };
        match piece {
            Ok(Some(piece)) => {
                let length = piece.len() as u64;
                // A call that has ended takes nothing more: its answer says why.
                if pieces.send_data(piece).await.is_ok() {
                    (self.gone, self.pieces) = (self.gone + length, Some(pieces));
                }
            }
            Ok(None) => drop(pieces),
            Err(error) => {
                self.broken = Some(error.to_string());
                pieces.abort(error);
            }
        }
    }

    /// Reads the next piece where waiting for the disk keeps nobody else waiting.
    async fn read(&mut self) -> io::Result<(Vec<u8>, Stamp)> {
        let mut file = self.file.try_clone()?;
        let read = move || {
            let mut piece = Vec::with_capacity(PIECE);
            io::Read::by_ref(&mut file).take(PIECE as u64).read_to_end(&mut piece)?;
            // After it was read: what was written before that is told by it.
            Ok((piece, stamp(&file)?))
        };
        tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?
    }

    /// The piece, if the file is still what was to be sent; none at its end. One that was written to meanwhile goes no further. The
    /// last piece is held against the hash before it goes, so that nothing else than what was asked for arrives whole.
    fn check(&mut self, (piece, stamp): (Vec<u8>, Stamp)) -> io::Result<Option<Bytes>> {
        let changed = || io::Error::other("the file changed while it was sent");
        if stamp != self.stamp {
            return Err(changed());
        }
        if piece.is_empty() {
            return if self.gone == self.size { Ok(None) } else { Err(changed()) };
        }
        self.hash.update(&piece);
        let reached = self.gone + piece.len() as u64;
        let found = || crate::text::hex(self.hash.clone().finalize());
        let is_other = || self.wanted.as_ref().is_some_and(|wanted| wanted.as_str() != found());
        if reached > self.size || reached == self.size && is_other() {
            return Err(changed());
        }
        Ok(Some(piece.into()))
    }
}

fn stamp(file: &File) -> io::Result<Stamp> {
    file.metadata().map(|about| (about.len(), about.modified().ok()))
}

/// Parameters and a file in one body, the file as it comes from the disk.
fn form(parameters: Vec<(Cow<'static, str>, String)>, path: &Path, body: Channel<Bytes, io::Error>, size: u64) -> Form {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let name = utf8_percent_encode(&name, UNSENDABLE).to_string();
    let form = parameters.into_iter().fold(Form::new(), |form, (name, value)| form.text(name, value));
    form.part("file", Part::stream_with_length(Body::wrap(body), size).file_name(name))
}
