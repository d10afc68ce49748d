//! The report that the demo makes on the fly, of any size.

use behaview::demo::{Demo, Options};

/// A report with so many rows, as the service sends it.
pub fn make(rows: u64) -> Vec<u8> {
    // A second report finds the provider chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let threads = tokio::runtime::Runtime::new().unwrap();
    threads.block_on(async {
        let demo = Demo::start(Options { rows, ..Options::default() }).await.unwrap();
        let files = Demo::files();
        let busy = files.iter().find(|file| file.title.contains("Busy")).unwrap();
        let id = format!("{}_Observatory%2011-1794474845", busy.sha256);
        let address = format!("{}/private/file_behaviours/{id}", demo.root());
        let answer = reqwest::Client::new().get(address).header("x-apikey", demo.key()).send().await.unwrap();
        answer.error_for_status().unwrap().bytes().await.unwrap().into()
    })
}
