//! Results that last: what an entry point was compiled to without its SSA, and its form as bytes for caches on disk.
//!
//! A blob is a header and a payload, least significant byte first:
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 7 | `gpuccbin` |
//! | 8 to 11 | version of this layout |
//! | 12 to 15 | 0 |
//! | 16 to 47 | hash of [`PRODUCER`]: the build that made it and the only one that takes it |
//! | 48 to 79 | [`Key`] of the request |
//! | 80 to 87 | length of the payload |
//! | 88 to 119 | hash of bytes 0 to 87 and of the payload |
//! | 120 on | the payload, as MessagePack |

use crate::compiler::Compiled;
use crate::key::Key;
use crate::pipeline::Pipeline;
use crate::program::Program;
use crate::properties::Properties;
use crate::{Compiler, Diagnostic, Failure, PRODUCER};
use gpucc_ir::ssa::{Func, Input, Output, Resource, Span, Stage, parse_in_place};
use gpucc_machine::compiled::{self, Placed};
use gpucc_machine::described::Described;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A compiled entry point without the SSA that it was made of: code and all that runs and describes it.
#[derive(Clone)]
pub struct Binary {
    /// Entry point.
    pub entry: String,
    /// Stage.
    pub stage: Stage,
    /// Machine code and all that runs and describes it; `None` for the interpreter.
    pub program: Option<Program>,
    /// What was inferred, one note each.
    pub notes: Vec<Diagnostic>,
}

/// What a request gave, as a cache keeps it.
#[derive(Clone, Default)]
pub struct Stored {
    /// Warnings about the source.
    pub warnings: Vec<Diagnostic>,
    /// Entry points in source order.
    pub entries: Vec<StoredEntry>,
}

/// An entry point as a cache keeps it.
#[derive(Clone)]
pub struct StoredEntry {
    /// What a driver keeps. A program that was loaded runs on the emulator. Its [`Program::expanded`] has the declarations
    /// and no code, so nothing can be proved with it.
    pub binary: Binary,
    /// What would be found in its SSA.
    pub properties: Properties,
}

/// Why a blob is not taken. All of them mean: compile again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// It does not begin as a blob does.
    #[error("it is no blob of gpucc")]
    Foreign,
    /// It ends early, or goes on behind its end.
    #[error("it has {found} bytes and should have {expected}")]
    Length {
        /// Bytes that its header promises.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// Another layout, or another build made it.
    #[error("another build of gpucc made it")]
    OtherBuild,
    /// Its bytes are not those that were written.
    #[error("it is damaged: its hash differs")]
    Damaged,
    /// It is the result of another request.
    #[error("it belongs to another key")]
    OtherKey,
    /// Its hash holds, and yet it cannot be what this build writes.
    #[error("it is not what this build writes: {0}")]
    Forged(String),
}

impl From<Rejected> for Failure {
    fn from(rejected: Rejected) -> Failure {
        Failure::usage(format!("the blob is not taken: {rejected}"))
    }
}

const MAGIC: &[u8; 8] = b"gpuccbin";
const VERSION: u32 = 1;
/// Bytes in front of the hash.
const HASHED: usize = 88;
/// Bytes in front of the payload.
const HEADER: usize = HASHED + 32;

fn build() -> [u8; 32] {
    *blake3::hash(PRODUCER.as_bytes()).as_bytes()
}

fn hash(head: &[u8], payload: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new().update(head).update(payload).finalize().as_bytes()
}

/// The key and the payload of a blob whose header and hash hold.
fn open(blob: &[u8]) -> Result<(Key, &[u8]), Rejected> {
    if !blob.starts_with(MAGIC) {
        return Err(Rejected::Foreign);
    }
    let found = blob.len() as u64;
    let Some((header, payload)) = blob.split_at_checked(HEADER) else {
        return Err(Rejected::Length { expected: HEADER as u64, found });
    };
    let field = |range: Range<usize>| header[range].try_into().expect("the header has it");
    if header[8..12] != VERSION.to_le_bytes() || field(16..48) != build() {
        return Err(Rejected::OtherBuild);
    }
    let length = u64::from_le_bytes(header[80..88].try_into().expect("eight bytes"));
    if length != payload.len() as u64 {
        return Err(Rejected::Length { expected: length.saturating_add(HEADER as u64), found });
    }
    if field(HASHED..HEADER) != hash(&header[..HASHED], payload) {
        return Err(Rejected::Damaged);
    }
    Ok((Key(field(48..80)), payload))
}

