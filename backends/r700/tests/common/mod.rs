//! What tests against foreign facts share.
#![allow(clippy::print_stderr)]

use std::path::PathBuf;

/// `../shared` beside the checkout, or where GPUCC_SHARED says.
pub fn shared(file: &str) -> Option<String> {
    let root = match std::env::var_os("GPUCC_SHARED") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    let path = root.join(file);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(_) => {
            eprintln!("skipped: {} is not there", path.display());
            None
        }
    }
}
