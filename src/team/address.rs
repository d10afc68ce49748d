//! The team store's address: host, user and database, with password and kind of connection.

use super::{TeamError, TeamSettings};
use crate::environment::Variables;
use crate::files;
use crate::text::to_visible;
use percent_encoding::percent_decode_str;
use rustls_tokio_postgres::{MakeRustlsConnect, config_from_ca_cert, config_platform_verifier};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use url::Url;

/// How long encryption and the password may take, once the server's machine has responded.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum size of `~/.pgpass`, in bytes.
const MAX_PASSWORD_FILE_BYTES: u64 = 1 << 20;

const PORT: u16 = 5432;

const NO_URL: &str = "is not an address such as postgres://ana@db.example/behaview";
const NO_OPTION: &str = "has an option other than sslmode, and host for a socket";
const NO_TLS_MODE: &str = "has a sslmode that is not verify-full: the connection is always encrypted and verified";
const IN_THE_CLEAR: &str = "may have sslmode=disable only for this machine (127.0.0.1 or a socket)";
const NO_NAME: &str = "names no user or no database";

/// A database server, and how to connect to it. Its parts are only shown without the password.
#[derive(Clone)]
pub(super) struct TeamAddress {
    config: Config,
    is_encrypted: bool,
    ca_file: Option<PathBuf>,
    /// How long the server's machine may take to respond.
    timeout: Duration,
    label: String,
}

