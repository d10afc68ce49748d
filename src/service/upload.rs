//! Uploads a file in pieces, once, to an address that is trusted with it.

use super::client::{Client, Sink};
use super::error::{ServiceError, not_sent_or_lost};
use super::http::until_silent;
use super::profile::encrypted;
use crate::files;
use crate::report::identifier::Sha256;
use crate::request::{Address, Upload, UploadAddress, UploadLimit};
use crate::text::Untrusted;
use bytes::Bytes;
use http_body_util::channel::Channel;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response, Url};
use sha2::{Digest, Sha256 as Hash};
use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::pin::pin;

const PIECE_BYTES: usize = 256 * 1024;

const MAX_WAITING_PIECES: usize = 2;

/// Bytes that the system may still have to send after the last one was written.
const BUFFERED_BYTES: u64 = 4 * 1024 * 1024;

/// Minimum speed at which the system sends them, in bytes per second.
const MIN_BYTES_PER_S: u64 = 1024;

/// Characters that must be encoded in a file name: in the header of a form they would end the name
/// or the header. Browsers percent-encode them, too.
const UNSENDABLE: &AsciiSet = &CONTROLS.add(b'"');

impl Client {
    /// Uploads a file and waits for headers; ends if nothing moves, not because an upload is slow.
    pub(super) async fn upload(
        &self,
        address: &Address,
        upload: &Upload,
        sink: &mut dyn Sink,
    ) -> Result<Response, ServiceError> {
        let parameters = self.parameters(address)?;
        let call = self.upload_call(address, upload.to.as_ref())?;
        let limit = if upload.to.is_some() { UploadLimit::Large } else { UploadLimit::Direct };
        let mut rest = read(upload, self.profile.largest(limit)).await?;
        let size = rest.len() as u64;
        let (mut pieces, body) = Channel::<Bytes, Infallible>::new(MAX_WAITING_PIECES);
        let mut sending = pin!(call.multipart(form(parameters, &upload.path, body, size)).send());
        sink.sent(0, size);
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            let step = async {
                tokio::select! {
                    biased;
                    answered = &mut sending => Err(answered),
                    // A call that has ended accepts no more pieces; its response has the reason.
                    sent = pieces.send_data(piece) => Ok(sent.is_ok()),
                }
            };
            match until_silent(self.profile.timeout_s, step).await? {
                Ok(true) => sink.sent(size - rest.len() as u64, size),
                Ok(false) => break,
                Err(answered) => return answered.map_err(|error| not_sent_or_lost(&error)),
            }
        }
        drop(pieces);
        let seconds = self.profile.timeout_s.saturating_add(size.min(BUFFERED_BYTES) / MIN_BYTES_PER_S);
        until_silent(seconds, sending).await?.map_err(|error| not_sent_or_lost(&error))
    }

    /// Returns the call without its body. Only the service's own host receives the key.
    fn upload_call(&self, address: &Address, to: Option<&UploadAddress>) -> Result<RequestBuilder, ServiceError> {
        let Some(to) = to else { return self.with_key(address, self.http()?.post(self.url(address))) };
        let (url, is_own) = self.trusted(to)?;
        let call = self.http()?.post(url);
        if is_own { self.with_key(address, call) } else { Ok(call) }
    }

    /// Checks an upload address from the service; returns whether it is on its own host.
    fn trusted(&self, to: &UploadAddress) -> Result<(Url, bool), ServiceError> {
        let text = std::str::from_utf8(to.expose().as_bytes()).unwrap_or_default();
        let foreign = |host: &str| ServiceError::ForeignUpload(Untrusted::from(host));
        // The address contained the key, where proxies can read it.
        if self.redactor.has_redacted(text.as_bytes()) {
            return Err(foreign("an address with your key in it"));
        }
        let url = Url::parse(text).map_err(|_| foreign("no address at all"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(foreign("an address with a name and a password"));
        }
        let is_own = url.origin() == self.root.origin();
        let other = self.profile.upload_host.as_deref().and_then(|host| encrypted(host).ok());
        if is_own || other.is_some_and(|root| root.origin() == url.origin()) {
            return Ok((url, is_own));
        }
        Err(foreign(&format!("{}, which is not its own host", url.origin().ascii_serialization())))
    }
}

/// Reads a file completely, so that even if it changes the bytes sent have the hash shown.
async fn read(upload: &Upload, limit: u64) -> Result<Bytes, ServiceError> {
    let path = upload.path.clone();
    let read = tokio::task::spawn_blocking(move || read_hashed(&path, limit)).await;
    let read = read.unwrap_or_else(|error| Err(error.to_string()));
    match read.map_err(ServiceError::Unsendable)? {
        (_, found) if upload.file.as_ref().is_some_and(|seen| *seen != found) => {
            Err(ServiceError::Unsendable("it has changed since it was inspected".to_owned()))
        }
        (bytes, _) => Ok(bytes.into()),
    }
}

/// Returns the hash and the size in bytes of an ordinary file of at most `limit` bytes.
pub fn hash_file(path: &Path, limit: u64) -> Result<(Sha256, u64), String> {
    read_hashed(path, limit).map(|(_, found)| found)
}

fn read_hashed(path: &Path, limit: u64) -> Result<(Vec<u8>, (Sha256, u64)), String> {
    let bytes = files::read(path, limit).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => format!("it is larger than {}", crate::text::bytes(limit)),
        _ => error.to_string(),
    })?;
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    let hash = Sha256::parse(&crate::text::hex(Hash::digest(&bytes))).ok_or("it has no hash")?;
    let size = bytes.len() as u64;
    Ok((bytes, (hash, size)))
}

fn form(fields: Vec<(Cow<'static, str>, String)>, path: &Path, body: Channel<Bytes, Infallible>, size: u64) -> Form {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let name = utf8_percent_encode(&name, UNSENDABLE).to_string();
    let form = fields.into_iter().fold(Form::new(), |form, (name, value)| form.text(name, value));
    form.part("file", Part::stream_with_length(Body::wrap(body), size).file_name(name))
}
