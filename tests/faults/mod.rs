//! Faults of calls, as tests write them: `[OPERATION:]FAULT[*TIMES]`, such as `list:429-quota*1`,
//! `behaviour:cut=100` or `lost`. Unless a fault says otherwise, the call counts as usual.

mod wire;

use behaview::demo::{Demo, DemoResponse, Endpoint, Interference, ReceivedCall};
use std::time::Duration;

const PORTAL: &str = "<!doctype html><title>Guest network</title><p>Please accept the terms of use to go on.</p>";
const TOO_MANY: &str = "<title>429</title>429 Too Many Requests";

/// Arms a fault, behind those already armed.
pub fn arm(demo: &Demo, written: &str) {
    let (operation, rest) = match written.split_once(':') {
        Some((operation, rest)) if !operation.contains('=') => (Some(operation.to_owned()), rest),
        _ => (None, written),
    };
    let (fault, times) = match rest.rsplit_once('*').map(|(fault, times)| (fault, times.parse::<u32>())) {
        Some((fault, Ok(times))) => (fault, Some(times)),
        _ => (rest, None),
    };
    let (name, value) = fault.split_once('=').unwrap_or((fault, ""));
    let (name, value, root, mut left) = (name.to_owned(), value.to_owned(), demo.root().to_owned(), times);
    demo.intercept(Box::new(move |call, change| {
        let is_delay = name == "delay";
        let is_taken = change.reply.is_some() || change.write.is_some() || change.target.is_some();
        let is_other = operation.as_ref().is_some_and(|operation| *operation != kebab(call.endpoint));
        if left == Some(0) || is_other || is_taken && !is_delay {
            return;
        }
        left = left.map(|left| left - 1);
        if is_delay {
            change.delay += Duration::from_millis(value.parse().unwrap());
        } else {
            strike(&name, &value, &root, call, change);
        }
    }));
}

/// An endpoint's name as faults write it: `PrivateAnalysis` is `private-analysis`.
fn kebab(endpoint: Endpoint) -> String {
    let mut name = String::new();
    for letter in format!("{endpoint:?}").chars() {
        let is_start = letter.is_uppercase() && !name.is_empty();
        name.extend(is_start.then_some('-').into_iter().chain(letter.to_lowercase()));
    }
    name
}

