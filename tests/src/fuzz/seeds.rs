//! What mutations start from: sources of this repository, of the small corpus in `fuzz/seeds`, and of `../shared` where
//! it is present.

use super::Language;
use super::mutate::MOST_BYTES;
use gpucc::{Choice, Compiler, Options, Source, Stage, Target};
use gpucc_ir::ssa::random::Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A source.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Text or words.
    pub bytes: Vec<u8>,
    /// GLSL: its stage.
    pub stage: Stage,
    /// Assembly: its machine.
    pub target: Target,
}

/// The sources of one language; read when they are asked for.
pub struct Seeds {
    language: Language,
    /// Sources of the language itself.
    own: Vec<PathBuf>,
    /// Shaders that IR and assembly are made of.
    shaders: Vec<PathBuf>,
    made: BTreeMap<usize, Option<Rc<Seed>>>,
}

/// Programs made of chance that IR and assembly start from, besides those made of shaders.
const RANDOM: usize = 400;

/// How often assembly of a machine that nothing is compiled for counts: about as often as programs of one that is.
const WEIGHT: usize = 100;

impl Seeds {
    /// Finds the sources; `shared` is the folder of foreign material.
    pub fn find(language: Language, shared: Option<&Path>) -> Seeds {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders: Vec<PathBuf> =
            ["fuzz/seeds", "samples", "cli/tests", "tests/run", "passes/tests"]
                .iter()
                .map(|folder| root.join(folder))
                .collect();
        if let Some(shared) = shared {
            folders.push(shared.join("corpus"));
            folders.push(shared.join("repro"));
        }
        let mut files = Vec::new();
        for folder in folders {
            walk(&folder, &mut files);
        }
        let of = |language: Language| -> Vec<PathBuf> {
            let endings = language.endings();
            let fits = |path: &&PathBuf| {
                let ending = path.extension().unwrap_or_default().to_string_lossy();
                endings.contains(&ending.as_ref())
            };
            files.iter().filter(fits).cloned().collect()
        };
        let shaders = match language {
            Language::Ir | Language::Assembly => of(Language::Wgsl),
            _ => Vec::new(),
        };
        let weight = |path: &PathBuf| if named(path).is_some() { WEIGHT } else { 1 };
        let own = of(language);
        let own = own.iter().flat_map(|path| std::iter::repeat_n(path.clone(), weight(path)));
        Seeds { language, own: own.collect(), shaders, made: BTreeMap::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let random = match self.language {
            Language::Ir | Language::Assembly => RANDOM,
            _ => 0,
        };
        self.own.len() + self.shaders.len() + random
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A seed by its number; `None` when nothing of at most [`MOST_BYTES`] comes of it.
    pub fn get(&mut self, number: usize) -> Option<Rc<Seed>> {
        if let Some(made) = self.made.get(&number) {
            return made.clone();
        }
        let seed = self.make(number);
        let seed = seed.filter(|seed| seed.bytes.len() <= MOST_BYTES).map(Rc::new);
        self.made.insert(number, seed.clone());
        seed
    }

    /// Forgets what was read, so that a long run stays small.
    pub fn forget(&mut self) {
        self.made.clear();
    }

    fn make(&self, number: usize) -> Option<Seed> {
        let machines: Vec<Target> = Target::machines().collect();
        let target = machines[number % machines.len()];
        if let Some(path) = self.own.get(number) {
            let target = named(path).unwrap_or(target);
            return Some(Seed { bytes: std::fs::read(path).ok()?, stage: stage(path), target });
        }
        let number = number - self.own.len();
        let func = match self.shaders.get(number) {
            Some(path) => {
                let text = std::fs::read_to_string(path).ok()?;
                if text.len() > MOST_BYTES / 4 {
                    return None;
                }
                let mut options = Options::default();
                options.overrides_default = Some(1.0);
                let compiler = Compiler::new(Target::Interp, None).ok()?;
                let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
                parsed.ok()?.entries.into_iter().find_map(|entry| entry.func.ok())?
            }
            None => {
                let target = if self.language == Language::Ir { Target::Interp } else { target };
                crate::programs::program_of(target, (number - self.shaders.len()) as u64)
            }
        };
        let bytes = match self.language {
            Language::Assembly => {
                let compiler = Compiler::new(target, None).ok()?;
                let compiled = compiler.compile(&func, &Options::default()).ok()?;
                compiled.program.as_ref()?.assembly().ok()?.into_bytes()
            }
            // The same program as it stands and as the shared passes leave it.
            _ if number.is_multiple_of(2) => gpucc::print_ir(&func).into_bytes(),
            _ => {
                let compiler = Compiler::new(Target::Interp, None).ok()?;
                let compiled = compiler.compile(&func, &Options::default()).ok()?;
                gpucc::print_ir(&compiled.ssa).into_bytes()
            }
        };
        Some(Seed { bytes, stage: func.stage, target })
    }
}

/// The machine that a file is named after: assembly of that one.
fn named(path: &Path) -> Option<Target> {
    Target::by_name(&path.file_stem()?.to_string_lossy())
}

/// Numbers of seeds that one stretch of inputs draws from: few, so that each is read once.
pub fn pool(rng: &mut Rng, seeds: &Seeds) -> Vec<usize> {
    (0..48).map(|_| rng.below(seeds.len())).collect()
}

/// The stage that a file's name says; a fragment shader's where it says none.
pub fn stage(path: &Path) -> Stage {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.contains(".vert") {
        Stage::Vertex
    } else if name.contains(".comp") {
        Stage::Compute
    } else {
        Stage::Fragment
    }
}

/// Every file below a folder, in the order of their names.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push(path),
        }
    }
}
