//! The words of the pages that people write: narrow lines, short sentences, citations that a reader can look up.

use std::fs;
use std::path::Path;

/// Columns of a line.
const COLUMNS: usize = 100;
/// Words of a sentence.
const WORDS: usize = 25;

/// The pages that keep these rules.
const PAGES: [&str; 28] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "backends/gen4/ERRATA.md",
    "backends/r700/ERRATA.md",
    "backends/rogue/ERRATA.md",
    "backends/valhall/ERRATA.md",
    "docs/abi-gen4.md",
    "docs/abi-r700.md",
    "docs/abi-rogue.md",
    "docs/abi-valhall.md",
    "docs/compare.md",
    "docs/embedding.md",
    "docs/farm.md",
    "docs/errata.md",
    "docs/gallery.md",
    "docs/gen4.md",
    "docs/glsl.md",
    "docs/mutants.md",
    "docs/perf-gen4.md",
    "docs/r600.md",
    "docs/r700.md",
    "docs/report.md",
    "docs/rogue.md",
    "docs/spirv.md",
    "docs/valhall.md",
    "fuzz/seeds/README.md",
];

/// What a line of a page is.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Prose,
    /// The first line of an item of a list.
    Item,
    /// A row of a table, code, a picture, or the names of numbers (`0 none, 1 wait`).
    Other,
    /// A heading or an empty line.
    Gap,
}

fn kinds(text: &str) -> Vec<(usize, &str, Kind)> {
    let mut is_code = false;
    let is_named = |part: &str| part.split_once(' ').is_some_and(|it| it.0.parse::<u32>().is_ok());
    let kind = |line: &str| {
        let fence = line.starts_with("```");
        is_code ^= fence;
        let mark = line.split_once(' ').map_or("", |(mark, _)| mark);
        let number = mark.strip_suffix('.').unwrap_or("");
        match line {
            _ if is_code || fence || line.starts_with(['|', '<']) || line.starts_with("![") => {
                Kind::Other
            }
            _ if line.is_empty() || line.starts_with('#') => Kind::Gap,
            _ if line.split(", ").all(is_named) => Kind::Other,
            _ if ["-", "*"].contains(&mark) || number.parse::<u32>().is_ok() => Kind::Item,
            _ => Kind::Prose,
        }
    };
    let lines = text.lines().map(str::trim);
    let kinds: Vec<Kind> = lines.map(kind).collect();
    (1..).zip(text.lines()).zip(kinds).map(|((number, line), kind)| (number, line, kind)).collect()
}

/// Whether a sentence ends with `word`: a colon or a semicolon ends one before a capital, a number or code.
fn ends(word: &str, next: Option<&str>) -> bool {
    let word = word.trim_end_matches(['*', '"', ')']);
    let is_begun = next.and_then(|next| next.chars().next()).is_none_or(|first| {
        first.is_uppercase() || first.is_ascii_digit() || "*`\"(".contains(first)
    });
    word.ends_with(['.', '!', '?']) || (word.ends_with([':', ';']) && is_begun)
}

/// The text of a link in place of the link, and a code span as one word.
fn spoken(line: &str) -> String {
    let mut spoken = String::new();
    for (index, part) in line.split('`').enumerate() {
        match index % 2 {
            0 => spoken.push_str(part),
            _ => spoken.extend(["`code`"]),
        }
    }
    while let Some(at) = spoken.find("](") {
        let end = spoken[at..].find(')').map_or(spoken.len(), |end| at + end + 1);
        spoken.replace_range(at..end, "");
    }
    spoken
}

/// Sentences that are too long, with the numbers of their first lines.
fn long_sentences(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<Vec<(usize, String)>> = vec![Vec::new()];
    for (number, line, kind) in kinds(text) {
        if kind != Kind::Prose {
            paragraphs.push(Vec::new());
        }
        if matches!(kind, Kind::Prose | Kind::Item) {
            let line = line.trim();
            let said =
                if kind == Kind::Item { line.split_once(' ').map_or("", |it| it.1) } else { line };
            let last = paragraphs.last_mut().expect("there is one");
            // A code span may go on in the next line.
            match last.last_mut().filter(|(_, before)| before.matches('`').count() % 2 == 1) {
                Some((_, before)) => *before = format!("{before} {said}"),
                None => last.push((number, said.to_owned())),
            }
        }
    }
    let mut long = Vec::new();
    for paragraph in paragraphs {
        let words: Vec<(usize, String)> = paragraph
            .iter()
            .flat_map(|(number, line)| {
                let spoken = spoken(line);
                spoken.split_whitespace().map(|it| (*number, it.to_owned())).collect::<Vec<_>>()
            })
            .collect();
        let mut start = 0;
        for at in 0..words.len() {
            let next = words.get(at + 1).map(|(_, word)| word.as_str());
            if next.is_none() || ends(&words[at].1, next) {
                let said: Vec<&str> = words[start..=at].iter().map(|it| it.1.as_str()).collect();
                let spoken = said.iter().filter(|word| word.contains(char::is_alphanumeric));
                long.extend((spoken.count() > WORDS).then(|| (words[start].0, said.join(" "))));
                start = at + 1;
            }
        }
    }
    long
}

