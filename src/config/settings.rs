//! The table of settings. `config show` and `config init`, the README, and the variables read it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Dotted name in the file; `*` stands for a name that the user chooses.
    pub name: &'static str,
    /// What holds where nobody says anything, as TOML; empty for nothing.
    pub default: &'static str,
    /// A value to start from, as TOML.
    pub example: &'static str,
    /// What it does, in a few words.
    pub help: &'static str,
    /// How much of its value may be shown.
    pub shown: Shown,
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Whole,
    /// All but the name and password in an address.
    Address,
    /// All of a name; what is as long as a key may be one, for the service takes it in a name's place.
    Name,
    Hidden,
}

/// Before the settings of a service.
const PROFILE: &str = "profiles.*.";

const fn row(name: &'static str, default: &'static str, example: &'static str, help: &'static str) -> Setting {
    Setting { name, default, example, help, shown: Shown::Whole }
}

/// Every setting, as `config show` lists them and `config init` writes them.
pub static SETTINGS: &[Setting] = &[
    row("profile", "\"virustotal\"", "\"lab\"", "The service that is asked: \"virustotal\", or one of [profiles]"),
    Setting {
        shown: Shown::Hidden,
        ..row("api_key", "", "\"...\"", "The key; a command or a variable keeps it out of this file")
    },
    Setting {
        shown: Shown::Hidden,
        ..row("api_key_command", "", "\"pass show scanning\"", "A command whose first line of output is the key")
    },
    row("offline", "false", "true", "Send nothing: only what is held is shown"),
    row("log_level", "\"info\"", "\"debug\"", "How much is logged: off, error, warn, info or debug"),
    row(
        "budget.session",
        "",
        "20",
        "Units that one run of the program may cost at worst; what may cost more is not sent",
    ),
    row("budget.daily", "", "100", "Units that all runs of one day (UTC) with this service and key may cost at worst"),
    row("budget.confirm_above", "", "10", "The app wants a yes for what costs more"),
    row("follow.interval", "30", "60", "Seconds between two looks at a scan that is followed"),
    row("follow.looks", "20", "50", "The most calls that following one scan makes"),
    row(
        "store.keep",
        "\"everything\"",
        "\"nothing\"",
        "What is kept of the answers on disk: \"everything\" or \"nothing\"",
    ),
    row("store.days", "", "30", "What came longer ago is deleted at the start"),
    row("store.megabytes", "", "2000", "What came first is deleted at the start, until no more is left"),
    row(
        "look.theme",
        "\"auto\"",
        "\"light\"",
        "\"dark\", \"light\", \"contrast\", \"mono\", or \"auto\": as COLORFGBG says, else dark",
    ),
    row("look.ascii", "false", "true", "Show ASCII alone; a locale without UTF-8 says so by itself"),
    row("look.mouse", "false", "true", "Take the mouse: click, wheel, drag a border; with Shift it still selects text"),
    row("look.plain", "false", "true", "Say it all in lines, and draw nothing"),
    row(
        "keys.*",
        "",
        "[\"Z\", \"f11\"]",
        "The key or keys of a command, by its name in the table of keys; \"none\" for none",
    ),
    row("entitlements.premium_api", "", "true", "Whether premium API is bought; left out, the service's counters tell"),
    row("entitlements.premium_intelligence", "", "false", "Whether premium intelligence is bought"),
    row("entitlements.private_scanning", "", "true", "Whether there is a private scanning licence"),
    Setting {
        shown: Shown::Address,
        ..row(
            "profiles.*.root",
            "\"https://www.virustotal.com\"",
            "\"https://scanner.example\"",
            "Address of the service: https, or http on 127.0.0.1",
        )
    },
    row("profiles.*.v3_prefix", "\"/api/v3\"", "\"/api/v3\"", "Path before every operation of API v3"),
    row("profiles.*.v2_prefix", "\"/vtapi/v2\"", "\"/svcapi/v2\"", "Path before every operation of API v2"),
    row("profiles.*.header", "\"x-apikey\"", "\"x-apikey\"", "Header that carries the key in API v3"),
    Setting {
        shown: Shown::Name,
        ..row("profiles.*.user", "", "\"spellman\"", "Your name at the service, where it has one")
    },
    row(
        "profiles.*.listing",
        "\"reports\"",
        "\"identifiers\"",
        "What lists bring along: \"reports\" or \"identifiers\" only",
    ),
    row("profiles.*.page_size", "40", "10", "Most items that a page of a list is asked for; each page costs a call"),
    Setting {
        shown: Shown::Address,
        ..row(
            "profiles.*.proxy",
            "",
            "\"env\"",
            "Way to the service: \"env\" for HTTPS_PROXY and NO_PROXY, or the proxy's address; left out, none is used",
        )
    },
    row("profiles.*.ca_file", "", "\"/etc/ssl/lab.pem\"", "Certificates (PEM) that are trusted beside the system's"),
    row("profiles.*.connect_timeout", "10", "10", "Seconds that a connection may take to be made"),
    row(
        "profiles.*.timeout",
        "60",
        "120",
        "Seconds that the service may be silent once asked; then its answer counts as lost",
    ),
    row("profiles.*.patience", "300", "900", "Seconds that an answer may take at any pace"),
    row("profiles.*.slowest", "1024", "256", "Bytes a second at which it has to have come after that"),
    row(
        "profiles.*.largest_answer",
        "1024",
        "256",
        "Longest answer that is taken, in mebibytes after decompression; it may need five times as much memory, and the indicators of millions of short rows 2 GB more",
    ),
    row("profiles.*.upload_direct", "32", "32", "Largest file that goes along with one call, in mebibytes"),
    row("profiles.*.upload_largest", "650", "650", "Largest file that is uploaded at all, in mebibytes"),
    Setting {
        shown: Shown::Address,
        ..row(
            "profiles.*.upload_host",
            "",
            "\"https://files.scanner.example\"",
            "Another host that the service may name for large files; the key is not sent there",
        )
    },
    row(
        "profiles.*.fields.sandbox",
        "\"interaction_sandbox\"",
        "\"machine\"",
        "Name of the form's field for the sandbox",
    ),
    row("profiles.*.fields.internet", "\"enable_internet\"", "\"network\"", "Name of the field for internet access"),
    row(
        "profiles.*.fields.retention",
        "\"retention_period_days\"",
        "\"keep_days\"",
        "Name of the field for the days that the file is kept",
    ),
    row(
        "profiles.*.fields.command_line",
        "\"command_line\"",
        "\"arguments\"",
        "Name of the field for the command line",
    ),
    row("profiles.*.fields.password", "\"password\"", "\"secret\"", "Name of the field for the password"),
];

