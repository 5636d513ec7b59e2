//! What other drivers program for the same shaders: `peers/state-*.jsonl` of the shared folder against ours, word by word.
//!
//! A difference is right where a line of `tests/choices/TARGET.txt` lists it with its reason; every other one is a
//! finding, and so is a line that nothing needs any more.

use gpucc::pipeline::{ColorTarget, Fetch, FragmentState, VertexState};
use gpucc::{Choice, Compiler, Func, Options, Robust, Source, Stage, Target};
use gpucc_ir::ssa::{OutputKind, Scalar};
use gpucc_machine::described::Setting;
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::path::Path;

/// What is said about some bits of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Relation {
    /// The program does not decide them: the driver does.
    Driver,
    /// Ours are these where theirs are those, in place.
    Pair { ours: u32, theirs: u32 },
    /// Each compiler's own decision.
    Own,
    /// Each compiler's own decision, of which ours is not above theirs.
    AtMost,
}

/// A line of the list of choices.
#[derive(Clone, Debug)]
struct Listed {
    /// Name of the word; a `*` at its end stands for any text.
    word: String,
    /// Part of the paths of the shaders that the line is of; empty for all.
    path: String,
    /// The bits.
    mask: u32,
    relation: Relation,
    line: usize,
}

impl Listed {
    fn is_of(&self, word: &str, place: &str) -> bool {
        place.contains(&self.path) && self.names(word)
    }

    fn names(&self, word: &str) -> bool {
        match self.word.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => self.word == word,
        }
    }

    /// The bits of a word that this line explains.
    fn explains(&self, word: &Word) -> u32 {
        let (ours, mask) = word.ours.unwrap_or((0, 0));
        let holds = match self.relation {
            Relation::Driver => return self.mask & !mask,
            Relation::Pair { ours: a, theirs: b } => {
                (ours & self.mask, word.theirs & self.mask) == (a, b)
            }
            Relation::Own => true,
            Relation::AtMost => ours & self.mask <= word.theirs & self.mask,
        };
        if holds { self.mask & mask } else { 0 }
    }
}

/// A number as `0x` and hexadecimal digits.
fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Reads the list: word, bits, relation and reason a line; `#` begins a comment.
///
/// # Errors
/// The first line that is none.
fn listed(text: &str) -> Result<Vec<Listed>, String> {
    let mut out = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut parts = line.split_whitespace();
        let mut read = || {
            let word = parts.next()?;
            let (word, path) = word.split_once('@').unwrap_or((word, ""));
            let (word, path) = (word.to_owned(), path.to_owned());
            let mask = hex(parts.next()?)?;
            let relation = match parts.next()? {
                "driver" => Relation::Driver,
                "own" => Relation::Own,
                "at-most" => Relation::AtMost,
                pair => {
                    let (ours, theirs) = pair.split_once('/')?;
                    Relation::Pair { ours: hex(ours)?, theirs: hex(theirs)? }
                }
            };
            // A line without a reason is no reason.
            parts.next()?;
            Some(Listed { word, path, mask, relation, line: line_number })
        };
        out.push(read().ok_or_else(|| {
            format!(
                "line {line_number}: `WORD[@PATH] 0xMASK driver|own|at-most|0xOURS/0xTHEIRS reason`"
            )
        })?);
    }
    Ok(out)
}

/// A word that a peer programs and what we say of it.
#[derive(Clone, Debug)]
struct Word {
    name: String,
    theirs: u32,
    /// Value, and the bits that the program decides.
    ours: Option<(u32, u32)>,
}

/// What the comparison found.
#[derive(Debug, Default)]
pub struct Tally {
    /// Programs compared.
    pub programs: usize,
    /// Words compared.
    pub words: usize,
    /// Words that are equal in all bits that are ours, with no bit of theirs left.
    pub equal: usize,
    /// Words by the line of the list that explains bits of them.
    explained: BTreeMap<usize, usize>,
    /// Differences that no line explains: what, and where first, and how often.
    pub findings: BTreeMap<String, (String, usize)>,
    /// Programs that did not compile, by the reason.
    pub refused: BTreeMap<String, usize>,
    /// Lines of the list that explain nothing.
    pub idle: Vec<usize>,
}

impl Tally {
    /// No difference is unlisted, and no line is idle.
    pub fn holds(&self) -> bool {
        self.programs > 0 && self.findings.is_empty() && self.idle.is_empty()
    }