/// The blob with this payload.
fn seal(key: &Key, payload: &[u8]) -> Vec<u8> {
    let mut blob = Vec::with_capacity(HEADER + payload.len());
    blob.extend_from_slice(MAGIC);
    blob.extend_from_slice(&VERSION.to_le_bytes());
    blob.extend_from_slice(&[0; 4]);
    blob.extend_from_slice(&build());
    blob.extend_from_slice(&key.0);
    blob.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    blob.extend_from_slice(&hash(&blob, payload));
    blob.extend_from_slice(payload);
    blob
}

impl Stored {
    /// What a request gave: its warnings, and all its entry points.
    pub fn of(warnings: &[Diagnostic], compiled: &[Compiled]) -> Stored {
        let entry = |one: &Compiled| StoredEntry {
            binary: one.binary.clone(),
            properties: Properties::of(&one.ssa),
        };
        Stored { warnings: warnings.to_vec(), entries: compiled.iter().map(entry).collect() }
    }

    /// The blob under the key of its request: the same bytes wherever the same build makes it.
    ///
    /// # Errors
    /// Results of the interpreter: there is no code to keep.
    pub fn to_blob(&self, key: &Key) -> Result<Vec<u8>, Failure> {
        let entries: Option<Vec<Entry>> = self.entries.iter().map(Entry::of).collect();
        let entries =
            entries.ok_or_else(|| Failure::usage("the interpreter has no machine code to keep"))?;
        let program = self.entries.iter().find_map(|entry| entry.binary.program.as_ref());
        let payload = Payload {
            target: program.map_or("", |program| program.machine.about().name).into(),
            chip: program.map_or("", |program| program.chip).into(),
            warnings: self.warnings.clone(),
            entries,
        };
        let payload = rmp_serde::to_vec_named(&payload)
            .map_err(|error| Failure::internal("the blob", error))?;
        Ok(seal(key, &payload))
    }
}

impl Compiler {
    /// Reads what [`Stored::to_blob`] wrote, for this compiler's machine and chip.
    ///
    /// # Errors
    /// [`Rejected`]: compile again.
    pub fn load(&self, key: &Key, blob: &[u8]) -> Result<Stored, Rejected> {
        let (own, payload) = open(blob)?;
        if own != *key {
            return Err(Rejected::OtherKey);
        }
        let payload: Payload =
            rmp_serde::from_slice(payload).map_err(|error| Rejected::Forged(error.to_string()))?;
        let (Some(machine), Some(chip)) = (self.target().built(), self.chip()) else {
            return Err(Rejected::OtherKey);
        };
        if (&*payload.target, &*payload.chip) != (machine.about().name, chip) {
            return Err(Rejected::OtherKey);
        }
        let mut stored = Stored { warnings: payload.warnings, ..Stored::default() };
        for entry in payload.entries {
            let (compiled, properties) = entry.restore()?;
            let program = Program { machine, chip, compiled };
            let binary = Binary {
                entry: program.expanded().name.clone(),
                stage: program.expanded().stage,
                notes: program.notes(),
                program: Some(program),
            };
            stored.entries.push(StoredEntry { binary, properties });
        }
        Ok(stored)
    }
}

#[derive(Serialize, Deserialize)]
struct Payload {
    target: String,
    chip: String,
    warnings: Vec<Diagnostic>,
    entries: Vec<Entry>,
}

/// [`compiled::Compiled`], with what its serialised parts leave out.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// Declarations of the expanded SSA, as text.
    declared: String,
    #[serde(with = "bytes")]
    code: Vec<u8>,
    programs: Vec<Part>,
    described: Described,
    links: Links,
    /// Offset in the code, first byte and end of the source.
    lines: Vec<(u32, u32, u32)>,
    notes: Vec<String>,
    pipeline: Pipeline,
    properties: Properties,
}

