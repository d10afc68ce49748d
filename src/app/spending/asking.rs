//! What is sent and what is not: whatever asks the service passes here, with its price, its yes, and where its answer may come from.

use super::confirm::{Consent, KeyedAnswer};
use super::price::{Barred, Tag};
use crate::app::effect::{ServiceCall, Source};
use crate::app::model::Model;
use crate::quota::{Allowed, Period};
use crate::request::{Quote, Request};

impl Model {
    /// Asks the service, after a yes where one is wanted; unless the same question is under way or cannot be asked.
    pub(in crate::app) fn ask(&mut self, request: Request, source: Source) {
        let quote = request.quote(&self.figures.entitlements);
        if self.refuse_barred(&quote) {
            return;
        }
        if let Some(why) = self.wants_yes(&quote) {
            return self.ask_first(why, KeyedAnswer::yes("yes, send it", Consent::Send(quote.request().clone())));
        }
        if self.refuse_for_now(&quote) {
            return;
        }
        self.send(quote, source)
    }

    /// Sends what the user agreed to before or what is free; returns whether it was sent.
    pub(in crate::app) fn ask_agreed(&mut self, request: Request, source: Source) -> bool {
        let quote = request.quote(&self.figures.entitlements);
        let is_sent = !self.refuse_barred(&quote) && !self.refuse_for_now(&quote);
        if is_sent {
            self.send(quote, source);
        }
        is_sent
    }

    /// Shows the answer that the screen says is held: nothing is sent, though it may be gone by now.
    pub(in crate::app) fn ask_held(&mut self, request: Request) {
        if self.is_quitting {
            return;
        }
        let quote = request.quote(&self.figures.entitlements);
        self.calls.begin(quote.request().clone(), false, self.now);
        self.emit(ServiceCall::Send { quote, source: Source::Held });
    }

    /// Refuses what cannot be sent now, and says why; whether it did.
    fn refuse_barred(&mut self, quote: &Quote) -> bool {
        self.is_quitting || self.calls.has(quote.request()) || self.refuse_unsendable(quote.price().allowed)
    }

    /// Refuses what cannot be sent at all, and says why; whether it did.
    pub(in crate::app) fn refuse_unsendable(&mut self, allowed: Allowed) -> bool {
        let why = match (self.service.barred(), allowed) {
            (Some(Barred::Offline), _) => {
                "Nothing was sent: this run is offline. Start again without --offline, and without `offline` in the \
                 config file."
                    .to_owned()
            }
            (Some(Barred::NoKey), _) => {
                "There is no key: nothing was sent. Set BEHAVIEW_API_KEY and start again, or run `behaview demo`."
                    .to_owned()
            }
            (None, Allowed::Refused(reason)) => {
                format!("Nothing was sent: {reason}. {} explains.", self.way_to("prices"))
            }
            (None, Allowed::Allowed) => return false,
        };
        self.warn(why);
        true
    }

    /// Refuses what the quota is spent for or the service has said to wait with, and says until when; whether it did.
    fn refuse_for_now(&mut self, quote: &Quote) -> bool {
        let Some(bar) = self.figures.bar(quote.price(), self.now) else { return false };
        let way = match bar {
            Tag::Wait(_) => "The service said so; a new start of behaview sends all the same.".to_owned(),
            _ => format!("{} asks the counters again, for nothing.", self.way_to("balances")),
        };
        self.warn(format!("Nothing was sent: {}. {way}", bar.words()));
        true
    }

    /// Whether what was agreed to has to wait for the next minute, as this one's limit is used up.
    pub(in crate::app) fn awaits_minute(&self, request: &Request) -> bool {
        let limit = self.figures.used_up(&self.price(request), self.now);
        limit.is_some_and(|limit| limit.period == Period::Minute && limit.allowed > 0)
    }

    fn send(&mut self, quote: Quote, source: Source) {
        let request = quote.request().clone();
        self.forget_failure(&request);
        let is_paid = !quote.price().is_free();
        self.calls.begin(request, is_paid, self.now);
        self.emit(ServiceCall::Send { quote, source });
    }

    /// Says that the same question is in flight, where it is.
    pub(in crate::app) fn says_in_flight(&mut self, request: &Request) -> bool {
        let is_in_flight = self.calls.has(request) && !self.is_quitting;
        if is_in_flight {
            self.say_meanwhile("It is under way already: its answer serves, and is paid for once.");
        }
        is_in_flight
    }

    /// Why a yes is wanted before this is sent; none if none is wanted.
    fn wants_yes(&self, quote: &Quote) -> Option<String> {
        let (request, price) = (quote.request(), quote.price());
        let dear = || self.is_dear(price.units.max()).then(|| format!("{} costs {}.", request.words(), price.short()));
        request.warning().or_else(dear)
    }

    /// Whether what costs so much at worst wants a yes for that alone; what nobody knows the limit of does.
    pub(in crate::app) fn is_dear(&self, worst: Option<u64>) -> bool {
        self.settings.confirm_above.is_some_and(|most| worst.is_none_or(|worst| worst > most))
    }

    fn forget_failure(&mut self, request: &Request) {
        match request {
            Request::Behaviours { file, .. } => {
                self.list_of_mut(file).into_iter().for_each(|list| list.failure = None);
            }
            Request::PrivateScan { .. } | Request::UploadAddress => {
                self.submitting_mut().into_iter().for_each(|form| form.failure = None);
            }
            Request::Behaviour { identifier } => {
                self.files.each_entry_mut(identifier).for_each(|entry| entry.failure = None);
            }
            _ => {}
        }
    }
}
