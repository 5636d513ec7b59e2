//! The head of each sample has a command that works.

use crate::common::{Folder, gpucc, sample, samples};
use std::fs;

/// The command in the head of a sample: lines that end in a backslash go on.
fn command(text: &str) -> Option<Vec<String>> {
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//")).collect();
    let first = head.iter().position(|line| line.contains("   gpucc "))?;
    let mut words = Vec::new();
    for line in &head[first..] {
        let line = line.trim_start_matches('/').trim();
        let own = line.strip_suffix('\\').unwrap_or(line);
        words.extend(own.split_whitespace().map(str::to_owned));
        if own.len() == line.len() {
            break;
        }
    }
    Some(words.split_off(1))
}

#[test]
fn the_command_in_the_head_of_each_sample_works() {
    let folder = Folder::new("heads");
    let mut count = 0;
    for path in samples() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("text");
        let mut words = command(&text).unwrap_or_else(|| panic!("{name} has no command"));
        for word in &mut words {
            // The command is for the root of a clone; what it writes goes elsewhere.
            if let Some(own) = word.strip_prefix("samples/") {
                *word = sample(own);
            } else if word.ends_with(".png") {
                *word = folder.path(word);
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = gpucc(&words);
        assert!(
            output.status.success(),
            "{name}: {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        count += 1;
    }
    assert!(count > 40, "{count}");
}