#[derive(Serialize, Deserialize)]
struct Part {
    name: String,
    within: Option<Range<usize>>,
    #[serde(with = "bytes")]
    apart: Vec<u8>,
    registers: u32,
}

/// Numbers of what descriptions refer to in the expanded SSA, in the order of the descriptions.
#[derive(Serialize, Deserialize)]
struct Links {
    resources: Vec<Option<u32>>,
    inputs: Vec<Option<u32>>,
    outputs: Vec<Option<u32>>,
    constants: Vec<Option<u32>>,
}

impl Links {
    fn of(described: &mut Described) -> Links {
        let mut links = Links {
            resources: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            constants: Vec::new(),
        };
        described
            .resources
            .iter()
            .for_each(|it| links.resources.push(it.resource.map(Resource::as_u32)));
        described.inputs.iter().for_each(|it| links.inputs.push(it.input.map(Input::as_u32)));
        described.outputs.iter().for_each(|it| links.outputs.push(it.output.map(Output::as_u32)));
        let bindings = described.driver_constants.iter_mut();
        links.constants.extend(bindings.filter_map(|constant| {
            let binding = constant.word.binding_mut()?;
            Some(binding.resource.map(Resource::as_u32))
        }));
        links
    }

    /// Puts them back; false where one leads nowhere.
    fn restore(&self, described: &mut Described, declared: &Func) -> bool {
        let resource = |number: &Option<u32>| number.map(Resource::from_u32);
        let mut constants = self.constants.iter();
        let bindings = described.driver_constants.iter_mut();
        for binding in bindings.filter_map(|constant| constant.word.binding_mut()) {
            binding.resource = constants.next().and_then(resource);
        }
        let whole = self.resources.len() == described.resources.len()
            && self.inputs.len() == described.inputs.len()
            && self.outputs.len() == described.outputs.len()
            && constants.next().is_none();
        for (it, number) in described.resources.iter_mut().zip(&self.resources) {
            it.resource = resource(number);
        }
        for (it, number) in described.inputs.iter_mut().zip(&self.inputs) {
            it.input = number.map(Input::from_u32);
        }
        for (it, number) in described.outputs.iter_mut().zip(&self.outputs) {
            it.output = number.map(Output::from_u32);
        }
        let below = |numbers: &[Option<u32>], length: usize| {
            numbers.iter().flatten().all(|&number| (number as usize) < length)
        };
        whole
            && below(&self.resources, declared.resources.len())
            && below(&self.constants, declared.resources.len())
            && below(&self.inputs, declared.inputs.len())
            && below(&self.outputs, declared.outputs.len())
    }
}

impl Entry {
    fn of(entry: &StoredEntry) -> Option<Entry> {
        let compiled = entry.binary.program.as_ref()?.compiled();
        let mut described = compiled.described.clone();
        let programs = compiled.programs.iter().map(|program| {
            let (within, apart) = match &program.code {
                Placed::Within(range) => (Some(range.clone()), Vec::new()),
                Placed::Apart(code) => (None, code.clone()),
            };
            let name = program.name.to_string();
            Part { name, within, apart, registers: program.registers }
        });
        Some(Entry {
            declared: compiled.expanded.declarations().to_string(),
            code: compiled.code.clone(),
            programs: programs.collect(),
            links: Links::of(&mut described),
            described,
            lines: compiled.lines.iter().map(|&(at, span)| (at, span.start, span.end)).collect(),
            notes: compiled.notes.clone(),
            pipeline: Pipeline::of(compiled.pipeline.clone()),
            properties: entry.properties.clone(),
        })
    }

