//! `docs/compare.md` reads the tables of `gpucc compare`: they are what the command prints, and no figure of the text is another.
//!
//! `BLESS=1 cargo test -p gpucc-cli --test integration -- compare_page` writes the tables again; the text beside them is checked still.

use crate::common::{gpucc, samples};
use gpucc::Target;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/compare.md");

/// A section of the page: the sample's name, its table, and the text that reads it.
struct Section {
    name: String,
    table: String,
    text: String,
}

/// The sections with a table: a heading with the sample's name, the table between fences, the text.
fn sections(page: &str) -> Vec<Section> {
    let parts = page.split("\n## `").skip(1);
    let section = |part: &str| {
        let (name, rest) = part.split_once('`').expect("a name");
        let (before, rest) = rest.split_once("```\n").expect("a table");
        let (table, after) = rest.split_once("```\n").expect("the end of a table");
        let text = format!("{before}{after}");
        Section { name: name.to_owned(), table: table.to_owned(), text }
    };
    parts.map(section).collect()
}

/// What the command prints for a sample.
fn printed(name: &str) -> String {
    let files = samples();
    let file = files.iter().find(|file| file.file_stem().is_some_and(|stem| stem == name));
    let file = file.unwrap_or_else(|| panic!("no sample {name}")).to_string_lossy();
    let output = gpucc(&["compare", &file]);
    let text = String::from_utf8(output.stdout).expect("text");
    // What follows a refusal names sections of manuals.
    let line = |line: &str| match line.split_once(": cannot:") {
        Some((before, _)) => before.to_owned(),
        None => line.trim_end().to_owned(),
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    lines.join("\n") + "\n"
}

/// The numbers of a text: what begins with a digit and stands alone, without the marks behind it.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || "(),;:`/".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', 'x', '%']));
    let number =
        |word: &&str| word.chars().all(|c| c.is_ascii_digit() || c == '.') && !word.is_empty();
    words.filter(number).map(str::to_owned).collect()
}

#[test]
fn every_table_is_what_the_command_prints_and_every_figure_stands_in_it() {
    let mut page = std::fs::read_to_string(PAGE).expect("the page is there");
    let found = sections(&page);
    assert!(found.len() >= 10, "{} tables", found.len());
    let mut wrong = Vec::new();
    for section in found {
        let now = printed(&section.name);
        for target in Target::machines() {
            assert!(now.contains(target.name()), "{} on {}", section.name, target.name());
        }
        if now != section.table {
            wrong.push(format!("{}: the table is another", section.name));
            page = page.replace(&section.table, &now);
        }
        let held = numbers(&now);
        for number in numbers(&section.text).into_iter().filter(|number| !held.contains(number)) {
            wrong.push(format!("{}: {number} stands in no line of the table", section.name));
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PAGE, page).expect("writable");
        wrong.retain(|wrong| wrong.contains("stands in no line"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_figure_is_found_whatever_stands_beside_it() {
    assert_eq!(
        numbers("takes 53 groups, 1.61x of (33), and r700's 90%."),
        ["53", "1.61", "33", "90"]
    );
    assert!(numbers("`fmad` and r700").is_empty());
}
