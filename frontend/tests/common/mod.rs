//! Where the shared corpus is, and how its files are opened.

pub mod buffers;
#[path = "../../../tests/src/shared.rs"]
mod shared;

use gpucc_frontend::Source;
use gpucc_ir::ssa::Stage;
pub use shared::corpus_or_skip;
use std::path::Path;

/// Tests print through this, so that the ban on printing holds elsewhere.
#[allow(clippy::print_stdout, reason = "a test's report")]
pub fn say(line: &str) {
    println!("{line}");
}

/// A file of the corpus in memory.
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
    pub text: String,
    pub stage: Option<Stage>,
}

impl File {
    pub fn open(root: &Path, path: &str) -> File {
        let bytes = std::fs::read(root.join(path)).expect("the index names files that exist");
        let text = if path.ends_with(".spv") {
            String::new()
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let stage = match path.rsplit('.').next() {
            Some("vert") => Some(Stage::Vertex),
            Some("frag") => Some(Stage::Fragment),
            Some("comp") => Some(Stage::Compute),
            _ => None,
        };
        File { path: path.to_owned(), bytes, text, stage }
    }

    pub fn source(&self) -> Source<'_> {
        if self.path.ends_with(".spv") {
            return Source::SpirV(&self.bytes);
        }
        match self.stage {
            Some(stage) => Source::Glsl { text: &self.text, stage },
            None => Source::Wgsl(&self.text),
        }
    }
}
