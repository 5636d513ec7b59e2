//! The woven tree: a copy of the workspace in which every drawn mutant stands behind a switch.

use crate::list::{self, Mutant};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Why a mutant is not in the woven tree, by its number.
pub type Unwoven = BTreeMap<usize, String>;

/// A change of a file's text that does nothing while all switches are off.
enum Edit {
    /// Text put at a place.
    Insert { at: usize, id: usize, text: String },
    /// An expression that is another one under a switch.
    Wrap { range: Range<usize>, id: usize, other: String },
}

impl Edit {
    fn range(&self) -> Range<usize> {
        match self {
            Edit::Insert { at, .. } => *at..*at,
            Edit::Wrap { range, .. } => range.clone(),
        }
    }
}

const SWITCH: &str = r#"//! The switches of the woven mutants: `MUTANT` is the number of the one that is on, or `cover`, which writes
//! the numbers of all that are reached to the end of the file `MUTANT_REACHED`.
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

struct State {
    active: usize,
    reached: Option<Mutex<std::fs::File>>,
}
static STATE: OnceLock<State> = OnceLock::new();
static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

fn state() -> &'static State {
    STATE.get_or_init(|| {
        let value = std::env::var("MUTANT").unwrap_or_default();
        let reached = (value == "cover").then(|| {
            let path = std::env::var_os("MUTANT_REACHED").expect("MUTANT_REACHED is a path");
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            Mutex::new(file.expect("MUTANT_REACHED can be written"))
        });
        State { active: value.parse().unwrap_or(0), reached }
    })
}

/// Whether the mutant of this number is on.
#[inline]
pub fn on(number: usize) -> bool {
    let state = state();
    if let Some(file) = &state.reached
        && !SEEN[number].swap(true, Ordering::Relaxed)
    {
        let _ = file.lock().unwrap().write_all(format!("{number}\n").as_bytes());
    }
    state.active == number
}
"#;

/// Weaves, builds, takes out what does not compile, and begins again until all compiles.
pub fn weave(work: &Path) -> Result<(), String> {
    let drawn: Vec<Mutant> = list::read(&work.join("drawn.json"))?;
    let mut unwoven: Unwoven = list::read(&work.join("unwoven.json")).unwrap_or_default();
    copy(&work.join("tree"))?;
    loop {
        let spots = write(work, &drawn, &mut unwoven)?;
        list::write(&work.join("unwoven.json"), &unwoven)?;
        let left = drawn.len() - unwoven.len();
        println!("{left} woven, {} not", unwoven.len());
        let errors = build(work)?;
        if errors.is_empty() {
            return Ok(());
        }
        for error in errors {
            let culprits = culprits(&spots, &error);
            if culprits.is_empty() {
                return Err(format!("an error of no mutant: {}", error["rendered"]));
            }
            for id in culprits {
                let code = error["code"]["code"].as_str().unwrap_or("");
                let text = error["message"].as_str().unwrap_or("");
                unwoven.entry(id).or_insert_with(|| format!("{code} {text}"));
            }
        }
    }
}

/// A copy of what git knows or could know here; files that are equal keep their time.
fn copy(tree: &Path) -> Result<(), String> {
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard", "-z"])
        .output()
        .map_err(|e| e.to_string())?;
    for name in String::from_utf8_lossy(&listed.stdout).split('\0') {
        let woven = name.ends_with(".rs") && name.contains("src/");
        if name.is_empty() || woven || name.starts_with("tests/mutants/") {
            continue;
        }
        // A file that was removed is still listed.
        let Ok(mut bytes) = std::fs::read(name) else {
            continue;
        };
        if name.ends_with("Cargo.toml") && !name.starts_with("fuzz/") {
            let text = String::from_utf8_lossy(&bytes);
            let switch = std::path::absolute(tree.join("switch")).map_err(|e| e.to_string())?;
            let dependency = format!("[dependencies]\nswitch = {{ path = {switch:?} }}");
            bytes = text.replacen("[dependencies]", &dependency, 1).into_bytes();
        }
        keep(&tree.join(name), &bytes)?;
    }
    let manifest = "[package]\nname = \"switch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
    keep(&tree.join("switch/Cargo.toml"), manifest.as_bytes())?;
    keep(&tree.join("switch/src/lib.rs"), SWITCH.as_bytes())
}

