//! Files: read with clear errors, written whole or not at all.

use super::names::shown;
use gpucc::Failure;
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Sources larger than this are refused before they are read.
pub const LARGEST_INPUT: u64 = 256 << 20;

/// Reads a file, or stdin for `-`.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let too_large =
        || Failure::usage(format!("{} is larger than {} MiB", shown(path), LARGEST_INPUT >> 20));
    let mut bytes = Vec::new();
    let result = if path == Path::new("-") {
        std::io::stdin().lock().take(LARGEST_INPUT + 1).read_to_end(&mut bytes)
    } else {
        if path.is_dir() {
            return Err(Failure::usage(format!("cannot read {}: it is a folder", shown(path)))
                .note("`gpucc batch` compiles folders"));
        }
        fs::File::open(path).and_then(|file| file.take(LARGEST_INPUT + 1).read_to_end(&mut bytes))
    };
    match result {
        Ok(_) if bytes.len() as u64 > LARGEST_INPUT => Err(too_large()),
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(Failure::usage(format!("cannot read {}: {}", shown(path), reason(&error))))
        }
    }
}

/// Reads text that is no shader, or says at which byte it is not text.
///
/// # Errors
/// [`Failure`] of exit code 2.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    text(path, read(path)?).map_err(|failure| Failure::usage(failure.summary()))
}

/// Bytes as text, or an error that says where they are not. A byte-order mark is dropped.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::invalid(format!(
            "{} is not UTF-8 text: the byte at offset {} does not belong",
            shown(path),
            error.utf8_error().valid_up_to()
        ))
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Makes a folder and its parents.
///
/// # Errors
/// [`Failure`] of exit code 2 with the reason.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::usage(format!("cannot make the folder {}: {}", shown(folder), reason(&error)))
    })
}

/// An I/O error in plain words.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or folder".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "a file is in the way".into(),
        ErrorKind::StorageFull => "no space is left".into(),
        _ => error.to_string(),
    }
}

static SCRATCH: AtomicU32 = AtomicU32::new(0);

/// Outputs of one command: written next to their places first and moved there together at the end, so
/// that an error leaves nothing half written.
#[derive(Default)]
pub struct Outputs {
    stdout: Vec<u8>,
    files: Vec<(PathBuf, Vec<u8>)>,
    binary_on_stdout: bool,
    sources: Vec<PathBuf>,
}

impl Outputs {
    /// Adds to stdout.
    pub fn print(&mut self, text: &str) {
        self.stdout.extend_from_slice(text.as_bytes());
    }

    /// A source that no output may replace.
    pub fn keep(&mut self, source: &Path) {
        self.sources.push(source.to_owned());
    }

    /// Sends bytes to a path (`-` or none is stdout).
    pub fn put(&mut self, path: Option<&Path>, bytes: Vec<u8>, binary: bool) {
        match path {
            Some(path) if !is_stdout(path) => self.files.push((path.to_owned(), bytes)),
            _ => {
                self.binary_on_stdout |= binary;
                self.stdout.extend_from_slice(&bytes);
            }
        }
    }

    /// The files that will be written.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Writes everything.
    pub fn commit(self) -> Result<(), Failure> {
        if self.binary_on_stdout && std::io::stdout().is_terminal() {
            return Err(Failure::usage("machine code is not written to a terminal")
                .note("name a file with -o PATH, or ask for --emit hex or asm"));
        }
        let sources: BTreeSet<PathBuf> = self.sources.iter().map(|path| identity(path)).collect();
        let mut places = BTreeSet::new();
        for (path, _) in self.files.iter().filter(|(path, _)| !is_device(path)) {
            let place = identity(path);
            if sources.contains(&place) {
                return Err(Failure::usage(format!(
                    "the output {} would replace what was read",
                    shown(path)
                )));
            }
            if !places.insert(place) {
                return Err(Failure::usage(format!(
                    "two outputs have the same path {}",
                    shown(path)
                )));
            }
        }
        let mut moves: Vec<(PathBuf, PathBuf)> = Vec::new();
        let result = self.write_all(&mut moves);
        if result.is_err() {
            for (temporary, _) in &moves {
                // A scratch file that cannot be removed stays.
                let _ = fs::remove_file(temporary);
            }
        }
        result
    }

    /// `moves` are the scratch files that were made, with their places.
    fn write_all(&self, moves: &mut Vec<(PathBuf, PathBuf)>) -> Result<(), Failure> {
        let fail = |path: &Path, problem: &dyn std::fmt::Display| {
            Failure::usage(format!("cannot write {}: {problem}", shown(path)))
        };
        for (path, bytes) in &self.files {
            // Devices and pipes are written in place: a rename would replace them.
            if is_device(path) {
                fs::write(path, bytes).map_err(|error| fail(path, &reason(&error)))?;
                continue;
            }
            if path.is_dir() {
                return Err(fail(path, &"it is a folder"));
            }
            let place = behind_links(path);
            let temporary = scratch(&place).ok_or_else(|| fail(path, &"it names no file"))?;
            moves.push((temporary.clone(), place));
            fs::write(&temporary, bytes).map_err(|error| fail(path, &reason(&error)))?;
        }
        write_stdout(&self.stdout)?;
        for (temporary, place) in moves.iter() {
            fs::rename(temporary, place).map_err(|error| fail(place, &reason(&error)))?;
        }
        Ok(())
    }
}

/// The spellings of stdout. The last two may lead to a file, whose other writers a rename would cut off.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// What is there already and is neither a file nor a folder, and open files by their numbers.
fn is_device(path: &Path) -> bool {
    ["/dev/fd", "/dev/stderr", "/proc"].iter().any(|root| path.starts_with(root))
        || fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// The file that a path leads to: links are followed, so that they stay links.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// One name for all spellings of a file that need not be there.
fn identity(path: &Path) -> PathBuf {
    let path = behind_links(path);
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// A new name in the folder of a file; `None` where the path names no file.
fn scratch(path: &Path) -> Option<PathBuf> {
    path.file_name()?;
    let number = SCRATCH.fetch_add(1, Ordering::Relaxed);
    let name = format!(".gpucc-{}-{number}.tmp", std::process::id());
    Some(path.with_file_name(name))
}

/// Writes to stdout. A closed pipe (`| head`) is no error.
pub fn write_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::usage(format!("cannot write to stdout: {}", reason(&error)))),
    }
}

/// Writes to stderr. A failure to do so cannot be reported.
pub fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
