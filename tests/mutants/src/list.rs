//! The list of mutants, and the draw.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Span {
    pub start: Place,
    pub end: Place,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    pub function_name: String,
}

/// What cargo-mutants' list says of a mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listed {
    pub package: String,
    /// From the workspace's root.
    pub file: String,
    pub function: Option<Function>,
    pub span: Span,
    pub replacement: String,
    pub genre: String,
    #[serde(default)]
    pub name: String,
}

/// A drawn mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mutant {
    /// The switch that turns it on, from 1.
    pub id: usize,
    /// What it was drawn for.
    pub place: String,
    #[serde(flatten)]
    pub what: Listed,
}

impl Mutant {
    /// One line that names it.
    pub fn line(&self) -> String {
        if !self.what.name.is_empty() {
            return self.what.name.clone();
        }
        let Place { line, column } = self.what.span.start;
        let function = self.what.function.as_ref();
        format!(
            "{}:{line}:{column}: {} -> {:?} in {}",
            self.what.file,
            self.what.genre,
            self.what.replacement,
            function.map_or("?", |f| f.function_name.as_str())
        )
    }
}

pub fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// splitmix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

pub fn draw(work: &Path, seed: u64, places: &[String]) -> Result<(), String> {
    let listed: Vec<Listed> =
        serde_json::from_reader(std::io::stdin().lock()).map_err(|e| e.to_string())?;
    let mut wanted = Vec::new();
    for place in places {
        let (prefix, count) = place.split_once('=').ok_or("a place is FOLDER=COUNT")?;
        let count: usize = count.parse().map_err(|_| "a count is a number")?;
        wanted.push((prefix.to_owned(), count));
    }
    let mut pools: BTreeMap<usize, Vec<Listed>> = BTreeMap::new();
    for mutant in listed {
        let found = wanted.iter().position(|(prefix, _)| mutant.file.starts_with(prefix));
        if let Some(place) = found {
            pools.entry(place).or_default().push(mutant);
        }
    }
    let mut drawn = Vec::new();
    let mut rng = Rng(seed);
    for (place, (prefix, count)) in wanted.iter().enumerate() {
        let mut pool = pools.remove(&place).unwrap_or_default();
        println!("{prefix}: {} listed, {} drawn", pool.len(), pool.len().min(*count));
        for _ in 0..*count {
            if pool.is_empty() {
                break;
            }
            let what = pool.swap_remove(rng.below(pool.len()));
            let id = drawn.len() + 1;
            drawn.push(Mutant { id, place: prefix.clone(), what });
        }
    }
    println!("{} drawn", drawn.len());
    write(&work.join("drawn.json"), &drawn)
}
