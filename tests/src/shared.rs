//! Where the foreign corpora stand, when they stand anywhere.

use std::path::PathBuf;

/// The folder of foreign material: `GPUCC_SHARED`, else `../shared` beside the workspace; `None`
/// (and then the caller says that it skips) when there is no such folder.
pub fn shared() -> Option<PathBuf> {
    let path = match std::env::var_os("GPUCC_SHARED") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    path.is_dir().then_some(path)
}

/// The corpus: `GPUCC_CORPUS`, else `corpus` within [`shared`].
pub fn corpus() -> Option<PathBuf> {
    let path = match std::env::var_os("GPUCC_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => shared()?.join("corpus"),
    };
    path.is_dir().then_some(path)
}

/// The line that a test prints when the material it measures on is absent.
pub const SKIPPED: &str = "skipped: ../shared is absent (set GPUCC_SHARED or GPUCC_CORPUS)";
