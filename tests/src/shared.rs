//! Where foreign material stands, when it stands anywhere, and the one way in which a test says that it skips. A file of
//! its own, for the tests of other crates include it.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of foreign material: `GPUCC_SHARED`, else `../shared` beside the workspace; `None` when there is no such
/// folder.
pub fn shared() -> Option<PathBuf> {
    let path = match std::env::var_os("GPUCC_SHARED") {
        Some(path) => PathBuf::from(path),
        None => workspace().join("../shared"),
    };
    path.is_dir().then_some(path)
}

/// The workspace that the including crate belongs to: the nearest folder with a lock file.
fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut above = own.ancestors();
    above.find(|folder| folder.join("Cargo.lock").is_file()).unwrap_or(own)
}

/// The corpus: `GPUCC_CORPUS`, else `corpus` within [`shared`].
#[allow(dead_code, reason = "not every test reads it")]
pub fn corpus() -> Option<PathBuf> {
    let path = match std::env::var_os("GPUCC_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => shared()?.join("corpus"),
    };
    path.join("index.jsonl").is_file().then_some(path)
}

/// The corpus; where it is absent, the test says that it skips.
#[allow(dead_code, reason = "not every test reads it")]
pub fn corpus_or_skip() -> Option<PathBuf> {
    let found = corpus();
    if found.is_none() {
        skip("the corpus");
    }
    found
}

/// The text of a file within [`shared`]; where it is absent, the test says that it skips.
#[allow(dead_code, reason = "not every test reads it")]
pub fn text_or_skip(file: &str) -> Option<String> {
    let text = shared().and_then(|folder| std::fs::read_to_string(folder.join(file)).ok());
    if text.is_none() {
        skip(file);
    }
    text
}

/// Says that the running test skips for want of something: on stderr itself, for what a passing test prints is not
/// shown, and in the file that `GPUCC_SKIPPED` names, where `.ci/run` counts the lines.
pub fn skip(what: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let krate = env!("CARGO_PKG_NAME");
    let line = format!("skipped: {krate} {test}: {what} is absent (set GPUCC_SHARED)\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(list) = std::env::var_os("GPUCC_SKIPPED") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
        // One write, so that lines of tests that run at once stay whole.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "GPUCC_SKIPPED names no file that can be written");
    }
}