fn keep(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let folder = path.parent().ok_or("a file lies in a folder")?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// Where a mutant stands in a woven file.
struct Spot {
    file: String,
    id: usize,
    /// Its own text.
    own: Range<usize>,
    /// With what it replaces.
    whole: Range<usize>,
}

fn write(work: &Path, drawn: &[Mutant], unwoven: &mut Unwoven) -> Result<Vec<Spot>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard", "--", "*.rs"])
        .output()
        .map_err(|e| e.to_string())?;
    let mut spots = Vec::new();
    for name in String::from_utf8_lossy(&listed.stdout).lines() {
        if !name.contains("src/") || name.starts_with("tests/mutants/") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(name) else {
            continue;
        };
        let mut here = Vec::new();
        for mutant in drawn {
            if mutant.what.file == name && !unwoven.contains_key(&mutant.id) {
                here.push(mutant);
            }
        }
        let woven =
            if here.is_empty() { text } else { file(&text, name, &here, unwoven, &mut spots)? };
        keep(&work.join("tree").join(name), woven.as_bytes())?;
    }
    Ok(spots)
}

fn file(
    text: &str,
    name: &str,
    mutants: &[&Mutant],
    unwoven: &mut Unwoven,
    spots: &mut Vec<Spot>,
) -> Result<String, String> {
    let parsed = syn::parse_file(text).map_err(|e| format!("{name}: {e}"))?;
    let lines: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let byte = |place: list::Place| {
        let start = lines[place.line - 1];
        let rest = &text[start..];
        let chars = rest.char_indices().nth(place.column - 1);
        start + chars.map_or(rest.len(), |(at, _)| at)
    };
    let mut sought: BTreeMap<usize, Vec<(&Mutant, usize)>> = BTreeMap::new();
    for &mutant in mutants {
        let span = mutant.what.span;
        sought.entry(byte(span.start)).or_default().push((mutant, byte(span.end)));
    }
    let mut finder =
        Finder { text, sought, edits: Vec::new(), chain: None, constant: false, unwoven };
    finder.visit_file(&parsed);
    for (mutant, _) in finder.sought.into_values().flatten() {
        finder.unwoven.insert(mutant.id, "not found in the syntax tree".to_owned());
    }
    let mut edits = finder.edits;
    // Outer before inner; of equal ranges, insertions first.
    edits.sort_by_key(|edit| {
        let range = edit.range();
        (range.start, std::cmp::Reverse(range.end), range.start != range.end)
    });
    let mut out = String::new();
    let first = spots.len();
    render(text, 0..text.len(), &edits, &mut out, spots);
    for spot in &mut spots[first..] {
        spot.file = name.to_owned();
    }
    Ok(out)
}

/// Writes `range` with the edits that lie in it.
fn render(
    text: &str,
    range: Range<usize>,
    edits: &[Edit],
    out: &mut String,
    spots: &mut Vec<Spot>,
) {
    let mut at = range.start;
    let mut next = 0;
    while let Some(edit) = edits.get(next) {
        let here = edit.range();
        out.push_str(&text[at..here.start]);
        at = here.end;
        match edit {
            Edit::Insert { id, text, .. } => {
                let start = out.len();
                out.push_str(text);
                let own = start..out.len();
                spots.push(Spot { file: String::new(), id: *id, whole: own.clone(), own });
                next += 1;
            }
            Edit::Wrap { .. } => {
                let first = spots.len();
                let start = out.len();
                out.push('(');
                while let Some(Edit::Wrap { range, id, other }) = edits.get(next)
                    && *range == here
                {
                    let start = out.len();
                    // A comment at the end of the text must not hide the brace.
                    out.push_str(&format!("if ::switch::on({id}) {{ {other}\n}} else "));
                    let own = start..out.len();
                    spots.push(Spot { file: String::new(), id: *id, whole: own.clone(), own });
                    next += 1;
                }
                let last = spots.len();
                let inside =
                    edits[next..].iter().take_while(|e| e.range().start < here.end).count();
                out.push_str("{ ");
                render(text, here, &edits[next..next + inside], out, spots);
                next += inside;
                out.push_str("\n})");
                for spot in &mut spots[first..last] {
                    spot.whole = start..out.len();
                }
            }
        }
    }
    out.push_str(&text[at..range.end]);
}

/// Finds the syntax that a mutant changes.
struct Finder<'a> {
    text: &'a str,
    /// By first byte: the mutant and the end of its span.
    sought: BTreeMap<usize, Vec<(&'a Mutant, usize)>>,
    edits: Vec<Edit>,
    /// The outermost chain of operators without `let` around the place, since the language binds another
    /// operator otherwise: the mutant `a - b + c` of `a - b * c` is a sum.
    chain: Option<Range<usize>>,
    /// Inside what the compiler evaluates, where no switch can be asked.
    constant: bool,
    unwoven: &'a mut Unwoven,
}

