//! A team store of many reports and clients: times, and storage per report.
//!
//! `BEHAVIEW_TEAM_REPORTS=1000000 cargo test --test team growth -- --nocapture` fills a database of
//! its own (some minutes, 3 GB in /tmp), and prints the times of 100 clients with a question a
//! second each.

use super::server::own_server;
use super::wire::percentiles;
use super::*;
use behaview::report::compare::ValueHashes;
use behaview::team::{Team, TeamAnswer, TeamQuestion, TeamSettings, UnreachablePolicy};
use behaview::text::Untrusted;
use std::sync::Arc;
use tokio::sync::Barrier;

const CLIENTS: u64 = 100;

/// Questions of each client of each kind.
const QUESTIONS: u64 = 30;

/// A report of a few rows, which compresses to less than a KiB, as most small ones do.
fn body(number: u64) -> Vec<u8> {
    let row = |n: u64| {
        format!(
            r#"{{"key":"HKCU\\Software\\{:x}","value":"{n}"}}"#,
            number.wrapping_add(1).wrapping_mul(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        )
    };
    let rows = (1..30).map(row).collect::<Vec<_>>().join(",");
    format!(r#"{{"data":{{"id":"{number}","attributes":{{"registry_keys_set":[{rows}]}}}}}}"#).into_bytes()
}

fn fill(database: &Database, reports: u64) {
    database.run("CREATE TABLE body (number bigint, length bigint, digest bytea, packed bytea)");
    for number in 0..500 {
        let bytes = body(number);
        let packed = zstd::encode_all(&*bytes, 3).unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (length, bytes, packed) = (bytes.len(), hex(&bytes), hex(&packed));
        database.run(&format!("INSERT INTO body VALUES ({number}, {length}, sha256('\\x{bytes}'), '\\x{packed}')"));
    }
    for start in (0..reports).step_by(100_000) {
        let end = (start + 100_000).min(reports) - 1;
        database.run(&format!(
            "INSERT INTO behaview.response (service, key, received, digest, length, packed)
             SELECT 'bench', convert_to(format('behaviour %s_Box-17', encode(sha256(i::text::bytea), 'hex')), 'UTF8'),
                 1700000000000 + i, digest, length, packed FROM generate_series({start}, {end}) AS i JOIN body ON number = i % 500"
        ));
    }
    // 38 values each: of every report, of a family of a hundred, and of its own.
    let index = database.ask("SELECT pg_get_indexdef('behaview.report_hashes_idx'::regclass)");
    database.run(&format!(
        "SET session_replication_role = replica; TRUNCATE behaview.value; DROP INDEX behaview.report_hashes_idx;
         ALTER TABLE behaview.value DROP CONSTRAINT value_pkey; SET work_mem = '512MB'; SET maintenance_work_mem = '512MB';
         INSERT INTO behaview.report SELECT id, hashint8extended(id, 7), id % 5 + 10, array_append(ARRAY(
            SELECT hashint8extended(CASE WHEN n <= 8 THEN n WHEN n <= 20 THEN id / 100 * 100 + n ELSE id * 100 + n END, 3)
            FROM generate_series(1, 38) AS n), 1) FROM behaview.response;
         {index};
         INSERT INTO behaview.value SELECT h, s, count(*) FROM behaview.report, unnest(hashes) AS h, unnest(ARRAY[0, sandbox]) AS s
            GROUP BY 1, 2;
         ALTER TABLE behaview.value ADD PRIMARY KEY (hash, sandbox);
         SET session_replication_role = origin"
    ));
    database.run("VACUUM ANALYZE behaview.response, behaview.report, behaview.value");
    database.run("CHECKPOINT");
}

async fn ask(team: &Arc<Team>, key: &str, number: u64) -> TeamAnswer {
    let token = format!("{number}");
    team.ask(TeamQuestion { service: "bench", key: key.as_bytes(), token: &token, refused: &[] }).await.unwrap()
}

/// Opens what the team has, claims what it has not, and counts and finds its values; returns times.
async fn client(
    url: String,
    keys: Vec<(String, Vec<u64>)>,
    number: u64,
    connected: Arc<Barrier>,
) -> [Vec<Duration>; 4] {
    let timeout = Duration::from_secs(20);
    let settings = TeamSettings { url: &url, ca_file: None, unreachable: UnreachablePolicy::Refuse, timeout };
    let team = Arc::new(Team::new(settings, &|_| None, None).unwrap());
    let _ = ask(&team, &keys[0].0, number).await;
    connected.wait().await;
    let mut times = [const { Vec::new() }; 4];
    for (round, (key, hashes)) in keys.iter().enumerate() {
        tokio::time::sleep(Duration::from_millis((number * 7919 + round as u64 * 104_729) % 1000)).await;
        let began = Instant::now();
        let TeamAnswer::Stored(copy) = ask(&team, key, number).await else { panic!("{key} is not stored") };
        team.read(&copy, 1 << 20, |_, _| {}).await.unwrap();
        times[0].push(began.elapsed());
        tokio::time::sleep(Duration::from_millis((number * 15_485_863 + round as u64 * 32_452_843) % 1000)).await;
        let began = Instant::now();
        let TeamAnswer::Claimed(claim) = ask(&team, &format!("missing {number} {round}"), number).await else {
            panic!()
        };
        times[1].push(began.elapsed());
        claim.release().await;
        let values: Vec<_> = hashes.iter().step_by(4).map(|hash| ValueHashes { value: *hash, list: *hash }).collect();
        let began = Instant::now();
        let counted = team.prevalence(&values, &Untrusted::default()).await.unwrap();
        times[2].push(began.elapsed());
        assert!(counted.len() == values.len() && counted.iter().all(|counted| counted.files > 0), "{counted:?}");
        for hash in [hashes[0], hashes[15], hashes[30]] {
            let began = Instant::now();
            assert!(team.holders("bench", hash).await.unwrap().len() <= 1000);
            times[3].push(began.elapsed());
        }
    }
    times
}

#[test]
fn growth_of_a_team_store_is_measured() {
    let Some(reports) = std::env::var("BEHAVIEW_TEAM_REPORTS").ok().map(|number| number.parse::<u64>().unwrap()) else {
        return println!("NOT tested: growth (BEHAVIEW_TEAM_REPORTS is a number of reports)");
    };
    let Some(server) = own_server("-c max_connections=300 -c shared_buffers=512MB -c fsync=on -c max_wal_size=8GB")
    else {
        return;
    };
    let cli = CliHarness::new();
    let database = Database::new(&server, "growth");
    database.init(behaview(cli.home.path()));
    let began = Instant::now();
    fill(&database, reports);
    println!("{reports} reports filled in {:?}", began.elapsed());
    let size = |of: &str| database.ask(&format!("SELECT {of}('behaview.response') / {reports}"));
    println!("bytes per report: table {}, indexes {}", size("pg_table_size"), size("pg_indexes_size"));
    for table in ["report", "value"] {
        let size = |of: &str| database.ask(&format!("SELECT {of}('behaview.{table}') / {reports}"));
        println!(
            "bytes of {table} per report of 38 values: table {}, indexes {}",
            size("pg_table_size"),
            size("pg_indexes_size")
        );
    }
    let keys = database.ask(&format!(
        "SELECT string_agg(key || array_to_string(hashes, ' '), '|') FROM (
            SELECT convert_from(key, 'UTF8') || '#' AS key, hashes FROM behaview.response JOIN behaview.report ON id = response
            ORDER BY sha256(key) LIMIT {}) AS asked",
        CLIENTS * QUESTIONS
    ));
    let parsed = |row: &str| {
        let (key, hashes) = row.split_once('#').unwrap();
        (key.to_owned(), hashes.split(' ').map(|hash| hash.parse::<i64>().unwrap().cast_unsigned()).collect())
    };
    let keys: Vec<(String, Vec<u64>)> = keys.split('|').map(parsed).collect();
    let connected = Arc::new(Barrier::new(CLIENTS as usize));
    let clients: Vec<_> = keys
        .chunks(QUESTIONS as usize)
        .zip(0..)
        .map(|(keys, number)| {
            database.threads.spawn(client(database.url("ana"), keys.to_vec(), number, Arc::clone(&connected)))
        })
        .collect();
    let mut times = [const { Vec::new() }; 4];
    for client in clients {
        let all = database.threads.block_on(client).unwrap();
        times.iter_mut().zip(all).for_each(|(times, more)| times.extend(more));
    }
    for (what, times) in ["open", "claim", "count 10 values", "find who has a value"].into_iter().zip(&mut times) {
        println!("{CLIENTS} clients: {what} {}", percentiles(times));
    }
    let dora = Colleague::new(&cli, &database.url("dora"), PATIENT);
    for arguments in [&["team", "status"][..], &["team", "remove", "--down-to-mib", "500"]] {
        let began = Instant::now();
        println!("{}{arguments:?}: {:?}", text(&dora.run(arguments)), began.elapsed());
    }
}