    /// What was compared, and each finding.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for (what, (first, count)) in &self.findings {
            let _ = writeln!(out, "{count:>5} {what}: {first} first");
        }
        for line in &self.idle {
            let _ = writeln!(out, "line {line} of the list explains nothing");
        }
        for (why, count) in &self.refused {
            let _ = writeln!(out, "{count:>5} not compiled: {why}");
        }
        let listed: usize = self.explained.values().sum();
        let _ = writeln!(
            out,
            "{} programs, {} words: {} equal, {listed} differences explained by {} lines, {} kinds of differences unlisted",
            self.programs,
            self.words,
            self.equal,
            self.explained.len(),
            self.findings.len()
        );
        out
    }

    fn compare(&mut self, list: &[Listed], word: &Word, place: &str) {
        self.words += 1;
        let (ours, mask) = word.ours.unwrap_or((0, 0));
        // Bits of theirs that are not ours to decide differ too, until the list calls them the driver's.
        let mut left = (ours ^ word.theirs) & mask | word.theirs & !mask;
        if left == 0 {
            self.equal += 1;
            return;
        }
        for listed in list.iter().filter(|listed| listed.is_of(&word.name, place)) {
            let bits = listed.explains(word) & left;
            if bits != 0 {
                left &= !bits;
                *self.explained.entry(listed.line).or_default() += 1;
            }
        }
        if left != 0 {
            let what = match word.ours {
                Some(_) => format!(
                    "{} bits {left:#010x}: ours {:#010x}, theirs {:#010x}",
                    word.name,
                    ours & left,
                    word.theirs & left
                ),
                None => format!("{}: theirs {:#010x}, not ours", word.name, word.theirs),
            };
            self.findings.entry(what).or_insert_with(|| (place.to_owned(), 0)).1 += 1;
        }
    }
}

/// Compares all programs of the peers' list whose path contains `filter`.
///
/// # Errors
/// A list that cannot be read.
pub fn run(target: Target, shared: &Path, filter: &str) -> Result<Tally, String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let choices = Path::new(env!("CARGO_MANIFEST_DIR")).join("choices");
    let list = listed(&read(&choices.join(format!("{}.txt", target.name())))?)?;
    let rows = read(&shared.join(format!("peers/state-{}.jsonl", target.name())))?;
    let mut tally = Tally::default();
    let mut compilers: BTreeMap<String, Compiler> = BTreeMap::new();
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    for row in &rows {
        let path = row["path"].as_str().unwrap_or_default();
        let stage = match row["stage"].as_str() {
            Some("vertex") => Stage::Vertex,
            Some("fragment") => Stage::Fragment,
            _ => continue,
        };
        if !path.contains(filter) {
            continue;
        }
        let chip = row["chip"].as_str().unwrap_or_default();
        let chip = chip.split_whitespace().next().unwrap_or_default().to_lowercase();
        let compiler = match compilers.entry(chip) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let made = compiler(new.key())?;
                new.insert(made)
            }
        };
        let place = format!("{path} {} {}", stage.name(), row["chip"].as_str().unwrap_or_default());
        let is_setup = |other: &&Value| other["stage"] == "all" && other["chip"] == row["chip"];
        let setup = rows.iter().find(is_setup);
        match words(compiler, shared, (row, setup), path, stage) {
            Ok(words) => {
                tally.programs += 1;
                words.iter().for_each(|word| tally.compare(&list, word, &place));
            }
            Err(why) => *tally.refused.entry(why).or_default() += 1,
        }
    }
    if filter.is_empty() {
        let lines = list.iter().map(|listed| listed.line);
        tally.idle = lines.filter(|line| !tally.explained.contains_key(line)).collect();
    }
    Ok(tally)
}

/// The compiler for the machine that has a chip.
fn compiler(chip: &str) -> Result<Compiler, String> {
    let target = Target::ALL.iter().copied().find(|target| target.chips().contains(&chip));
    let target = target.ok_or_else(|| format!("no machine has a chip '{chip}'"))?;
    Compiler::new(target, Some(chip)).map_err(|failure| failure.summary().to_owned())
}