fn strike(name: &str, value: &str, root: &str, call: &ReceivedCall<'_>, change: &mut Interference) {
    let number = || value.parse::<u64>().unwrap();
    match name {
        "portal" | "redirect" | "reset" => change.is_uncounted = true,
        _ => {}
    }
    match name {
        "stranger" if call.endpoint == Endpoint::UploadUrl => {
            let root = root.to_owned();
            change.reply = Some(Box::new(move |reply| replace(reply, &root, "http://files.example.net")));
        }
        "stranger" => change.target = Some(stranger_to(call)),
        "mixed" if matches!(call.endpoint, Endpoint::List | Endpoint::Identifiers) => {
            let entry = format!(r#""data":[{{"id":"{}","type":"private_file_behaviour"}},"#, report_of("Parcel"));
            change.reply = Some(Box::new(move |reply| replace(reply, r#""data":["#, &entry)));
        }
        "mixed" => {}
        "cursor-same" | "cursor-cycle" => change_cursor(name == "cursor-cycle", call, change),
        "reset" => change.write = Some(Box::new(|stream, _| Box::pin(async move { stream.set_zero_linger() }))),
        "lost" => change.write = Some(Box::new(|_, _| Box::pin(async { Ok(()) }))),
        "endless-body" => change.write = Some(wire::endless_body()),
        "endless-headers" => change.write = Some(wire::endless_headers()),
        "cut" => change.write = Some(wire::cut(number(), true)),
        "cut-bare" => change.write = Some(wire::cut(number(), false)),
        "stall" => change.write = Some(wire::stall(number())),
        "drip" => change.write = Some(wire::drip(number())),
        "gzip-lie" => change.reply = Some(Box::new(|reply| reply.with_header("content-encoding", "gzip"))),
        _ => {
            let replacement = replacement(name, value, call.now).unwrap_or_else(|| panic!("unknown fault {name:?}"));
            change.reply = Some(Box::new(|_| replacement));
        }
    }
}

/// The answer of a fault that replaces it.
fn replacement(name: &str, value: &str, now: i64) -> Option<DemoResponse> {
    let too_many = || DemoResponse::error(429, "TooManyRequestsError", "More than 120 requests within a minute");
    let forbidden = "You are not authorized to perform the requested operation";
    let html = |status, text: &'static str| DemoResponse::new("text/html; charset=utf-8", text).with_status(status);
    Some(match name {
        "401-missing" => DemoResponse::error(401, "AuthenticationRequiredError", "X-Apikey header is missing"),
        "401-wrong" => DemoResponse::error(401, "WrongCredentialsError", "Wrong API key"),
        "401-inactive" => DemoResponse::error(401, "UserNotActiveError", "User is not active"),
        "403" => DemoResponse::error(403, "ForbiddenError", forbidden),
        "404" => DemoResponse::error(404, "NotFoundError", "The requested resource was not found"),
        "409" => DemoResponse::error(409, "AlreadyExistsError", "Resource already exists"),
        "424" => {
            DemoResponse::error(424, "FailedDependencyError", "The request depended on another request that failed")
        }
        "429-quota" => DemoResponse::error(429, "QuotaExceededError", "Quota exceeded"),
        "429-rate" => too_many(),
        "429-rate-seconds" => too_many().with_header("retry-after", "120"),
        "429-rate-date" => too_many().with_header("retry-after", http_date(now + 90)),
        "429-rate-nonsense" => too_many().with_header("retry-after", "soon, perhaps -1"),
        "429-html" => html(429, TOO_MANY),
        "400" => DemoResponse::error(400, "BadRequestError", "Bad request"),
        "400-argument" => DemoResponse::error(400, "InvalidArgumentError", "Invalid argument"),
        "400-not-yet" => DemoResponse::error(400, "NotAvailableYet", "The resource is not available yet"),
        "503" => DemoResponse::error(503, "TransientError", "Transient error, try again later"),
        "504" => DemoResponse::error(504, "DeadlineExceededError", "Deadline exceeded"),
        "portal" => html(200, PORTAL),
        "redirect" => html(302, "").with_header("location", value),
        "empty" => DemoResponse::json(""),
        "not-json" => DemoResponse::json("{\"data\": {\"id\": oops"),
        "queued" => DemoResponse::json(r#"{"response_code":-2}"#),
        "array" => DemoResponse::json("[1, 2, 3]"),
        "number" => DemoResponse::json("42"),
        "string" => DemoResponse::json("\"data\""),
        "null" => DemoResponse::json("null"),
        "gzip-bomb" => DemoResponse::json(wire::bomb()).with_header("content-encoding", "gzip"),
        _ => return None,
    })
}

fn http_date(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds).unwrap();
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn replace(mut reply: DemoResponse, from: &str, to: &str) -> DemoResponse {
    reply.body = String::from_utf8_lossy(&reply.body).replacen(from, to, 1).into();
    reply
}

/// A file of the demo, by a word of its title.
fn file(word: &str) -> String {
    let mut known = Demo::files().into_iter().chain(Demo::public_files());
    known.find(|file| file.title.contains(word)).unwrap().sha256
}

/// The first report of a file with the reports of an Android sandbox, or of the main file.
fn report_of(word: &str) -> String {
    let sandbox = if word == "Parcel" { "Lantern Mobile-1794478200" } else { "CAPE Sandbox-1794474845" };
    format!("{}_{sandbox}", file(word))
}

/// Turns a request to another file or report; unchanged where they cannot be mixed up.
fn stranger_to(call: &ReceivedCall<'_>) -> String {
    let target = call.target.to_owned();
    let other = |words: [&'static str; 2]| if target.contains(&file(words[0])) { words[1] } else { words[0] };
    let private = other(["Parcel", "Quarterly"]);
    let public = file(other(["lumen32", "notepad"]));
    let part = |before: &str| target.split_once(before).map(|(_, rest)| rest.split(['/', '?']).next().unwrap());
    let (old, new) = match call.endpoint {
        Endpoint::Behaviour | Endpoint::Artifact => (part("/file_behaviours/"), report_of(private).replace(' ', "%20")),
        Endpoint::PrivateFile | Endpoint::List | Endpoint::Identifiers => (part("/private/files/"), file(private)),
        Endpoint::FileAnalyses if target.contains("/files/analyses/") => (part("/files/analyses/"), public),
        Endpoint::File | Endpoint::FileAnalyses => (part("/files/"), public),
        Endpoint::Analysis => (part("/analyses/"), format!("{}-1793606400", &public[..32])),
        _ => (None, String::new()),
    };
    old.map_or(target.clone(), |old| target.replace(old, &new))
}

/// Makes each page name itself as the next, or the second page the first.
fn change_cursor(is_cycle: bool, call: &ReceivedCall<'_>, change: &mut Interference) {
    const START: &str = "c0ffee";
    let Some((before, cursor)) = call.target.split_once("cursor=") else { return };
    if cursor == START {
        change.target = Some(before.trim_end_matches(['?', '&']).to_owned());
        return;
    }
    let next = if is_cycle { START.to_owned() } else { cursor.to_owned() };
    change.reply = Some(Box::new(move |mut reply| {
        let Ok(mut page) = serde_json::from_slice::<serde_json::Value>(&reply.body) else { return reply };
        if page["meta"].is_object() {
            let link = page["links"]["self"].as_str().unwrap_or_default().split("&cursor").next().unwrap().to_owned();
            page["links"]["next"] = format!("{link}&cursor={next}").into();
            page["meta"]["cursor"] = next.into();
            reply.body = page.to_string().into();
        }
        reply
    }));
}
