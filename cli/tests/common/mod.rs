//! What several tests share: a folder of their own, the command, the samples, and proofs within the process.

#[path = "../../../tests/src/shared.rs"]
pub mod shared;

use gpucc::verify::verify;
use gpucc::{Choice, Compiler, Options, Source, SourceText, Target};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own for one test, gone at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("gpucc-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder can be made");
        Folder(path)
    }

    /// Writes a file; gives its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).expect("writable");
        path
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// The folder's own name.
    pub fn name(&self) -> String {
        let name = self.0.file_name().expect("made with one");
        name.to_string_lossy().into_owned()
    }

    /// Names of what is in it, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("readable").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn samples_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples")
}

/// The path of a sample.
pub fn sample(name: &str) -> String {
    let path = samples_folder().join(name);
    path.to_string_lossy().into_owned()
}

/// Every sample, sorted by name.
pub fn samples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(samples_folder())
        .expect("the samples are there")
        .map(|entry| entry.expect("a folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "wgsl"))
        .collect();
    files.sort();
    files
}

/// Runs the command with nothing on stdin.
pub fn gpucc<S: AsRef<OsStr>>(args: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpucc")).args(args).output().expect("gpucc starts")
}

/// What a run printed, on stdout and then on stderr.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The RGBA bytes of a PNG.
pub fn pixels(path: &str) -> Vec<u8> {
    let file = std::io::BufReader::new(fs::File::open(path).expect("written"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
    reader.next_frame(&mut pixels).expect("a picture");
    pixels
}

/// Verifies every entry point of a source on 16 inputs, the compiled bytes against the interpreter, and each
/// shared pass.
#[track_caller]
pub fn verified(target: Target, options: Options, name: &str, source: Source<'_>) {
    verified_on((target, None), options, name, source);
}

/// As [`verified`], on a chip; the first one of the machine where there is none.
#[track_caller]
pub fn verified_on(
    (target, chip): (Target, Option<&str>),
    mut options: Options,
    name: &str,
    source: Source<'_>,
) {
    let compiler = Compiler::new(target, chip).expect("the target is built");
    let what = format!("{name} on {}", target.name());
    options.keep_steps = true;
    let parsed = compiler
        .parse(source, Choice::default(), &options)
        .unwrap_or_else(|failure| panic!("{what}: {}", failure.summary()));
    assert!(!parsed.entries.is_empty(), "{what} has no entry point");
    for entry in parsed.entries {
        let summary = entry
            .func
            .and_then(|func| compiler.compile(&func, &options))
            .and_then(|compiled| {
                let text = SourceText::new(name, None);
                verify(&compiler, &compiled, &text, &options, 16, 1)
            })
            .unwrap_or_else(|failure| panic!("{what}: {}", failure.summary()));
        let first = summary.first.as_ref().map(ToString::to_string);
        assert!(summary.holds() && first.is_none(), "{what}: {first:?}");
        assert!(summary.words > 0, "{what}: nothing was compared");
    }
}
