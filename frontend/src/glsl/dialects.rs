//! What other versions of GLSL write differently: names of old built-in variables and functions,
//! qualifiers, redeclared blocks, the types that Vulkan adds for passes within a pass.

use super::text::Work;
use gpucc_ir::ssa::Stage;
use std::collections::BTreeSet;

/// Attributes that vertex programs had before they declared their own.
const ATTRIBUTES: [(&str, &str); 6] = [
    ("gl_Vertex", "vec4"),
    ("gl_Normal", "vec3"),
    ("gl_Color", "vec4"),
    ("gl_SecondaryColor", "vec4"),
    ("gl_FogCoord", "float"),
    ("gl_MultiTexCoord0", "vec4"),
];
/// What vertex programs handed on: the name there, the name in fragment programs, the type.
const HANDED_ON: [(&str, &str, &str); 3] = [
    ("gl_FrontColor", "gl_Color", "vec4"),
    ("gl_FrontSecondaryColor", "gl_SecondaryColor", "vec4"),
    ("gl_FogFragCoord", "gl_FogFragCoord", "float"),
];
/// Matrices of the fixed pipeline.
const MATRICES: [&str; 3] =
    ["gl_ModelViewProjectionMatrix", "gl_ModelViewMatrix", "gl_ProjectionMatrix"];
/// Texture functions of GLSL 1.x and what they are called since.
const TEXTURES: [(&str, &str); 16] = [
    ("texture1D", "texture"),
    ("texture2D", "texture"),
    ("texture3D", "texture"),
    ("textureCube", "texture"),
    ("texture1DProj", "textureProj"),
    ("texture2DProj", "textureProj"),
    ("texture3DProj", "textureProj"),
    ("texture1DLod", "textureLod"),
    ("texture2DLod", "textureLod"),
    ("texture3DLod", "textureLod"),
    ("textureCubeLod", "textureLod"),
    ("texture1DProjLod", "textureProjLod"),
    ("texture2DProjLod", "textureProjLod"),
    ("texture3DProjLod", "textureProjLod"),
    ("texture2DLodEXT", "textureLod"),
    ("textureCubeLodEXT", "textureLod"),
];
/// Words about memory that say nothing to a machine whose accesses are all alike.
const MEMORY: [&str; 3] = ["coherent", "volatile", "restrict"];
/// Redeclarations of built-in variables that tell only what naga assumes.
const TOLD: [&str; 4] = ["depth_any", "depth_greater", "depth_less", "depth_unchanged"];

impl<'a> Work<'a> {
    /// Names and qualifiers of other versions.
    pub fn dialects(&mut self) {
        self.old_version();
        self.redeclared_blocks();
        self.redeclared_variables();
        self.old_words();
        self.image_formats();
        self.old_outputs();
        self.old_inputs();
        self.subpasses();
        self.counters();
    }

    /// Counters of OpenGL are words of a buffer each.
    fn counters(&mut self) {
        for &index in &self.uses("atomic_uint").to_vec() {
            let first = self.declaration_start(index);
            let end = self.after_index(index + 2);
            let uniform = (first..index).find(|&at| self.word(at) == "uniform");
            let (Some(_), ";", true) = (uniform, self.word(end), self.is_word(index + 1)) else {
                continue;
            };
            if self.depth(index) > 0 {
                continue;
            }
            let name = self.word(index + 1);
            let own = self.between(index + 1, end);
            let text = format!("layout(std430) buffer gpucc_Counter_{name} {{ uint {own}; }}");
            self.replace_text(first, end - 1, &text);
        }
        for (name, before, after) in [
            ("atomicCounterIncrement", "gpucc_atomicAdd(", ", 1u)"),
            ("atomicCounterDecrement", "(gpucc_atomicAdd(", ", 0xffffffffu) - 1u)"),
            ("atomicCounter", "(", ")"),
        ] {
            for &index in &self.uses(name).to_vec() {
                if let Some(close) = self.closing(index + 1).filter(|_| self.word(index + 1) == "(")
                {
                    self.replace_text(index, index + 1, before);
                    self.replace_text(close, close, after);
                }
            }
        }
    }

