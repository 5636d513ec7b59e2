//! Keys of caches: equal requests of equal builds have equal keys, wherever they are made.

use crate::describe::hex;
use crate::{Choice, Compiler, Failure, Options, PRODUCER, Source};
use std::fmt;

/// The name of a request and of what it gives: a hash of the build, the machine, the source and all options that decide the
/// result.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// The key of what this request gives where the other one decides too: the vertex stage of a linked pair.
    #[must_use]
    pub fn beside(&self, other: &Key) -> Key {
        Key(*blake3::Hasher::new().update(&self.0).update(&other.0).finalize().as_bytes())
    }
}

/// 64 lower-case hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// A hash of fields, each with its length in front, so that no two lists of fields run into one.
struct Fields(blake3::Hasher);

impl Fields {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// The form for debugging, which stays the same within a build, and a key never outlives its build.
    fn value(&mut self, value: impl fmt::Debug) {
        self.text(&format!("{value:?}"));
    }

    fn number(&mut self, value: f64) {
        self.bytes(&value.to_bits().to_le_bytes());
    }
}

impl Compiler {
    /// The key of what [`Compiler::parse`] and [`Compiler::compile`] make of a request, without making it. Options that only ask
    /// for more to look at (dumps, machine IR, steps) do not count.
    ///
    /// # Errors
    /// GLSL with [`Options::includes`] is preprocessed, because the included texts count: what fails there fails here.
    pub fn key(
        &self,
        source: Source<'_>,
        choice: Choice<'_>,
        options: &Options,
    ) -> Result<Key, Failure> {
        let mut fields = Fields(blake3::Hasher::new());
        fields.text(PRODUCER);
        fields.text(self.target().name());
        fields.text(self.chip().unwrap_or_default());
        let (language, bytes) = match source {
            Source::Wgsl(text) => ("wgsl", text.as_bytes()),
            Source::SpirV(bytes) => ("spirv", bytes),
            Source::Glsl(text, _) => ("glsl", text.as_bytes()),
            Source::Ir(text) => ("ir", text.as_bytes()),
        };
        fields.text(language);
        fields.bytes(bytes);
        if let Source::Glsl(text, stage) = source {
            fields.value(stage);
            if options.includes.is_some() && text.contains("include") {
                fields.text(&self.preprocess(text, options)?);
            }
        }
        let Choice { entry, stage } = choice;
        fields.value((entry, stage));
        add(options, &mut fields);
        Ok(Key(*fields.0.finalize().as_bytes()))
    }
}

/// Every option is named here: one that is added must be counted or left out knowingly.
fn add(options: &Options, fields: &mut Fields) {
    let Options {
        effort,
        robust,
        bound_loops,
        keep_workgroup,
        skip,
        stop_after,
        fuel,
        budget,
        evidence,
        verify_each: _,
        pipeline,
        overrides,
        overrides_default,
        defines,
        includes: _,
        cancel: _,
        dump_after: _,
        keep_machine_ir: _,
        keep_steps: _,
    } = options;
    fields.value((effort, robust, bound_loops, keep_workgroup, skip, stop_after, fuel));
    fields.value((budget, evidence, defines));
    fields.bytes(&serde_json::to_vec(pipeline).expect("plain data"));
    fields.value(overrides.len());
    for (name, value) in overrides {
        fields.text(name);
        fields.number(*value);
    }
    fields.value(overrides_default.map(f64::to_bits));
}
