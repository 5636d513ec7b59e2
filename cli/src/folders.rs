//! The shaders that `gpucc batch` is given: files, folders and lists, each shader once.

use super::files;
use super::names::shown;
use gpucc::{Diagnostic, Failure, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Suffixes of files that folders are searched for.
const SHADERS: [&str; 7] = ["wgsl", "spv", "vert", "frag", "comp", "glsl", "ir"];

/// Folders nest no deeper than this below one that is named.
const DEEPEST: u32 = 64;

/// A shader and where its outputs go within the folder.
pub struct File {
    /// Where it is read.
    pub path: PathBuf,
    /// The folder of its outputs, within the one of all outputs.
    pub inner: PathBuf,
    /// What its outputs are called by.
    pub stem: String,
}

impl File {
    fn new(path: PathBuf, inner: PathBuf) -> File {
        let stem = path.file_stem().unwrap_or_default();
        File { stem: stem.to_string_lossy().into_owned(), path, inner }
    }
}

/// What a search found.
pub struct Found {
    /// Suffixes of files that it looks for.
    suffixes: &'static [&'static str],
    /// Shaders, each once, in a stable order.
    pub files: Vec<File>,
    /// Places that could not be searched, with the reason.
    pub failures: Vec<(PathBuf, Failure)>,
    /// What was left out.
    pub notes: Vec<Diagnostic>,
    /// Folders by their one name without links, with the name by which each was searched.
    searched: BTreeMap<PathBuf, PathBuf>,
}

impl Found {
    fn nothing(suffixes: &'static [&'static str]) -> Found {
        Found {
            suffixes,
            files: Vec::new(),
            failures: Vec::new(),
            notes: Vec::new(),
            searched: BTreeMap::new(),
        }
    }
}

/// Every file with one of these suffixes in a folder and those below it.
pub fn search(folder: &Path, suffixes: &'static [&'static str]) -> Found {
    let mut found = Found::nothing(suffixes);
    found.folder(folder, folder, 0);
    found
}

/// Every shader that the paths name.
///
/// # Errors
/// Lists that cannot be read, and files whose outputs would have the same names.
pub fn collect(paths: &[PathBuf]) -> Result<Found, Failure> {
    let mut found = Found::nothing(&SHADERS);
    for path in paths {
        if path.is_dir() {
            found.folder(path, path, 0);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            let base = path.parent().unwrap_or(Path::new(""));
            for line in files::read_text(path)?.lines() {
                let line = line.trim();
                if !line.is_empty() && !line.starts_with('#') {
                    found.files.push(File::new(base.join(line), PathBuf::new()));
                }
            }
        } else {
            found.files.push(File::new(path.clone(), PathBuf::new()));
        }
    }
    let mut seen = BTreeSet::new();
    found.files.retain(|file| seen.insert(one_name(&file.path)));
    tell_apart(&mut found.files)?;
    Ok(found)
}

/// One name for all spellings of a file's folder. The file itself may be a link: it is compiled by its own name.
fn one_name(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match (std::fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

impl Found {
    fn fail(&mut self, path: &Path, reason: &str) {
        let failure = Failure::usage(format!("cannot read {}: {reason}", shown(path)));
        self.failures.push((path.to_owned(), failure));
    }

    fn leave_out(&mut self, path: &Path, reason: &str) {
        let message = format!("{} is left out: {reason}", shown(path));
        self.notes.push(Diagnostic::new(Severity::Warning, message));
    }

    /// Searches a folder and those in it. Links may lead anywhere, also back: each folder is searched once.
    fn folder(&mut self, root: &Path, path: &Path, depth: u32) {
        if depth > DEEPEST {
            return self.fail(path, &format!("folders nest more than {DEEPEST} deep"));
        }
        let entries = std::fs::canonicalize(path).and_then(|real| {
            let mut entries: Vec<PathBuf> = Vec::new();
            for entry in std::fs::read_dir(path)? {
                entries.push(entry?.path());
            }
            Ok((real, entries))
        });
        let (real, mut entries) = match entries {
            Ok(found) => found,
            Err(error) => return self.fail(path, &files::reason(&error)),
        };
        if let Some(other) = self.searched.get(&real) {
            let reason = format!("its folder was searched as {}", shown(other));
            return self.leave_out(path, &reason);
        }
        self.searched.insert(real, path.to_owned());
        entries.sort();
        for entry in entries {
            let kind = std::fs::metadata(&entry);
            if kind.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
                self.folder(root, &entry, depth + 1);
                continue;
            }
            let extension = entry.extension().and_then(|extension| extension.to_str());
            if !extension.is_some_and(|extension| self.suffixes.contains(&extension)) {
                continue;
            }
            // A pipe would be waited for. What cannot be asked fails with its reason when it is read.
            if kind.is_ok_and(|kind| !kind.is_file()) {
                self.leave_out(&entry, "it is no file");
                continue;
            }
            let inner = entry
                .parent()
                .and_then(|parent| parent.strip_prefix(root).ok())
                .unwrap_or(Path::new(""))
                .to_owned();
            self.files.push(File::new(entry, inner));
        }
    }
}

/// Files whose outputs would have the same names keep their extensions in them (`a.vert`, `a.frag`).
fn tell_apart(files: &mut [File]) -> Result<(), Failure> {
    let mut owners: BTreeMap<(PathBuf, String), usize> = BTreeMap::new();
    for file in files.iter() {
        *owners.entry((file.inner.clone(), file.stem.clone())).or_default() += 1;
    }
    let mut known: BTreeMap<(PathBuf, String), PathBuf> = BTreeMap::new();
    for file in files {
        if owners[&(file.inner.clone(), file.stem.clone())] > 1 {
            let name = file.path.file_name().unwrap_or_default();
            file.stem = name.to_string_lossy().into_owned();
        }
        let place = (file.inner.clone(), file.stem.clone());
        if let Some(other) = known.insert(place, file.path.clone())
            && other != file.path
        {
            return Err(Failure::usage(format!(
                "{} and {} would write the same files",
                shown(&other),
                shown(&file.path)
            ))
            .note("name their folder instead: its folders are kept apart"));
        }
    }
    Ok(())
}