    /// A text without a version, and the versions before 1.30 and with all that was old.
    fn old_version(&mut self) {
        let at = (0..self.tokens.len())
            .find(|&at| self.word(at) == "#" && self.word(at + 1) == "version");
        let Some(at) = at else {
            if !self.tokens.is_empty() {
                self.prelude.insert(0, "#version 450\n".to_owned());
            }
            return;
        };
        let number = self.word(at + 2);
        let profile = self.word(at + 3);
        match number {
            "100" | "110" | "120" => self.replace(at + 2, at + 2, "450"),
            _ if profile == "compatibility" => {
                self.replace_exactly(at + 2, "450");
                self.blank(at + 3, at + 3);
            }
            _ => {}
        }
    }

    /// `out gl_PerVertex { vec4 gl_Position; };` chooses among the built-in outputs, and says sizes of arrays.
    fn redeclared_blocks(&mut self) {
        for index in 1..self.tokens.len() {
            if self.word(index) != "gl_PerVertex" || self.word(index + 1) != "{" {
                continue;
            }
            let end = self.next(index, &["}"]);
            let end = end.and_then(|end| self.next(end, &[";"]));
            if let Some(end) = end
                && self.word(index - 1) == "out"
                && self.word(end - 1) == "}"
            {
                let first = self.declaration_start(index);
                self.blank(first, end);
                // naga sizes it by a declaration of its own.
                let sized = (index..end)
                    .find(|&at| self.word(at) == "gl_ClipDistance" && self.word(at + 1) == "[")
                    .and_then(|at| Some(self.between(at, self.closing(at + 1)? + 1)));
                if let Some(sized) = sized {
                    let start = self.tokens[first].start;
                    self.insert(start, format!("out float {sized}; "));
                }
            }
        }
    }

    /// `layout(depth_less) out float gl_FragDepth;` and `layout(origin_upper_left) in vec4 gl_FragCoord;`
    fn redeclared_variables(&mut self) {
        for index in 0..self.tokens.len() {
            let about = match self.word(index) {
                "gl_FragDepth" => &TOLD[..],
                "gl_FragCoord" => &["origin_upper_left"][..],
                "gl_Position" | "gl_PointSize" => &[],
                _ => continue,
            };
            if self.word(index + 1) != ";" || index == 0 || !self.is_word(index - 1) {
                continue;
            }
            let first = self.declaration_start(index);
            let known = (first..index).all(|at| {
                let word = self.word(at);
                about.contains(&word)
                    || matches!(word, "layout" | "(" | ")" | "in" | "out" | "float" | "vec4")
                    || matches!(word, "invariant" | "precise" | "highp" | "mediump" | "lowp")
            });
            let declares = (first..index).any(|at| matches!(self.word(at), "in" | "out"));
            if known && declares {
                self.blank(first, index + 1);
            }
        }
    }

    /// Images that are only written need no format in OpenGL: the widest of their kind.
    fn image_formats(&mut self) {
        for index in 0..self.tokens.len() {
            let word = self.word(index);
            let (format, rest) = match word.strip_prefix(['i', 'u']) {
                Some(rest) if word.starts_with("iimage") => ("rgba32i", rest),
                Some(rest) if word.starts_with("uimage") => ("rgba32ui", rest),
                _ => ("rgba32f", word),
            };
            let dimensioned = rest
                .strip_prefix("image")
                .is_some_and(|rest| matches!(rest, "1D" | "2D" | "3D" | "1DArray" | "2DArray"));
            if !dimensioned || !self.is_word(index + 1) || self.depth(index) > 0 {
                continue;
            }
            let first = self.declaration_start(index);
            let says = |work: &Self, what: &dyn Fn(&str) -> bool| {
                (first..index).any(|at| what(work.word(at)))
            };
            let sized = |word: &str| {
                word.starts_with("rgba")
                    || word.starts_with("rg16")
                    || word.starts_with("rg32")
                    || word.starts_with("rg8")
                    || word.starts_with("r8")
                    || word.starts_with("r16")
                    || word.starts_with("r32")
                    || word.starts_with("r11f")
                    || word.starts_with("rgb10")
                    || word.starts_with("r64")
            };
            let uniform = says(self, &|word| word == "uniform");
            let written = says(self, &|word| word == "writeonly");
            let parameter =
                says(self, &|word| word == "(") && !says(self, &|word| word == "layout");
            if uniform && written && !parameter && !says(self, &sized) {
                let at = (first..index).find(|&at| self.word(at) == "uniform").unwrap_or(first);
                self.qualify(first, at, format);
                let message =
                    format!("`{}` has no format: it is taken for {format}", self.word(index + 1));
                self.notes.push(crate::diagnostic::Diagnostic::note("format", message));
            }
        }
    }

