//! Built-in variables that naga's reader of GLSL has no names for: inputs and outputs of other names, whose
//! bindings are put right behind the reader.

use super::text::Work;
use crate::diagnostic::Diagnostic;
use gpucc_ir::ssa::Stage;
use naga::BuiltIn;

/// Far from every location of a program's own.
const FIRST_LOCATION: u32 = 200;

/// A built-in input: the names in the text, ours, its type, and what it is.
struct Input {
    names: &'static [&'static str],
    own: &'static str,
    ty: &'static str,
    builtin: BuiltIn,
}

const INPUTS: [Input; 6] = [
    Input {
        names: &["gl_SubgroupSize", "gl_SubGroupSizeARB"],
        own: "gpucc_SubgroupSize",
        ty: "uint",
        builtin: BuiltIn::SubgroupSize,
    },
    Input {
        names: &["gl_SubgroupInvocationID", "gl_SubGroupInvocationARB"],
        own: "gpucc_SubgroupInvocationID",
        ty: "uint",
        builtin: BuiltIn::SubgroupInvocationId,
    },
    Input {
        names: &["gl_SubgroupID"],
        own: "gpucc_SubgroupID",
        ty: "uint",
        builtin: BuiltIn::SubgroupId,
    },
    Input {
        names: &["gl_NumSubgroups"],
        own: "gpucc_NumSubgroups",
        ty: "uint",
        builtin: BuiltIn::NumSubgroups,
    },
    Input {
        names: &["gl_ViewIndex"],
        own: "gpucc_ViewIndex",
        ty: "int",
        builtin: BuiltIn::ViewIndex,
    },
    Input {
        names: &["gl_SampleMaskIn"],
        own: "gpucc_SampleMaskIn",
        ty: "uint",
        builtin: BuiltIn::SampleMask,
    },
];
/// The only built-in output among them.
const SAMPLE_MASK: &str = "gpucc_SampleMask";

impl Work<'_> {
    /// Declares those that the text uses. Library functions in front of the text may use them too.
    pub fn builtins(&mut self) {
        let flat = match self.stage {
            Stage::Fragment => "flat ",
            _ => "",
        };
        let library = self.prelude.concat();
        let mut declared = String::new();
        for (index, input) in INPUTS.iter().enumerate() {
            let mut used = input.names.iter().any(|name| library.contains(name));
            for name in input.names {
                for &at in &self.uses(name).to_vec() {
                    if input.own == "gpucc_SampleMaskIn" {
                        // An array of one word.
                        if self.word(at + 1) != "[" || self.word(at + 3) != "]" {
                            continue;
                        }
                        self.replace_text(at, at + 3, "int(gpucc_SampleMaskIn)");
                    } else {
                        self.replace_exactly(at, input.own);
                    }
                    used = true;
                }
            }
            if used {
                let location = FIRST_LOCATION + index as u32;
                declared.push_str(&format!(
                    "layout(location = {location}) {flat}in {} {}; ",
                    input.ty, input.own
                ));
            }
        }
        for text in &mut self.prelude {
            for input in &INPUTS {
                for name in input.names {
                    if text.contains(name) {
                        *text = text.replace(name, input.own);
                    }
                }
            }
        }
        let masks: Vec<usize> = self
            .uses("gl_SampleMask")
            .iter()
            .copied()
            .filter(|&at| self.word(at + 1) == "[" && self.word(at + 3) == "]")
            .collect();
        for &at in &masks {
            self.replace_text(at, at + 3, SAMPLE_MASK);
        }
        if !masks.is_empty() && self.stage == Stage::Fragment {
            declared.push_str(&format!(
                "layout(location = {}) out int {SAMPLE_MASK}; ",
                FIRST_LOCATION + INPUTS.len() as u32
            ));
        }
        if !declared.is_empty() {
            self.prelude.insert(0, declared);
        }
        let devices = self.uses("gl_DeviceIndex").to_vec();
        for &at in &devices {
            self.replace_exactly(at, "0");
        }
        if !devices.is_empty() {
            let text = "gl_DeviceIndex is 0: there is one device";
            self.notes.push(Diagnostic::note("device-index", text));
        }
    }
}

/// The built-in value behind a name of ours, or of a variable that only looks like one of the program's:
/// `out float gl_ClipDistance[2];` gives naga a variable like any other.
fn builtin(name: &str) -> Option<BuiltIn> {
    Some(match name {
        "gl_ClipDistance" => BuiltIn::ClipDistances,
        "gl_CullDistance" => BuiltIn::CullDistance,
        SAMPLE_MASK => BuiltIn::SampleMask,
        _ => {
            return INPUTS.iter().find(|input| input.own == name).map(|input| input.builtin);
        }
    })
}

/// Puts the bindings of such variables right.
pub fn bind(module: &mut naga::Module) {
    let binding = |name: &Option<String>| {
        let builtin = builtin(name.as_deref()?)?;
        Some(naga::Binding::BuiltIn(builtin))
    };
    let mut results = Vec::new();
    for entry in &mut module.entry_points {
        for argument in &mut entry.function.arguments {
            if let Some(found) = binding(&argument.name) {
                argument.binding = Some(found);
            }
        }
        results.extend(entry.function.result.as_ref().map(|result| result.ty));
    }
    for handle in results {
        let mut ty = module.types[handle].clone();
        let naga::TypeInner::Struct { members, .. } = &mut ty.inner else {
            continue;
        };
        let mut any = false;
        for member in members {
            if let Some(found) = binding(&member.name) {
                any = true;
                member.binding = Some(found);
            }
        }
        if any {
            module.types.replace(handle, ty);
        }
    }
}