/// The words that the peer programs, each with ours; then those that we program alone. What the peer writes once a
/// stream stands in `setup`.
fn words(
    compiler: &Compiler,
    shared: &Path,
    (row, setup): (&Value, Option<&Value>),
    path: &str,
    stage: Stage,
) -> Result<Vec<Word>, String> {
    let text = match row["glsl"].as_str() {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(shared.join(path)).map_err(|error| error.to_string())?,
    };
    let source = match row["glsl"].is_null() {
        true => Source::Wgsl(&text),
        false => Source::Glsl(&text, stage),
    };
    let mut options = as_drawn(row["notes"].as_str().unwrap_or_default(), stage);
    let say =
        |failure: gpucc::Failure| format!("exit {}: {}", failure.exit_code(), failure.summary());
    let choice = Choice { stage: Some(stage), ..Choice::default() };
    let parsed = compiler.parse(source, choice, &options).map_err(say)?;
    let mut entries = parsed.entries.into_iter();
    let entry = entries.find(|entry| entry.stage == Some(stage)).ok_or("no such entry point")?;
    let func = entry.func.map_err(say)?;
    fit_targets(&mut options, &func);
    let compiled = compiler.compile(&func, &options).map_err(say)?;
    let program = compiled.program.as_ref().ok_or("no machine")?;
    // By the peer's name where an address says which of its words it is.
    let theirs = theirs(row)?;
    let stream = match setup {
        Some(row) => self::theirs(row)?,
        None => Vec::new(),
    };
    let mut out: Vec<Word> = theirs.iter().map(Theirs::word).collect();
    for (name, setting) in &program.compiled().described.state.0 {
        let mut add = |name: String, address: Option<u32>, ours: (u32, u32)| {
            // A vertex program that is one program is the peer's position program.
            let alone = name.replace("Shader_Program[", "Shader_Program_(position)[");
            let is_it = |it: &Theirs| {
                it.name == name
                    || address.is_some() && it.address == address
                    || compiled.stage == Stage::Vertex && it.name == alone
            };
            match (theirs.iter().position(is_it), stream.iter().find(|it| is_it(it))) {
                (Some(at), _) => out[at].ours = Some(ours),
                (None, Some(it)) => out.push(Word { ours: Some(ours), name, theirs: it.value }),
                // What a peer leaves alone has some value of a draw before.
                (None, None) => {
                    let (name, mask) = (format!("{name}(absent)"), ours.1);
                    out.push(Word { ours: Some(ours), name, theirs: !ours.0 & mask });
                }
            }
        };
        match setting {
            Setting::Register { address, value, mask, .. } => {
                add(name.to_string(), Some(*address), (*value, *mask));
            }
            Setting::Descriptor { words, mask, fields } => {
                let key = format!("{name}.");
                for (field, value) in &fields.0 {
                    let name = format!("{key}{field}").replace(' ', "_");
                    if theirs.iter().any(|it| it.name == name) {
                        add(name, None, (*value, u32::MAX));
                    }
                }
                if theirs.iter().any(|it| it.name.starts_with(&key.replace(' ', "_"))) {
                    continue;
                }
                for (index, (word, mask)) in words.iter().zip(mask).enumerate() {
                    add(format!("{name}[{index}]").replace(' ', "_"), None, (*word, *mask));
                }
            }
            _ => {}
        }
    }
    Ok(out)
}

/// A word of a peer's.
struct Theirs {
    name: String,
    address: Option<u32>,
    value: u32,
}

impl Theirs {
    fn word(&self) -> Word {
        Word { name: self.name.clone(), theirs: self.value, ours: None }
    }
}

/// The words of a row.
fn theirs(row: &Value) -> Result<Vec<Theirs>, String> {
    let number = |value: &Value| value.as_str().and_then(hex);
    let mut out = Vec::new();
    for (name, register) in row["registers"].as_object().into_iter().flatten() {
        let value = number(&register["value"]).ok_or("a value that is no number")?;
        out.push(Theirs { name: name.clone(), address: number(&register["addr"]), value });
    }
    for program in row["programs"].as_array().into_iter().flatten() {
        let name = match program["role"].as_str() {
            Some(role @ ("position" | "varying")) => format!("Shader_Program_({role})"),
            _ => "Shader_Program".to_owned(),
        };
        for (index, word) in
            program["descriptor_words"].as_array().into_iter().flatten().enumerate()
        {
            let value = number(word).ok_or("a word that is no number")?;
            out.push(Theirs { name: format!("{name}[{index}]"), address: None, value });
        }
    }
    for (key, descriptor) in
        [("draw", "Draw"), ("depth_stencil", "Depth/stencil"), ("job", "Allocation")]
    {
        for (field, value) in row[key].as_object().into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            if let Some(value) = named_value(text) {
                let name = format!("{descriptor}.{field}").replace(' ', "_");
                out.push(Theirs { name, address: None, value });
            }
        }
    }
    for (number, target) in row["blend"].as_array().into_iter().flatten().enumerate() {
        for (theirs, ours) in BLEND {
            let text = target[theirs].as_str().ok_or("a blend descriptor without a field")?;
            let value = named_value(text).ok_or_else(|| format!("{theirs} is `{text}`"))?;
            // The list counts components, the field holds one less.
            let value = if ours == "Num_Comps" { value.saturating_sub(1) } else { value };
            out.push(Theirs { name: format!("Blend_{number}.{ours}"), address: None, value });
        }
    }
    Ok(out)
}