    /// `attribute`, `varying`, old texture functions, and words that mean nothing here.
    fn old_words(&mut self) {
        let mut depth = 0;
        for index in 0..self.tokens.len() {
            let word = self.word(index);
            match word {
                "{" => depth += 1,
                "}" => depth -= 1,
                "attribute" if depth == 0 && self.is_word(index + 1) => {
                    self.replace_exactly(index, "in");
                }
                "varying" if depth == 0 && self.is_word(index + 1) => {
                    let direction = match self.stage {
                        Stage::Vertex => "out",
                        _ => "in",
                    };
                    self.replace_exactly(index, direction);
                }
                "unsigned" if self.word(index + 1) == "int" => {
                    self.replace_exactly(index, "uint");
                    self.blank(index + 1, index + 1);
                }
                "precise" if self.is_word(index + 1) => self.blank(index, index),
                _ if MEMORY.contains(&word) && self.is_word(index + 1) => self.blank(index, index),
                // Buffers that are only written: naga knows no such access.
                "writeonly" if self.is_buffer(index) => self.blank(index, index),
                _ if self.word(index + 1) == "(" => {
                    let renamed = TEXTURES.iter().find(|pair| pair.0 == word);
                    if let Some((_, name)) = renamed {
                        self.replace_exactly(index, name);
                    } else if matches!(word, "shadow1D" | "shadow2D") {
                        self.shadow(index);
                    }
                }
                _ => {}
            }
        }
    }

    /// `shadow2D(s, p)` gave four components.
    fn shadow(&mut self, index: usize) {
        let Some(close) = self.closing(index + 1) else {
            return;
        };
        self.replace_exactly(index, "vec4(vec3(texture");
        let after = self.tokens[close].end;
        self.insert(after, "), 1.0)");
    }

    /// A qualifier of a block of memory, before or behind `buffer`, or of its members.
    fn is_buffer(&self, index: usize) -> bool {
        let first = self.declaration_start(index);
        let here = (first..(index + 6).min(self.tokens.len()))
            .take_while(|&at| !matches!(self.word(at), ";" | "{"))
            .any(|at| self.word(at) == "buffer");
        here || self.depth(index) > 0
    }

    fn mentions(&self, name: &str) -> bool {
        !self.uses(name).is_empty()
    }

    /// Replaces every use of a name.
    fn rename(&mut self, from: &str, to: &str) {
        for index in self.uses(from).to_vec() {
            self.replace_exactly(index, to);
        }
    }

    /// The largest constant index of a built-in array and one; `full` where an index is computed.
    fn elements(&self, name: &str, full: u32) -> u32 {
        let mut count = 1;
        for &index in self.uses(name) {
            if self.word(index + 1) == "[" {
                let constant = self.word(index + 2).parse::<u32>();
                let known = constant.ok().filter(|_| self.word(index + 3) == "]");
                count = count.max(known.map_or(full, |at| at.saturating_add(1)).min(full));
            }
        }
        count
    }

    /// `gl_FragColor` and `gl_FragData`.
    fn old_outputs(&mut self) {
        if self.stage != Stage::Fragment {
            return;
        }
        if self.mentions("gl_FragColor") {
            self.prelude.push("layout(location = 0) out vec4 gpucc_FragColor; ".to_owned());
            self.rename("gl_FragColor", "gpucc_FragColor");
        } else if self.mentions("gl_FragData") {
            let count = self.elements("gl_FragData", 8);
            self.prelude.push(format!("layout(location = 0) out vec4 gpucc_FragData[{count}]; "));
            self.rename("gl_FragData", "gpucc_FragData");
        }
    }