/// Lines outside of code and tables that are too wide, but for links and code spans that cannot be broken.
fn wide_lines(text: &str) -> Vec<(usize, String)> {
    let wide = |&(_, line, kind): &(usize, &str, Kind)| {
        let whole = line.trim().trim_start_matches("- ");
        let is_one =
            whole.starts_with('`') && whole.matches('`').count() == 2 && whole.ends_with('`');
        kind != Kind::Other && !is_one && !whole.starts_with('[') && line.chars().count() > COLUMNS
    };
    let lines = kinds(text).into_iter().filter(wide);
    lines.map(|(number, line, _)| (number, line.to_owned())).collect()
}

/// Lines that cite a document which a clone does not have.
fn foreign_citations(text: &str) -> Vec<(usize, String)> {
    let cites = |line: &str| {
        let mut words = line.split(|c: char| c.is_whitespace() || "()`,;[]".contains(c));
        words.any(|word| {
            word.ends_with(".md") && word.contains("isa/") || word.contains("shared/isa")
        })
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| cites(line));
    lines.map(|(number, line)| (number, line.to_owned())).collect()
}

fn faults(text: &str) -> Vec<String> {
    let of = |what: &str, found: Vec<(usize, String)>| -> Vec<String> {
        found.into_iter().map(|(line, it)| format!("{line}: {what}: {it}")).collect()
    };
    [
        of("a sentence of more than 25 words", long_sentences(text)),
        of("a line of more than 100 columns", wide_lines(text)),
        of("a document that a clone does not have", foreign_citations(text)),
    ]
    .concat()
}

#[test]
fn pages_have_short_sentences_narrow_lines_and_citations_that_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut wrong = Vec::new();
    for page in PAGES {
        let text = fs::read_to_string(root.join(page)).unwrap_or_else(|_| panic!("{page}"));
        wrong.extend(faults(&text).into_iter().map(|fault| format!("{page}:{fault}")));
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// clap makes the help from the comments of the arguments.
#[test]
fn help_texts_have_short_sentences_and_narrow_lines() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/args.rs");
    let source = fs::read_to_string(path).expect("readable");
    let said = |line: &str| line.trim().strip_prefix("///").unwrap_or("").trim().to_owned();
    let help: Vec<String> = source.lines().map(said).collect();
    assert!(help.iter().filter(|line| !line.is_empty()).count() > 100);
    let wrong = faults(&help.join("\n"));
    assert!(wrong.is_empty(), "args.rs, line {}", wrong.join("\nargs.rs, line "));
}

#[test]
fn long_sentences_wide_lines_and_foreign_citations_are_found() {
    let words = |count: usize| "word ".repeat(count);
    let long = |text: &str| long_sentences(text).len();
    assert_eq!(long(&words(25)), 0);
    assert_eq!(long(&words(26)), 1);
    assert_eq!(long_sentences(&format!("Short.\n\n{}\nword", words(25)))[0].0, 3);
    assert_eq!(long(&format!("{}word. word {}", words(20), words(20))), 0);
    assert_eq!(long(&format!("{}word; word {}", words(20), words(20))), 1);
    assert_eq!(long(&format!("{}word: Word {}", words(20), words(20))), 0);
    assert_eq!(long(&format!("- {}\n- {}", words(20), words(20))), 0);
    assert_eq!(long(&format!("- {}\n  {}", words(20), words(20))), 1);
    assert_eq!(long(&format!("{}(a b c)", words(23))), 1, "what stands in brackets counts");
    assert_eq!(long(&format!("{}`a b\nc` [d](e f)", words(23))), 0, "code is one word");
    assert_eq!(long(&format!("```\n{}\n```\n| {} |", words(30), words(30))), 0);
    assert_eq!(wide_lines(&"a".repeat(101)).len(), 1);
    assert_eq!(wide_lines(&format!("| {} |", "a".repeat(101))).len(), 0);
    assert_eq!(wide_lines(&format!("- `{}`", "a".repeat(101))).len(), 0);
    assert_eq!(
        foreign_citations("See `isa/none.md` 2.\nSee ../shared/isa.\nSee isa/src/doc.rs.").len(),
        2
    );
}
