//! An installed PostgreSQL server for these tests, in a temporary folder, a database for each.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

/// Server and folder end with these tests, when the standard input of this script is closed. A
/// server that was killed starts again.
const SCRIPT: &str = r#"
folder=$(mktemp -d) && cd "$folder" && printf %s "$KEY" >key && chmod 600 key && printf %s "$CERTIFICATE" >certificate || exit 1
"$BIN/initdb" -D data -U admin -A trust --no-sync --no-instructions --locale=C.UTF-8 >log 2>&1
printf 'host all admin 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n' >data/pg_hba.conf
while [ ! -e end ]; do
    "$BIN/postgres" -D data -p "$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c shared_buffers=16MB \
        -c ssl=on -c ssl_key_file="$folder/key" -c ssl_cert_file="$folder/certificate" $MORE >>log 2>&1
    sleep 0.1
done &
cat >/dev/null
touch end
kill -INT $(head -1 data/postmaster.pid)
wait
rm -rf "$folder"
"#;

pub struct Server {
    port: u16,
    _guard: Child,
}

/// The folder of the programs of the newest package.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let found = versions.flatten().map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    found.max()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn start(programs: &Path, more: &str) -> Server {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fixture = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/authority");
        std::fs::read_to_string(folder.join(name)).unwrap()
    };
    // The server refuses to run as root.
    let mut command = if is_root() { Command::new("setpriv") } else { Command::new("env") };
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command
        .args(["sh", "-c", SCRIPT])
        .current_dir("/")
        .env("BIN", programs)
        .env("MORE", more)
        .env("PORT", port.to_string());
    command.env("KEY", fixture("server.key")).env("CERTIFICATE", fixture("server.pem")).env("TMPDIR", "/tmp");
    let guard = command.stdin(Stdio::piped()).spawn().unwrap();
    Server { port, _guard: guard }
}

/// The server; `None`, with a remark, without the package: with `CI` set that is an error.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(|| own_server("")).as_ref()
}

/// A server that a test may kill, with more options; `None` without the package.
pub fn own_server(more: &str) -> Option<Server> {
    let server = programs().map(|programs| start(&programs, more));
    if server.is_none() {
        assert!(std::env::var_os("CI").is_none(), "PostgreSQL is not installed: apt-get install postgresql");
        println!("NOT tested: PostgreSQL is not installed");
    }
    server
}

/// Roles belong to the server, so one test at a time changes them.
fn lock() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A database of its own, with the people ana and ben, carl who may only read, and dora who leads.
pub struct Database {
    pub name: String,
    pub port: u16,
    pub threads: Runtime,
    pub admin: Client,
}

impl Database {
    pub fn new(server: &Server, name: &str) -> Self {
        let threads = Runtime::new().unwrap();
        let _lock = lock();
        let admin = connect_patiently(&threads, server.port, "postgres");
        threads.block_on(admin.batch_execute(&format!("CREATE DATABASE {name}"))).unwrap();
        for person in ["ana", "ben", "carl", "dora"] {
            // Another test may have made it.
            let _ = threads
                .block_on(admin.batch_execute(&format!("CREATE ROLE {person} LOGIN PASSWORD 'pw-{person}-5ecret'")));
        }
        let admin = connect_patiently(&threads, server.port, name);
        Self { name: name.to_owned(), port: server.port, threads, admin }
    }

    /// The same with a connection of its own.
    pub fn again(&self) -> Self {
        let threads = Runtime::new().unwrap();
        let admin = connect_patiently(&threads, self.port, &self.name);
        Self { name: self.name.clone(), port: self.port, threads, admin }
    }

    /// Connects again, after the server was killed.
    pub fn reconnect(&mut self) {
        self.admin = connect_patiently(&self.threads, self.port, &self.name);
    }

    /// The address for a person, with the password.
    pub fn url(&self, person: &str) -> String {
        let Self { name, port, .. } = self;
        format!("postgres://{person}:pw-{person}-5ecret@127.0.0.1:{port}/{name}?sslmode=disable")
    }

    /// Runs `behaview team init` as the administrator, and gives the people their roles.
    pub fn init(&self, mut behaview: Command) {
        let _lock = lock();
        behaview.args(["team", "init"]).env("BEHAVIEW_TEAM_URL", self.url("admin"));
        let output = behaview.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        self.run("GRANT behaview_analyst TO ana, ben; GRANT behaview_reader TO carl; GRANT behaview_lead TO dora");
    }

    pub fn run(&self, statements: &str) {
        self.try_run(statements).unwrap();
    }

    pub fn try_run(&self, statements: &str) -> Result<(), tokio_postgres::Error> {
        self.threads.block_on(self.admin.batch_execute(statements))
    }

    /// The first column of the first row, as text.
    pub fn ask(&self, question: &str) -> String {
        let rows = self.threads.block_on(self.admin.simple_query(question)).unwrap();
        let row = rows.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        row.unwrap_or_default()
    }

    /// The refusal of a statement by a person; `None` if it was carried out.
    pub fn refusal(&self, person: &str, statement: &str) -> Option<String> {
        let done = async {
            let (client, connection) = tokio_postgres::connect(&self.url(person), NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(statement).await
        };
        self.threads.block_on(done).err().map(|error| error.as_db_error().unwrap().message().to_owned())
    }
}

/// Connects as soon as the server has started.
fn connect_patiently(threads: &Runtime, port: u16, database: &str) -> Client {
    let began = Instant::now();
    loop {
        match threads.block_on(connect(port, "admin", database)) {
            Ok(client) => return client,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

async fn connect(port: u16, user: &str, database: &str) -> Result<Client, tokio_postgres::Error> {
    let address = format!("postgres://{user}@127.0.0.1:{port}/{database}?sslmode=disable");
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
