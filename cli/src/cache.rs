//! `--cache`: blobs by their keys, in a folder or on a server.

use super::files::{self, Outputs};
use super::names::shown;
use gpucc::{Compiler, Diagnostic, Failure, Key, Severity, Stored};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of a blob that are read: far more than any has.
const MOST_BYTES: u64 = 256 << 20;

/// How long a server may take for one blob.
const PATIENCE: Duration = Duration::from_secs(10);

/// A cache that may fail: then entry points are compiled, and a warning says so once.
pub struct Cache {
    place: Place,
    hits: AtomicUsize,
    misses: AtomicUsize,
    trouble: Mutex<Vec<String>>,
}

enum Place {
    Folder(PathBuf),
    Server { agent: ureq::Agent, base: String },
}

impl Cache {
    /// A folder, which is made, or a server.
    ///
    /// # Errors
    /// A folder that cannot be made, and kinds of addresses that gpucc does not speak.
    pub fn open(place: &str) -> Result<Cache, Failure> {
        let place = match place.split_once("://") {
            Some(("http", rest)) if !rest.is_empty() => {
                let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).build();
                let base = place.trim_end_matches('/').to_owned();
                Place::Server { agent: config.into(), base }
            }
            Some(_) => {
                return Err(Failure::usage(format!(
                    "--cache {place}: write a folder or http://HOST/PATH"
                ))
                .note("for another protocol, run a proxy that speaks HTTP on this machine"));
            }
            None => {
                files::make_folder(Path::new(place))?;
                Place::Folder(place.into())
            }
        };
        let (hits, misses) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Cache { place, hits, misses, trouble: Mutex::default() })
    }

    /// The result of a key. What is damaged, or is another build's, counts as absent and is replaced.
    pub fn get(&self, compiler: &Compiler, key: &Key) -> Option<Stored> {
        let blob = self.read(key).unwrap_or_else(|problem| {
            self.report(problem);
            None
        });
        let stored = blob.and_then(|blob| match compiler.load(key, &blob) {
            Ok(stored) => Some(stored),
            Err(rejected) => {
                self.report(format!("{key}: {rejected}"));
                None
            }
        });
        let count = if stored.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        stored
    }

    /// Keeps a result, if it can.
    pub fn put(&self, key: &Key, blob: &[u8]) {
        if let Err(problem) = self.write(key, blob) {
            self.report(problem);
        }
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, String> {
        match &self.place {
            Place::Folder(folder) => {
                let path = path(folder, key);
                match fs::metadata(&path) {
                    Ok(found) if found.len() > MOST_BYTES => Ok(None),
                    _ => match fs::read(&path) {
                        Ok(blob) => Ok(Some(blob)),
                        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                        Err(error) => Err(format!("{}: {}", shown(&path), files::reason(&error))),
                    },
                }
            }
            Place::Server { agent, base } => {
                let url = format!("{base}/{key}");
                match agent.get(&url).call() {
                    Ok(mut reply) => {
                        let body = reply.body_mut().with_config().limit(MOST_BYTES).read_to_vec();
                        body.map(Some).map_err(|error| format!("{url}: {error}"))
                    }
                    Err(ureq::Error::StatusCode(404)) => Ok(None),
                    Err(error) => Err(format!("{url}: {error}")),
                }
            }
        }
    }

    fn write(&self, key: &Key, blob: &[u8]) -> Result<(), String> {
        match &self.place {
            Place::Folder(folder) => {
                let path = path(folder, key);
                files::make_folder(path.parent().expect("it has one"))
                    .and_then(|()| {
                        // Readers see a whole blob or none.
                        let mut outputs = Outputs::default();
                        outputs.put(Some(&path), blob.to_vec(), true);
                        outputs.commit()
                    })
                    .map_err(|failure| failure.summary().to_owned())
            }
            Place::Server { agent, base } => {
                let url = format!("{base}/{key}");
                let done = agent.put(&url).content_type("application/octet-stream").send(blob);
                done.map(drop).map_err(|error| format!("{url}: {error}"))
            }
        }
    }

    fn report(&self, problem: String) {
        self.trouble.lock().expect("nobody panics with it").push(problem);
    }

    /// How much it had, as a line.
    pub fn summary(&self) -> String {
        let [hits, misses] = [&self.hits, &self.misses].map(|count| count.load(Ordering::Relaxed));
        format!("cache: {hits} found, {misses} not\n")
    }

    /// What went wrong: the first problem, and how many there were.
    pub fn warning(&self) -> Option<Diagnostic> {
        let trouble = self.trouble.lock().expect("nobody panics with it");
        let first = trouble.first()?;
        let warning = Diagnostic::new(Severity::Warning, format!("the cache failed: {first}"));
        Some(match trouble.len() {
            1 => warning,
            all => warning.note(format!("it failed {all} times; what it lacked was compiled")),
        })
    }
}

/// A folder for each first byte, so that none has too many files.
fn path(folder: &Path, key: &Key) -> PathBuf {
    let name = key.to_string();
    folder.join(&name[..2]).join(format!("{name}.gpucc"))
}
