//! Checks that an HTML report has only its own elements, by a grammar stricter than HTML.

use regex::Regex;
use std::collections::{BTreeMap, HashSet};

const ELEMENTS: &str = "html head meta title style script body header nav main section footer h1 h2 h3 p div span a b small strong \
    code button input ul ol li table thead tbody tr th td details summary svg line path circle text";

const ATTRIBUTES: &str = "lang charset http-equiv content name id class href type placeholder aria-label hidden open viewBox role \
    x y x1 x2 y1 y2 cx cy r d text-anchor";

/// The page without what its one style and its one script contain.
pub fn without_own(page: &str) -> String {
    let own = Regex::new(r"(?s)<(style|script)>.*?</(style|script)>").unwrap();
    assert_eq!(own.find_iter(page).count(), 2);
    own.replace_all(page, "<$1></$2>").into_owned()
}

/// How often each element begins in a page; an error names what is not its own.
pub fn elements(page: &str) -> Result<BTreeMap<String, usize>, String> {
    let tag = Regex::new(r#"^<(/?)([a-z]+[0-9]?)((?: [a-zA-Z0-9-]+(?:="[^"<>]*")?)*)>"#).unwrap();
    let attribute = Regex::new(r#" ([a-zA-Z0-9-]+)(?:="([^"]*)")?"#).unwrap();
    let reference = Regex::new("&(?:amp|lt|gt|quot|#39);").unwrap();
    let is_in = |list: &str, name: &str| list.split_whitespace().any(|known| known == name);
    let page = without_own(page);
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("no document type")?;
    let (mut found, mut open, mut identifiers) = (BTreeMap::new(), Vec::new(), HashSet::new());
    while let Some(at) = rest.find('<') {
        let (text, markup) = rest.split_at(at);
        let about = || markup.chars().take(80).collect::<String>();
        if text.contains('>') || text.matches('&').count() != reference.find_iter(text).count() {
            return Err(format!("unescaped text: {text}"));
        }
        let Some(parts) = tag.captures(markup) else { return Err(format!("no tag: {}", about())) };
        let name = parts[2].to_owned();
        for part in attribute.captures_iter(&parts[3]) {
            let is_sound = match &part[1] {
                "href" => part[2].starts_with('#'),
                "id" => identifiers.insert(part[2].to_owned()),
                _ => true,
            };
            if !is_in(ATTRIBUTES, &part[1]) || !is_sound {
                return Err(format!("foreign attribute: {}", about()));
            }
        }
        match (&parts[1], name.as_str()) {
            (_, name) if !is_in(ELEMENTS, name) => return Err(format!("foreign element: {}", about())),
            ("/", name) if open.pop().as_deref() != Some(name) => return Err(format!("nothing to close: {}", about())),
            ("/", _) => {}
            (_, name) => {
                *found.entry(name.to_owned()).or_default() += 1;
                open.extend((!["meta", "input"].contains(&name)).then(|| name.to_owned()));
            }
        }
        rest = &markup[parts[0].len()..];
    }
    if open.is_empty() { Ok(found) } else { Err(format!("left open: {open:?}")) }
}