impl<'a> Finder<'a> {
    /// The mutants of these kinds whose span begins at `start`.
    fn take(&mut self, start: usize, genres: &[&str]) -> Vec<(&'a Mutant, usize)> {
        let Some(found) = self.sought.get_mut(&start) else {
            return Vec::new();
        };
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(found)
            .into_iter()
            .partition(|(mutant, _)| genres.contains(&mutant.what.genre.as_str()));
        *found = left;
        if !self.constant {
            return taken;
        }
        for (mutant, _) in taken {
            self.unwoven.insert(mutant.id, "in a constant function".to_owned());
        }
        Vec::new()
    }

    fn wrap(&mut self, range: Range<usize>, id: usize, other: String) {
        self.edits.push(Edit::Wrap { range, id, other });
    }

    /// The chain's text with `span` replaced.
    fn other(&self, chain: &Range<usize>, span: Range<usize>, by: &str) -> String {
        let (before, after) =
            (&self.text[chain.start..span.start], &self.text[span.end..chain.end]);
        format!("{before}{by}{after}")
    }

    fn function(&mut self, sig: &'a syn::Signature, block: &'a syn::Block) {
        let range = block.span().byte_range();
        let first = block.stmts.first().map_or(range.start + 1, |s| s.span().byte_range().start);
        let mut taken = self.take(range.start, &["FnValue"]);
        taken.extend(self.take(first, &["FnValue"]));
        let hidden = self.text[sig.output.span().byte_range()].contains("impl ");
        for (mutant, _) in taken {
            if hidden {
                let reason = "in a function whose result is one hidden type";
                self.unwoven.insert(mutant.id, reason.to_owned());
                continue;
            }
            let text = format!(
                " if ::switch::on({}) {{ return {}; }} ",
                mutant.id, mutant.what.replacement
            );
            self.edits.push(Edit::Insert { at: range.start + 1, id: mutant.id, text });
        }
    }

    fn within<T>(&mut self, constant: bool, visit: impl FnOnce(&mut Self) -> T) -> T {
        let (chain, before) = (self.chain.take(), self.constant);
        self.constant = constant;
        let result = visit(self);
        self.chain = chain;
        self.constant = before;
        result
    }
}

