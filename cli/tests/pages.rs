//! The words of the pages that people write: narrow lines, short sentences.

use std::fs;
use std::path::{Path, PathBuf};

/// Columns of a line.
const COLUMNS: usize = 100;
/// Words of a sentence, without what stands in parentheses.
const WORDS: usize = 25;

/// Pages that are made from tables, whose cells are no sentences.
const MADE: [&str; 6] = ["gen4.md", "r600.md", "r700.md", "report.md", "rogue.md", "valhall.md"];

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let of = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("readable").path()).collect()
    };
    let mut pages = [of(root), of(&root.join("docs"))].concat();
    pages.retain(|page| {
        let name = page.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.ends_with(".md") && !MADE.contains(&name)
    });
    pages.sort();
    pages
}

/// Paragraphs and items of lists, without code, tables and headings.
fn paragraphs(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        is_code ^= line.starts_with("```");
        let item = line.split_once(' ').filter(|(mark, _)| {
            let number = mark.strip_suffix('.').unwrap_or("");
            *mark == "-" || number.parse::<u32>().is_ok()
        });
        let apart = is_code || line.is_empty() || line.starts_with(['|', '#', '`', '!', '<']);
        if apart && !(line.starts_with('`') && !line.starts_with("```") && !is_code) {
            all.push(String::new());
            continue;
        }
        if item.is_some() {
            all.push(String::new());
        }
        let last = all.last_mut().expect("there is one");
        last.push_str(item.map_or(line, |(_, rest)| rest));
        last.push(' ');
    }
    all
}

/// A paragraph with each code span as one word, and without parentheses.
fn spoken(paragraph: &str) -> String {
    let mut text = String::new();
    let (mut deep, mut is_code) = (0u32, false);
    for letter in paragraph.chars() {
        match letter {
            '`' => {
                is_code = !is_code;
                text.extend((is_code && deep == 0).then_some('X'));
            }
            _ if is_code => {}
            '(' => deep += 1,
            ')' => deep = deep.saturating_sub(1),
            _ if deep > 0 => {}
            _ => text.push(letter),
        }
    }
    text
}

/// Sentences of a page that are too long. A colon or a semicolon ends one too.
fn long_sentences(text: &str) -> Vec<String> {
    let mut long = Vec::new();
    for paragraph in paragraphs(text) {
        let mut sentence: Vec<&str> = Vec::new();
        let spoken = spoken(&paragraph);
        for word in spoken.split_whitespace() {
            if word.contains(char::is_alphanumeric) {
                sentence.push(word);
            }
            if word.ends_with(['.', '!', '?', ':', ';']) {
                long.extend((sentence.len() > WORDS).then(|| sentence.join(" ")));
                sentence.clear();
            }
        }
        long.extend((sentence.len() > WORDS).then(|| sentence.join(" ")));
    }
    long
}

/// Lines outside of code, tables and headings that are too wide.
fn wide_lines(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut wide = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        // A name in backquotes is not broken.
        let free = is_code || line.starts_with(['|', '#']) || line.trim_start().starts_with('`');
        wide.extend((!free && line.chars().count() > COLUMNS).then_some(line));
    }
    wide
}

#[test]
fn pages_have_short_sentences_and_narrow_lines() {
    let pages = pages();
    assert!(pages.len() > 10, "{pages:?}");
    let mut wrong = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("readable");
        let name = page.file_name().expect("a name").display().to_string();
        wrong.extend(long_sentences(&text).into_iter().map(|it| format!("{name}: long: {it}")));
        wrong.extend(wide_lines(&text).into_iter().map(|it| format!("{name}: wide: {it}")));
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_long_sentence_and_a_wide_line_are_found() {
    let word = "word ";
    assert_eq!(long_sentences(&word.repeat(26)).len(), 1);
    assert_eq!(long_sentences(&format!("{}; {}", word.repeat(20), word.repeat(20))).len(), 0);
    assert_eq!(long_sentences(&format!("- {}\n- {}", word.repeat(20), word.repeat(20))).len(), 0);
    assert_eq!(long_sentences(&format!("{}(a b c)", word.repeat(25))).len(), 0);
    assert_eq!(long_sentences(&format!("```\n{}\n```", word.repeat(30))).len(), 0);
    assert_eq!(wide_lines(&"a".repeat(101)).len(), 1);
    assert_eq!(wide_lines(&format!("| {} |", "a".repeat(101))).len(), 0);
}