/// Fields of a blend descriptor, by the decoder's names and by ours.
const BLEND: [(&str, &str); 6] = [
    ("Load Destination", "Load_Destination"),
    ("Enable", "Enable"),
    ("Equation.Color Mask", "Color_Mask"),
    ("Internal.Mode", "Mode"),
    ("Internal.Num Comps", "Num_Comps"),
    ("Internal.Format (v7)", "Memory_Format"),
];

/// The number that a decoder printed as text.
fn named_value(text: &str) -> Option<u32> {
    match text {
        "false" | "Force Early" => Some(0),
        "true" | "Opaque" => Some(1),
        "RGBA8 TB RGBA" => Some(237 << 12),
        "Weak Early" | "Fixed function" => Some(2),
        "Force Late" | "Shader" => Some(3),
        _ => hex(text).or_else(|| text.parse().ok()),
    }
}

/// The state of the peer's draw, by its note.
fn as_drawn(notes: &str, stage: Stage) -> Options {
    let mut options = Options::default();
    options.robust = Robust::Off;
    options.overrides_default = Some(1.0);
    if stage == Stage::Vertex {
        options.pipeline.vertex =
            Some(VertexState { fetch: Fetch::Separate, ..VertexState::default() });
        return options;
    }
    let before = notes.split(" colour buffers").next().unwrap_or_default();
    let count = before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1);
    let target =
        ColorTarget { format: "rgba8unorm".to_owned(), write_mask: ColorTarget::ALL, blend: None };
    options.pipeline.fragment = Some(FragmentState {
        targets: vec![Some(target); count],
        depth_stencil: Some("depth24plus-stencil8".to_owned()),
        ..FragmentState::default()
    });
    options
}

/// Gives targets of integers to a program that writes such: the peer drew it to others, which no API defines.
fn fit_targets(options: &mut Options, func: &Func) {
    let Some(fragment) = &mut options.pipeline.fragment else {
        return;
    };
    for data in func.outputs.values() {
        let OutputKind::Location { location, .. } = data.kind else {
            continue;
        };
        let format = match data.scalar {
            Scalar::U32 => "rgba8uint",
            Scalar::I32 => "rgba8sint",
            _ => continue,
        };
        if let Some(Some(target)) = fragment.targets.get_mut(location as usize) {
            target.format = format.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(theirs: u32, ours: Option<(u32, u32)>) -> Word {
        Word { name: "PA_CL_1".to_owned(), theirs, ours }
    }

    fn left(list: &str, word: &Word) -> usize {
        let mut tally = Tally::default();
        tally.compare(&listed(list).expect("a list"), word, "a shader");
        tally.findings.len()
    }

    #[test]
    fn a_difference_counts_until_a_line_names_its_bits_and_values() {
        let differs = word(0x11, Some((0x01, 0xff)));
        assert_eq!(left("", &differs), 1);
        assert_eq!(left("PA_CL_1 0x10 own because", &differs), 0);
        assert_eq!(left("PA_CL_* 0x10 0x0/0x10 because", &differs), 0);
        assert_eq!(left("PA_CL_* 0x10 0x10/0x0 because", &differs), 1);
        assert_eq!(left("PA_SU_* 0x10 own because", &differs), 1);
        assert_eq!(left("PA_CL_1 0x1 own because", &differs), 1);
        assert_eq!(left("", &word(0x11, Some((0x11, 0xff)))), 0);
    }

    #[test]
    fn bits_that_are_not_ours_are_the_drivers_only_where_a_line_says_so() {
        let shared = word(0x80, Some((0, 0x0f)));
        assert_eq!(left("", &shared), 1);
        assert_eq!(left("PA_CL_1 0xff own because", &shared), 1);
        assert_eq!(left("PA_CL_1 0xff driver because", &shared), 0);
        assert_eq!(left("PA_CL_1 0xff driver because", &word(0x01, Some((0, 0x0f)))), 1);
        assert_eq!(left("PA_CL_1 0xff driver because", &word(0x01, None)), 0);
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        assert!(listed("PA_CL_1 0xff own").is_err());
        assert!(listed("PA_CL_1 ff own because").is_err());
    }
}