fn has_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'a> Visit<'a> for Finder<'a> {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.within(item.sig.constness.is_some(), |finder| {
            finder.function(&item.sig, &item.block);
            visit::visit_item_fn(finder, item);
        });
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.within(item.sig.constness.is_some(), |finder| {
            finder.function(&item.sig, &item.block);
            visit::visit_impl_item_fn(finder, item);
        });
    }
    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.within(item.sig.constness.is_some(), |finder| {
            if let Some(block) = &item.default {
                finder.function(&item.sig, block);
            }
            visit::visit_trait_item_fn(finder, item);
        });
    }
    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.within(true, |finder| visit::visit_item_const(finder, item));
    }
    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.within(true, |finder| visit::visit_impl_item_const(finder, item));
    }
    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.within(true, |finder| visit::visit_item_static(finder, item));
    }
    fn visit_expr_repeat(&mut self, expr: &'a syn::ExprRepeat) {
        self.visit_expr(&expr.expr);
        self.within(true, |finder| finder.visit_expr(&expr.len));
    }

    fn visit_expr(&mut self, expr: &'a syn::Expr) {
        let outer = self.chain.clone();
        match expr {
            syn::Expr::Binary(binary) => {
                let range = expr.span().byte_range();
                if self.chain.is_none() && !has_let(expr) {
                    self.chain = Some(range);
                }
                let start = binary.op.span().byte_range().start;
                for (mutant, end) in self.take(start, &["BinaryOperator"]) {
                    let Some(chain) = self.chain.clone() else {
                        let reason = "between patterns of `if let`";
                        self.unwoven.insert(mutant.id, reason.to_owned());
                        continue;
                    };
                    let other = self.other(&chain, start..end, &mutant.what.replacement);
                    self.wrap(chain, mutant.id, other);
                }
                visit::visit_expr(self, expr);
            }
            syn::Expr::Unary(unary) => {
                let range = expr.span().byte_range();
                let start = unary.op.span().byte_range().start;
                for (mutant, end) in self.take(start, &["UnaryOperator"]) {
                    let other = self.other(&range, start..end, &mutant.what.replacement);
                    self.wrap(range.clone(), mutant.id, other);
                }
                visit::visit_expr(self, expr);
            }
            _ => {
                self.chain = None;
                visit::visit_expr(self, expr);
            }
        }
        self.chain = outer;
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        let range = arm.span().byte_range();
        let pattern = arm.pat.span().byte_range();
        let mut deleted = self.take(range.start, &["MatchArm"]);
        if pattern.start != range.start {
            deleted.extend(self.take(pattern.start, &["MatchArm"]));
        }
        let guard = arm.guard.as_ref().map(|(_, guard)| guard);
        for (mutant, _) in deleted {
            match guard {
                Some(guard) if has_let(guard) => {
                    let at = guard.span().byte_range().start;
                    let text = format!("!::switch::on({}) && ", mutant.id);
                    self.edits.push(Edit::Insert { at, id: mutant.id, text });
                }
                Some(guard) => {
                    self.wrap(guard.span().byte_range(), mutant.id, "false".to_owned());
                }
                None => {
                    let text = format!(" if !::switch::on({})", mutant.id);
                    self.edits.push(Edit::Insert { at: pattern.end, id: mutant.id, text });
                }
            }
        }
        if let Some(guard) = guard {
            let range = guard.span().byte_range();
            for (mutant, _) in self.take(range.start, &["MatchArmGuard"]) {
                self.wrap(range.clone(), mutant.id, mutant.what.replacement.clone());
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'a syn::ExprStruct) {
        if let Some(base) = &expr.rest {
            let base = &self.text[base.span().byte_range()];
            for field in &expr.fields {
                let range = field.span().byte_range();
                for (mutant, _) in self.take(range.start, &["StructField"]) {
                    let syn::Member::Named(name) = &field.member else {
                        continue;
                    };
                    if field.colon_token.is_none() {
                        let reason = "a field in short form";
                        self.unwoven.insert(mutant.id, reason.to_owned());
                        continue;
                    }
                    let value = field.expr.span().byte_range();
                    self.wrap(value, mutant.id, format!("({base}).{name}"));
                }
            }
        }
        visit::visit_expr_struct(self, expr);
    }
}

/// The mutants at which an error points: those whose own text it names, or else the smallest around it.
fn culprits(spots: &[Spot], error: &Value) -> BTreeSet<usize> {
    let mut primary = Vec::new();
    let mut others = Vec::new();
    places(error, &mut primary, &mut others);
    for (file, range) in primary.iter().chain(&others) {
        let meets =
            |a: &Range<usize>| a.start < range.end.max(range.start + 1) && range.start < a.end;
        let own: BTreeSet<usize> = spots
            .iter()
            .filter(|spot| spot.file == *file && meets(&spot.own))
            .map(|spot| spot.id)
            .collect();
        if !own.is_empty() && own.len() <= 4 {
            return own;
        }
        let around = spots.iter().filter(|spot| spot.file == *file && meets(&spot.whole));
        if let Some(spot) = around.min_by_key(|spot| spot.whole.len()) {
            return BTreeSet::from([spot.id]);
        }
    }
    // A returned value whose type disagrees with the body's: the error stands at the body.
    let mut before = Vec::new();
    for (file, range) in &primary {
        let spots = spots.iter().filter(|spot| spot.file == *file && spot.own.end <= range.start);
        before.extend(spots.max_by_key(|spot| spot.own.end).map(|spot| spot.id));
    }
    before.into_iter().collect()
}

type Places = Vec<(String, Range<usize>)>;

fn places(message: &Value, primary: &mut Places, others: &mut Places) {
    for span in message["spans"].as_array().into_iter().flatten() {
        let file = span["file_name"].as_str().unwrap_or("").to_owned();
        let byte = |name: &str| span[name].as_u64().unwrap_or(0) as usize;
        let range = byte("byte_start")..byte("byte_end");
        if span["is_primary"] == true {
            primary.push((file, range));
        } else {
            others.push((file, range));
        }
    }
    for child in message["children"].as_array().into_iter().flatten() {
        let mut deeper = Vec::new();
        places(child, &mut deeper, others);
        others.extend(deeper);
    }
}

/// Builds all tests of the tree. The errors of the compiler, none when all was built; then `built.json` names the
/// test binaries with their folders.
fn build(work: &Path) -> Result<Vec<Value>, String> {
    let output = Command::new("cargo")
        .args(["test", "--release", "--workspace", "--no-run", "--message-format=json"])
        .current_dir(work.join("tree"))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| e.to_string())?;
    let mut errors = Vec::new();
    let mut built: Vec<(String, String, String)> = Vec::new();
    for line in output.stdout.split(|&byte| byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
            let spans = message["message"]["spans"].as_array();
            if spans.is_some_and(|spans| !spans.is_empty()) {
                errors.push(message["message"].clone());
            }
        }
        if let Some(executable) = message["executable"].as_str() {
            let manifest = message["manifest_path"].as_str().unwrap_or("");
            let kind = if message["profile"]["test"] == true { "test" } else { "bin" };
            built.push((kind.to_owned(), executable.to_owned(), manifest.to_owned()));
        }
    }
    if output.status.success() {
        list::write(&work.join("built.json"), &built)?;
        return Ok(Vec::new());
    }
    if errors.is_empty() {
        return Err("cargo failed without an error of the compiler's".to_owned());
    }
    Ok(errors)
}