    fn restore(mut self) -> Result<(compiled::Compiled, Properties), Rejected> {
        let forged = |what: &str| Rejected::Forged(what.to_owned());
        let mut declared =
            parse_in_place(&self.declared).map_err(|error| forged(&error.message))?;
        let (Some(expanded), true) = (declared.funcs.pop(), declared.funcs.is_empty()) else {
            return Err(forged("an entry point has declarations of its own"));
        };
        if !self.links.restore(&mut self.described, &expanded) {
            return Err(forged("a description leads nowhere"));
        }
        let length = self.code.len();
        let programs = self.programs.into_iter().map(|part| {
            let code = match part.within {
                Some(range) if range.start <= range.end && range.end <= length => {
                    Placed::Within(range)
                }
                Some(_) => return Err(forged("a program lies outside the code")),
                None => Placed::Apart(part.apart),
            };
            Ok(compiled::Program { name: part.name.into(), code, registers: part.registers })
        });
        let programs = programs.collect::<Result<_, _>>()?;
        let span = |(at, start, end)| (at, Span { start, end });
        let made = compiled::Compiled {
            code: self.code,
            programs,
            described: self.described,
            expanded,
            lines: self.lines.into_iter().map(span).collect(),
            notes: self.notes,
            pipeline: self.pipeline.state(),
            dumps: Vec::new(),
            times: Vec::new(),
        };
        Ok((made, self.properties))
    }
}

/// Bytes in one piece rather than as a list of numbers.
mod bytes {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::{Choice, Options, Source, SourceText, Target};
    use gpucc_emu::world::{Bindings, Bound};