    /// Built-in attributes, varyings and matrices of old.
    fn old_inputs(&mut self) {
        let vertex = self.stage == Stage::Vertex;
        if vertex && self.mentions("ftransform") {
            for index in 0..self.tokens.len() {
                if self.word(index) == "ftransform" && self.word(index + 2) == ")" {
                    let made = "(gpucc_ModelViewProjectionMatrix * gpucc_Vertex)";
                    self.replace_exactly(index, made);
                    self.blank(index + 1, index + 2);
                }
            }
        }
        let transforms = vertex && self.mentions("ftransform");
        let mut made = BTreeSet::new();
        let mut declare = |work: &mut Self, name: &str, text: &dyn Fn(&str) -> String| {
            let own = name.replacen("gl_", "gpucc_", 1);
            work.rename(name, &own);
            if made.insert(own.clone()) {
                work.prelude.push(text(&own));
            }
        };
        if vertex {
            for (name, ty) in ATTRIBUTES {
                if self.mentions(name) || transforms && name == "gl_Vertex" {
                    declare(self, name, &|own| format!("in {ty} {own}; "));
                }
            }
            for unit in 1..8 {
                let name = format!("gl_MultiTexCoord{unit}");
                if self.mentions(&name) {
                    declare(self, &name, &|own| format!("in vec4 {own}; "));
                }
            }
        }
        for (there, here, ty) in HANDED_ON {
            let (name, direction) = match self.stage {
                Stage::Vertex => (there, "out"),
                Stage::Fragment => (here, "in"),
                Stage::Compute => continue,
            };
            if self.mentions(name) {
                declare(self, name, &|own| format!("{direction} {ty} {own}; "));
            }
        }
        if self.mentions("gl_TexCoord") && self.stage != Stage::Compute {
            let count = self.elements("gl_TexCoord", 8);
            let direction = if vertex { "out" } else { "in" };
            declare(self, "gl_TexCoord", &|own| format!("{direction} vec4 {own}[{count}]; "));
        }
        for name in MATRICES {
            if self.mentions(name) || transforms && name == MATRICES[0] {
                let own = name.replacen("gl_", "gpucc_", 1);
                self.rename(name, &own);
                self.loose.push(format!("mat4 {own};"));
            }
        }
        if self.mentions("gl_NormalMatrix") {
            self.rename("gl_NormalMatrix", "gpucc_NormalMatrix");
            self.loose.push("mat3 gpucc_NormalMatrix;".to_owned());
        }
    }

    /// What a subpass left at the pixel is a texel of a texture there.
    fn subpasses(&mut self) {
        let mut inputs = BTreeSet::new();
        for index in 0..self.tokens.len() {
            let word = self.word(index);
            let (prefix, rest) = match word.strip_prefix(['i', 'u']) {
                Some(rest) => (&word[..1], rest),
                None => ("", word),
            };
            let shape = match rest {
                "subpassInput" => "2D",
                "subpassInputMS" => "2DMS",
                _ => continue,
            };
            if !self.is_word(index + 1) || self.depth(index) > 0 {
                continue;
            }
            self.replace_exactly(index, &format!("{prefix}sampler{shape}"));
            inputs.insert(self.word(index + 1));
            let first = self.declaration_start(index);
            self.drop_from_layout(first, index, &["input_attachment_index"]);
        }
        for index in 0..self.tokens.len() {
            if self.word(index) != "subpassLoad" || self.word(index + 1) != "(" {
                continue;
            }
            let argument = self.word(index + 2);
            if !inputs.contains(argument) {
                continue;
            }
            self.replace_exactly(index, "texelFetch");
            let after = self.tokens[index + 2].end;
            match self.word(index + 3) {
                ")" => self.insert(after, ", ivec2(gl_FragCoord.xy), 0"),
                _ => self.insert(after, ", ivec2(gl_FragCoord.xy)"),
            }
        }
    }

    /// Takes entries out of the `layout(...)` of a declaration.
    pub fn drop_from_layout(&mut self, first: usize, end: usize, names: &[&str]) {
        let open = (first..end).find(|&at| self.word(at) == "layout" && self.word(at + 1) == "(");
        let Some(close) = open.and_then(|open| self.closing(open + 1)) else {
            return;
        };
        let open = open.map_or(0, |open| open + 2);
        let mut entries = Vec::new();
        let mut from = open;
        for at in open..=close {
            if at == close || self.word(at) == "," {
                entries.push((from, at));
                from = at + 1;
            }
        }
        let gone = |work: &Self, entry: &(usize, usize)| names.contains(&work.word(entry.0));
        let left = entries.iter().filter(|entry| !gone(self, entry)).count();
        if left == entries.len() {
            return;
        }
        if left == 0 {
            self.blank(open - 2, close);
            return;
        }
        // The comma before goes too, or the one behind where all before go.
        let mut kept = false;
        for entry in &entries {
            let is_last = entry.1 == close;
            if gone(self, entry) {
                let first = entry.0 - usize::from(kept);
                let last = if kept || is_last { entry.1 - 1 } else { entry.1 };
                self.blank(first, last);
            } else {
                kept = true;
            }
        }
    }
}
