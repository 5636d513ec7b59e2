//! The build's identity: which commit of which sources this is.
//!
//! `GPUCC_BUILD` is the commit, with a hash of the sources behind it where they differ from the commit's, or where there is
//! no checkout: then `GPUCC_COMMIT` of the environment may give the commit, as packagers do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What compiled code depends on, beside the versions of foreign packages.
const SOURCES: [&str; 8] =
    ["ir", "frontend", "passes", "regalloc", "isa", "emu", "machine", "backends"];

/// The same, of the facade, of what links and loads by it, and of the versions.
const PARTS: [&str; 5] = ["gpucc/src", "gpucc/build.rs", "capi/src", "Cargo.toml", "Cargo.lock"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo::rerun-if-env-changed=GPUCC_COMMIT");
    for folder in PARTS.iter().chain(&SOURCES) {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo::rustc-env=GPUCC_BUILD={}", build(&root));
}

fn build(root: &Path) -> String {
    let named = std::env::var("GPUCC_COMMIT").ok();
    match (commit(root), named) {
        (Some((commit, true)), _) => commit,
        // What a packager names may be patched.
        (Some((commit, false)), _) | (None, Some(commit)) => format!("{commit}+{}", sources(root)),
        (None, None) => sources(root),
    }
}

/// The commit that is checked out, and whether the files that it tracks are as it has them.
fn commit(root: &Path) -> Option<(String, bool)> {
    // A package within another project's repository is none of its commits.
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // A branch may have a file of its own, or a line among those of all.
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = root.join(git(root, &["rev-parse", "--git-path", name])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(PARTS.iter().chain(&SOURCES));
    Some((commit, git(root, &status)?.is_empty()))
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned())
}

/// A hash of the sources by their paths within the project: equal wherever they lie.
fn sources(root: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    for path in PARTS.iter().chain(&SOURCES) {
        // What is not there changes nothing: a package holds no lock file.
        let _ = add(root, Path::new(path), &mut hasher);
    }
    hasher.finalize().to_hex()[..12].to_owned()
}

fn add(root: &Path, path: &Path, hasher: &mut blake3::Hasher) -> io::Result<()> {
    if root.join(path).is_dir() {
        let entries = fs::read_dir(root.join(path))?;
        let mut names =
            entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        return names.into_iter().try_for_each(|name| add(root, &path.join(name), hasher));
    }
    let bytes = fs::read(root.join(path))?;
    let name = path.to_string_lossy().replace('\\', "/");
    for part in [name.as_bytes(), &bytes] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Ok(())
}