    const SHADER: &str = "
        @group(0) @binding(3) var<storage, read_write> words: array<u32>;
        var<workgroup> turned: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32,
            @builtin(num_workgroups) groups: vec3u) {
            turned[i] = i * groups.x;
            workgroupBarrier();
            words[i] = turned[63u - i] + arrayLength(&words);
        }";

    /// The compiler, the key and the result; none where the machine refuses the shader.
    fn compiled(target: Target, options: &Options) -> Option<(Compiler, Key, Compiled)> {
        let compiler = Compiler::new(target, None).expect("it is built");
        let (source, choice) = (Source::Wgsl(SHADER), Choice::default());
        let mut parsed = compiler.parse(source, choice, options).expect("it is right");
        let func = parsed.entries.remove(0).func.expect("it is right");
        let key = compiler.key(source, choice, options).expect("nothing is included");
        let compiled = match compiler.compile(&func, options) {
            Ok(compiled) => compiled,
            Err(failure) => {
                assert_eq!(failure.exit_code(), 3, "{failure}");
                return None;
            }
        };
        Some((compiler, key, compiled))
    }

    fn left(program: &Program) -> Vec<u8> {
        let mut bindings = Bindings::new(program.expanded());
        let (words, _) = program.expanded().resources.iter().next().expect("one binding");
        bindings.set(words, Bound::Buffer(vec![0; 256]));
        let mut executor = program.executor(&SourceText::new("", Some(SHADER.into())));
        executor.dispatch(&mut bindings, [2, 1, 1]).expect("it runs");
        bindings.get(words, 0).bytes().to_vec()
    }

    #[test]
    fn a_loaded_program_is_the_stored_one_and_runs() {
        let mut stores = 0;
        for target in Target::machines() {
            // Not every machine stores to memory.
            let Some((compiler, key, made)) = compiled(target, &Options::default()) else {
                continue;
            };
            stores += 1;
            let blob = Stored::of(&[], std::slice::from_ref(&made)).to_blob(&key).expect("code");
            let loaded = compiler.load(&key, &blob).expect("it is its own");
            assert_eq!(loaded.to_blob(&key).expect("code"), blob, "{target:?}");
            let (before, after) = (&made.program, &loaded.entries[0].binary.program);
            let (before, after) = (before.as_ref().expect("code"), after.as_ref().expect("code"));
            assert_eq!(before.code(), after.code());
            assert_eq!(before.compiled().described, after.compiled().described, "{target:?}");
            assert_eq!(left(before), left(after), "{target:?}");
            assert_eq!(left(before)[..4], (63 * 2 + 64u32).to_le_bytes(), "{target:?}");
        }
        assert!(stores > 0);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (compiler, key, made) =
            compiled(Target::USUAL, &Options::default()).expect("it compiles");
        let blob = Stored::of(&[], &[made]).to_blob(&key).expect("code");
        for at in 0..blob.len() {
            let mut other = blob.clone();
            other[at] ^= 1 << (at % 8);
            assert!(compiler.load(&key, &other).is_err(), "byte {at}");
            assert!(compiler.load(&key, &blob[..at]).is_err(), "cut at {at}");
        }
        let longer: Vec<u8> = blob.iter().copied().chain([0]).collect();
        let length = Rejected::Length { expected: blob.len() as u64, found: longer.len() as u64 };
        assert_eq!(compiler.load(&key, &longer).err(), Some(length));
        let mut other = blob.clone();
        other[16] ^= 1;
        assert_eq!(compiler.load(&key, &other).err(), Some(Rejected::OtherBuild));
        assert_eq!(compiler.load(&Key([0; 32]), &blob).err(), Some(Rejected::OtherKey));
        let another = Target::machines().find(|&target| target != Target::USUAL);
        let elsewhere =
            Compiler::new(another.expect("another machine"), None).expect("it is built");
        assert_eq!(elsewhere.load(&key, &blob).err(), Some(Rejected::OtherKey));
        assert_eq!(compiler.load(&key, b"\x7fELF").err(), Some(Rejected::Foreign));
    }

    #[test]
    fn a_forged_payload_is_refused_or_harmless() {
        let (compiler, key, made) =
            compiled(Target::USUAL, &Options::default()).expect("it compiles");
        let blob = Stored::of(&[], &[made]).to_blob(&key).expect("code");
        let payload = &blob[HEADER..];
        for at in 0..payload.len() {
            for bits in [1, 0x80, 0xff] {
                let mut other = payload.to_vec();
                other[at] ^= bits;
                if let Ok(stored) = compiler.load(&key, &seal(&key, &other)) {
                    let entries = stored.entries.iter();
                    for program in entries.filter_map(|entry| entry.binary.program.as_ref()) {
                        let _ = program.parts().count() + program.beside().count();
                        let _ = program.pipeline();
                    }
                }
            }
        }
    }

    #[test]
    fn a_key_counts_what_decides_the_result() {
        let key = |source, choice, change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            let compiler = Compiler::new(Target::USUAL, None).expect("it is built");
            compiler.key(source, choice, &options).expect("nothing is included")
        };
        let plain = key(Source::Wgsl(SHADER), Choice::default(), |_| ());
        assert_eq!(plain, key(Source::Wgsl(SHADER), Choice::default(), |it| it.keep_steps = true));
        let chosen = Choice { entry: Some("main"), stage: None };
        let glsl = |stage| key(Source::Glsl(SHADER, stage), Choice::default(), |_| ());
        let others = [
            key(Source::Ir(SHADER), Choice::default(), |_| ()),
            glsl(Stage::Vertex),
            glsl(Stage::Fragment),
            key(Source::Wgsl("a"), Choice::default(), |_| ()),
            key(Source::Wgsl(SHADER), chosen, |_| ()),
            key(Source::Wgsl(SHADER), Choice::default(), |it| it.bound_loops = true),
            key(Source::Wgsl(SHADER), Choice::default(), |it| it.fuel = Some(3)),
            key(Source::Wgsl(SHADER), Choice::default(), |it| {
                it.overrides.insert("a".into(), 0.0);
            }),
            key(Source::Wgsl(SHADER), Choice::default(), |it| {
                it.overrides.insert("a".into(), -0.0);
            }),
            key(Source::Wgsl(SHADER), Choice::default(), |it| {
                it.pipeline.fragment = Some(crate::pipeline::FragmentState::default());
            }),
            key(Source::Wgsl(SHADER), Choice::default(), |it| {
                it.defines.push(("A".into(), String::new()));
            }),
        ];
        let mut all: Vec<Key> = others.into_iter().chain([plain]).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(Key([0xa5; 32]).to_string(), "a5".repeat(32));
    }

    #[test]
    fn included_texts_count() {
        let source = "#version 450\n#include \"a.glsl\"\nvoid main() { }";
        let key = |text: &str| {
            let mut options = Options::default();
            let texts = [("a.glsl".to_owned(), text.to_owned())];
            options.includes = Some(crate::Includes::of(texts.into_iter().collect()));
            let compiler = Compiler::new(Target::USUAL, None).expect("it is built");
            compiler.key(Source::Glsl(source, Stage::Compute), Choice::default(), &options)
        };
        assert_eq!(key("int a;"), key("int a;"));
        assert_ne!(key("int a;"), key("int b;"));
    }
}