impl TeamAddress {
    /// Parses `team.url`; takes the password from it, `PGPASSWORD` or a file. Does not connect.
    pub(super) fn parse(
        TeamSettings { url, ca_file, timeout, .. }: TeamSettings<'_>,
        variable: Variables<'_>,
        home: Option<&Path>,
    ) -> Result<Self, TeamError> {
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "postgres" | "postgresql"));
        let url = url.ok_or(TeamError::Address(NO_URL))?;
        let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let mut host = decoded(url.host_str().unwrap_or_default()).trim_matches(['[', ']']).to_owned();
        let mut mode = None;
        for (name, value) in url.query_pairs() {
            match &*name {
                "sslmode" => mode = Some(value.into_owned()),
                "host" if matches!(&*host, "" | "localhost") && value.starts_with('/') => host = value.into_owned(),
                _ => return Err(TeamError::Address(NO_OPTION)),
            }
        }
        let user = decoded(url.username());
        let database = decoded(url.path().trim_start_matches('/'));
        if host.is_empty() || url.fragment().is_some() {
            return Err(TeamError::Address(NO_URL));
        }
        if user.is_empty() || database.is_empty() {
            return Err(TeamError::Address(NO_NAME));
        }
        let is_socket = host.starts_with('/');
        let is_here = is_socket || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let is_encrypted = match mode.as_deref() {
            Some("disable") if !is_here => return Err(TeamError::Address(IN_THE_CLEAR)),
            Some("disable") => false,
            None | Some("require" | "verify-ca" | "verify-full") => !is_socket,
            Some(_) => return Err(TeamError::Address(NO_TLS_MODE)),
        };
        let port = url.port().unwrap_or(PORT);
        let mut config = Config::new();
        config.host(&host).port(port).user(&user).dbname(&database).application_name("behaview");
        config.connect_timeout(timeout);
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        let password = match url.password() {
            Some(password) => Some(decoded(password)),
            None => match variable("PGPASSWORD") {
                Some(password) => Some(password),
                None => password_of_file([&host, &port.to_string(), &database, &user], variable, home)?,
            },
        };
        if let Some(password) = password {
            config.password(password);
        }
        let label = to_visible(format!("{user}@{host}/{database}")).to_string();
        Ok(Self { config, is_encrypted, ca_file, timeout, label })
    }

    /// User, host and database, safe to show.
    pub(super) fn label(&self) -> String {
        format!("{}, {}", self.label, if self.is_encrypted { "TLS" } else { "on this machine" })
    }

    /// Connects; the connection is served until the client is dropped.
    pub(super) async fn connect(&self) -> Result<Client, TeamError> {
        let late = |_| TeamError::Unreachable("it accepts connections, and does not respond".to_owned());
        timeout(HANDSHAKE_TIMEOUT + self.timeout, self.connected()).await.map_err(late)?
    }

    async fn connected(&self) -> Result<Client, TeamError> {
        if !self.is_encrypted {
            let (client, connection) = self.config.connect(NoTls).await?;
            tokio::spawn(connection);
            return Ok(client);
        }
        let untrusted = |why: String| TeamError::Unreachable(format!("its certificates: {}", to_visible(why)));
        let tls = match &self.ca_file {
            Some(path) => config_from_ca_cert(path).map_err(|why| untrusted(why.to_string()))?,
            None => config_platform_verifier().map_err(|why| untrusted(why.to_string()))?,
        };
        let (client, connection) = self.config.connect(MakeRustlsConnect::new(tls)).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

/// Finds a password by host, port, database and user, in `PGPASSFILE`'s file or `~/.pgpass`.
fn password_of_file(
    wanted: [&str; 4],
    variable: Variables<'_>,
    home: Option<&Path>,
) -> Result<Option<String>, TeamError> {
    let named = variable("PGPASSFILE").map(PathBuf::from);
    let Some(path) = named.or_else(|| home.map(|home| home.join(".pgpass"))).filter(|path| path.exists()) else {
        return Ok(None);
    };
    if files::is_open_to_others(&path) {
        return Err(TeamError::Exposed(path));
    }
    // Its content must not be in a message.
    let text = files::read_text(&path, MAX_PASSWORD_FILE_BYTES).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(fields);
    let mut fitting = lines.filter(|fields| {
        let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        fields.len() == 5 && fields.iter().zip(&wanted).all(fits)
    });
    Ok(fitting.next().and_then(|mut fields| fields.pop()))
}

/// Returns the fields of a line that colons separate; a backslash escapes a colon or a backslash.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' => fields.push(String::new()),
            '\\' => fields.iter_mut().last().into_iter().for_each(|last| last.extend(letters.next())),
            _ => fields.iter_mut().last().into_iter().for_each(|last| last.push(letter)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::super::{QUESTION_TIMEOUT, UnreachablePolicy};
    use super::*;

    fn parse(url: &str, variables: &[(&str, &str)], home: Option<&Path>) -> Result<TeamAddress, TeamError> {
        let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let unreachable = UnreachablePolicy::GoOn;
        let settings = TeamSettings { url, ca_file: None, unreachable, timeout: QUESTION_TIMEOUT };
        TeamAddress::parse(settings, &get, home)
    }

    #[test]
    fn an_unencrypted_connection_stays_on_this_machine() {
        for url in [
            "postgres://ana@db.example/b",
            "postgres://ana@127.0.0.1:1/b",
            "postgresql://a@[::1]/b?sslmode=verify-full",
        ] {
            assert!(parse(url, &[], None).unwrap().is_encrypted, "{url}");
        }
        for url in [
            "postgres://ana@127.0.0.1/b?sslmode=disable",
            "postgres://ana@[::1]/b?sslmode=disable",
            "postgres://ana@localhost/b?host=/run/pg",
            "postgres://ana@%2Frun/b",
        ] {
            assert!(!parse(url, &[], None).unwrap().is_encrypted, "{url}");
        }
        for url in [
            "postgres://ana:secret@db.example/b?sslmode=disable",
            "postgres://ana:secret@db.example/b?sslmode=prefer",
            "postgres://ana:secret@db.example/b?password=secret",
            "postgres://ana:secret@db.example/b?host=/run",
            "postgres://ana:secret@db.example",
            "postgres://:secret@db.example/b",
            "https://ana:secret@db.example/b",
            "secret",
        ] {
            let error = parse(url, &[], None).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn password_is_found_in_the_documented_order() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".pgpass");
        files::replace(&file, b"# any\nother:*:*:*:no\n*:5432:b:a\\:na:of\\\\file\n").unwrap();
        let password = |url: &str, variables: &[(&str, &str)]| {
            let found = parse(url, variables, Some(home.path())).unwrap();
            assert!(!found.label().contains("secret"), "{}", found.label());
            found.config.get_password().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
        };
        let set = [("PGPASSWORD", "variable")];
        assert_eq!(password("postgres://a%3Ana:se%63ret@h/b", &set).as_deref(), Some("secret"));
        assert_eq!(password("postgres://a%3Ana@h/b", &set).as_deref(), Some("variable"));
        assert_eq!(password("postgres://a%3Ana@h/b", &[]).as_deref(), Some("of\\file"));
        assert_eq!(password("postgres://a%3Ana@h:1/b", &[]), None);
        files::set_mode(&file, 0o644).unwrap();
        assert!(matches!(parse("postgres://ana@h/b", &[], Some(home.path())), Err(TeamError::Exposed(_))));
    }
}