impl Setting {
    /// The setting that a dotted name means; of a service's settings the last part is enough, for the service that is asked.
    pub fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.is(name) || setting.of_profile() == Some(name))
    }

    /// The name of a setting that differs little from one that is none's.
    pub(super) fn like(name: &str) -> Option<&'static str> {
        let names = SETTINGS.iter().flat_map(|setting| [Some(setting.name), setting.of_profile()]).flatten();
        let names = names.filter(|known| !known.contains('*')).map(|known| (distance(name, known), known));
        names.min().filter(|(distance, known)| *distance <= known.len().div_ceil(4)).map(|(_, known)| known)
    }

    /// Whether a full dotted name is this setting's.
    pub fn is(&self, name: &str) -> bool {
        match self.name.split_once(".*") {
            None => self.name == name,
            Some((before, after)) => name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.strip_suffix(after))
                .is_some_and(|chosen| !chosen.is_empty()),
        }
    }

    /// Its name among a service's settings, if it is one of them.
    pub fn of_profile(&self) -> Option<&'static str> {
        self.name.strip_prefix(PROFILE)
    }

    /// Its full name, with the name that the user chose in the place of `*`.
    pub fn full(&self, chosen: &str) -> String {
        self.name.replacen('*', chosen, 1)
    }

    /// The variable that sets it; that of a service's setting sets it for the service that is asked. A setting with a
    /// name that the user chooses has none.
    pub fn variable(&self) -> Option<String> {
        let name = self.of_profile().unwrap_or(self.name);
        (!name.contains('*')).then(|| format!("BEHAVIEW_{}", name.to_ascii_uppercase().replace('.', "_")))
    }

    /// Its full name in the file to start from.
    fn example_name(&self) -> String {
        self.full(if self.of_profile().is_some() { "lab" } else { "zoom" })
    }
}

/// How many letters have to be put in, taken out or changed to make one name of another.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in (1..).zip(one.bytes()) {
        let (mut before, mut left) = (line - 1, line);
        for (place, wanted) in row.iter_mut().skip(1).zip(other.bytes()) {
            let above = *place;
            left = (before + usize::from(letter != wanted)).min(above + 1).min(left + 1);
            (before, *place) = (above, left);
        }
        row.first_mut().into_iter().for_each(|first| *first = line);
    }
    row.last().copied().unwrap_or_default()
}

/// A config file to start from: every setting with what it does, each behind a `#`.
pub fn commented() -> String {
    let mut text = "# Everything here is optional, and shown as an example: take the # before a line away to set it.\n\
                    # A flag wins over a variable, a variable over this file. `behaview config show` tells what holds,\n\
                    # `behaview config check` what is wrong.\n"
        .to_owned();
    let mut section = String::new();
    for setting in SETTINGS {
        let full = setting.example_name();
        let (table, name) = full.rsplit_once('.').unwrap_or(("", &full));
        if table != section {
            text += &format!("\n#[{table}]\n");
            section = table.to_owned();
        } else if table.is_empty() {
            text += "\n";
        }
        let variable = setting.variable().map(|name| format!(" ({name})")).unwrap_or_default();
        let default =
            if setting.default.is_empty() { String::new() } else { format!("; {} without it", setting.default) };
        text += &format!("# {}{default}{variable}\n", setting.help);
        text += &format!("#{name} = {}\n", setting.example);
    }
    text
}
