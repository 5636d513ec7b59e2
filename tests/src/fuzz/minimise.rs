//! Smaller inputs that find the same.

use super::{Language, child, mutate};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs that one input may cost.
const MOST_RUNS: usize = 600;
/// Time after which an input is small enough: some abort only when a GiB is full.
const MOST_TIME: Duration = Duration::from_secs(60);

/// Makes a file smaller while it finds what `name` says, and drops the options that it does not need; gives those that
/// it does. What takes too much time or memory stays as it is.
///
/// # Errors
/// Files that cannot be written, processes that cannot be started.
pub fn file(
    language: Language,
    file: &Path,
    how: &[String],
    name: &str,
) -> io::Result<Vec<String>> {
    let mut how = how.to_vec();
    if ["time", "memory", "hang"].iter().any(|start| name.starts_with(start)) {
        return Ok(how);
    }
    let finds = |how: &[String]| -> io::Result<bool> {
        Ok(child::file(language, file, how)?.bug.as_deref() == Some(name))
    };
    if !finds(&how)? {
        return Ok(how);
    }
    let mut plain = how.clone();
    if let Some(variant) = plain.iter().position(|word| word == "--variant") {
        plain[variant + 1] = "0".to_owned();
        if finds(&plain)? {
            how = plain;
        }
    }
    let original = std::fs::read(file)?;
    let mut pieces = pieces(language, &original);
    let start = Instant::now();
    let mut runs = 0;
    let mut size = pieces.len() / 2;
    while size > 0 && runs < MOST_RUNS && start.elapsed() < MOST_TIME {
        let mut at = 0;
        let mut smaller = false;
        while at < pieces.len() && runs < MOST_RUNS && start.elapsed() < MOST_TIME {
            let end = (at + size).min(pieces.len());
            let mut fewer = pieces.clone();
            fewer.drain(at..end);
            std::fs::write(file, fewer.concat())?;
            runs += 1;
            if finds(&how)? {
                pieces = fewer;
                smaller = true;
            } else {
                at = end;
            }
        }
        if !smaller || size > 1 {
            size /= 2;
        }
    }
    std::fs::write(file, pieces.concat())?;
    Ok(how)
}

/// The pieces that are left out one by one: words of text, instructions of SPIR-V.
fn pieces(language: Language, bytes: &[u8]) -> Vec<Vec<u8>> {
    match (language, std::str::from_utf8(bytes)) {
        (Language::SpirV, _) => super::words::pieces(bytes),
        (_, Ok(text)) => {
            mutate::words(text).into_iter().map(|word| word.as_bytes().to_vec()).collect()
        }
        (_, Err(_)) => bytes.iter().map(|&byte| vec![byte]).collect(),
    }
}
