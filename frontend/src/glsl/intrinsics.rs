//! Functions of the language that no text can define: of subgroups, of four texels at once, of helper
//! invocations. The text gets functions of other names that give back anything; `lower::intrinsics` knows
//! what a call of one means.

use super::text::Work;

/// Types that a function takes as its first argument and gives: which of floats, signed and unsigned
/// integers and truth values.
#[derive(Copy, Clone)]
enum Kinds {
    Numbers,
    Integers,
    All,
}

/// Functions from a value of any size to one of the same type: names, types, parameters behind the first.
const ALIKE: [(&str, Kinds, &str); 31] = [
    ("subgroupAdd", Kinds::Numbers, ""),
    ("subgroupMul", Kinds::Numbers, ""),
    ("subgroupMin", Kinds::Numbers, ""),
    ("subgroupMax", Kinds::Numbers, ""),
    ("subgroupAnd", Kinds::Integers, ""),
    ("subgroupOr", Kinds::Integers, ""),
    ("subgroupXor", Kinds::Integers, ""),
    ("subgroupInclusiveAdd", Kinds::Numbers, ""),
    ("subgroupInclusiveMul", Kinds::Numbers, ""),
    ("subgroupInclusiveMin", Kinds::Numbers, ""),
    ("subgroupInclusiveMax", Kinds::Numbers, ""),
    ("subgroupInclusiveAnd", Kinds::Integers, ""),
    ("subgroupInclusiveOr", Kinds::Integers, ""),
    ("subgroupInclusiveXor", Kinds::Integers, ""),
    ("subgroupExclusiveAdd", Kinds::Numbers, ""),
    ("subgroupExclusiveMul", Kinds::Numbers, ""),
    ("subgroupExclusiveMin", Kinds::Numbers, ""),
    ("subgroupExclusiveMax", Kinds::Numbers, ""),
    ("subgroupExclusiveAnd", Kinds::Integers, ""),
    ("subgroupExclusiveOr", Kinds::Integers, ""),
    ("subgroupExclusiveXor", Kinds::Integers, ""),
    ("subgroupBroadcastFirst", Kinds::All, ""),
    ("subgroupBroadcast", Kinds::All, ", uint lane"),
    ("subgroupShuffle", Kinds::All, ", uint lane"),
    ("subgroupShuffleXor", Kinds::All, ", uint lane"),
    ("subgroupShuffleUp", Kinds::All, ", uint lane"),
    ("subgroupShuffleDown", Kinds::All, ", uint lane"),
    ("subgroupQuadBroadcast", Kinds::All, ", uint lane"),
    ("subgroupQuadSwapHorizontal", Kinds::All, ""),
    ("subgroupQuadSwapVertical", Kinds::All, ""),
    ("subgroupQuadSwapDiagonal", Kinds::All, ""),
];
/// Others, with their whole text and what it calls.
const OTHERS: [(&str, &str, &[&str]); 18] = [
    ("subgroupAll", "bool gpucc_subgroupAll(bool x) { return x; } ", &[]),
    ("subgroupAny", "bool gpucc_subgroupAny(bool x) { return x; } ", &[]),
    ("subgroupBallot", "uvec4 gpucc_subgroupBallot(bool x) { return uvec4(0u); } ", &[]),
    (
        "subgroupBallotBitCount",
        "uint gpucc_subgroupBallotBitCount(uvec4 x) { ivec4 n = bitCount(ivec4(x)); return uint(n.x + n.y + n.z + n.w); } ",
        &[],
    ),
    (
        "subgroupBallotFindLSB",
        "uint gpucc_subgroupBallotFindLSB(uvec4 x) { ivec4 n = findLSB(ivec4(x)); \
         return uint(x.x != 0u ? n.x : x.y != 0u ? n.y + 32 : x.z != 0u ? n.z + 64 : n.w + 96); } ",
        &[],
    ),
    (
        "subgroupBallotBitExtract",
        "bool gpucc_subgroupBallotBitExtract(uvec4 x, uint lane) { \
         uint word = lane < 32u ? x.x : lane < 64u ? x.y : lane < 96u ? x.z : x.w; \
         return ((word >> (lane & 31u)) & 1u) != 0u; } ",
        &[],
    ),
    (
        "subgroupElect",
        "bool gpucc_subgroupElect() { return gl_SubgroupInvocationID == \
         gpucc_subgroupBallotFindLSB(gpucc_subgroupBallot(true)); } ",
        &["subgroupBallot", "subgroupBallotFindLSB"],
    ),
    (
        "subgroupInverseBallot",
        "bool gpucc_subgroupInverseBallot(uvec4 x) { \
         return gpucc_subgroupBallotBitExtract(x, gl_SubgroupInvocationID); } ",
        &["subgroupBallotBitExtract"],
    ),
    (
        "subgroupBallotFindMSB",
        "uint gpucc_subgroupBallotFindMSB(uvec4 x) { \
         uint word = x.w != 0u ? x.w : x.z != 0u ? x.z : x.y != 0u ? x.y : x.x; \
         uint base = x.w != 0u ? 96u : x.z != 0u ? 64u : x.y != 0u ? 32u : 0u; \
         return uint(findMSB(word)) + base; } ",
        &[],
    ),
    (
        "subgroupBallotInclusiveBitCount",
        "uint gpucc_subgroupBallotInclusiveBitCount(uvec4 x) { \
         return gpucc_subgroupBallotBitCount(x & gpucc_lanes_up_to(gl_SubgroupInvocationID + 1u)); } ",
        &["subgroupBallotBitCount", "lanes_up_to"],
    ),
    (
        "subgroupBallotExclusiveBitCount",
        "uint gpucc_subgroupBallotExclusiveBitCount(uvec4 x) { \
         return gpucc_subgroupBallotBitCount(x & gpucc_lanes_up_to(gl_SubgroupInvocationID)); } ",
        &["subgroupBallotBitCount", "lanes_up_to"],
    ),
    (
        "SubgroupLtMask",
        "uvec4 gpucc_SubgroupLtMask() { return gpucc_lanes_up_to(gl_SubgroupInvocationID); } ",
        &["lanes_up_to"],
    ),
    (
        "SubgroupLeMask",
        "uvec4 gpucc_SubgroupLeMask() { return gpucc_lanes_up_to(gl_SubgroupInvocationID + 1u); } ",
        &["lanes_up_to"],
    ),
    (
        "SubgroupEqMask",
        "uvec4 gpucc_SubgroupEqMask() { return gpucc_lanes_up_to(gl_SubgroupInvocationID + 1u) ^ gpucc_lanes_up_to(gl_SubgroupInvocationID); } ",
        &["lanes_up_to"],
    ),
    (
        "SubgroupGeMask",
        "uvec4 gpucc_SubgroupGeMask() { return gpucc_lanes_up_to(gl_SubgroupSize) & ~gpucc_lanes_up_to(gl_SubgroupInvocationID); } ",
        &["lanes_up_to"],
    ),
    (
        "SubgroupGtMask",
        "uvec4 gpucc_SubgroupGtMask() { return gpucc_lanes_up_to(gl_SubgroupSize) & ~gpucc_lanes_up_to(gl_SubgroupInvocationID + 1u); } ",
        &["lanes_up_to"],
    ),
    (
        "lanes_up_to",
        "uvec4 gpucc_lanes_up_to(uint n) { ivec4 own = clamp(ivec4(int(n)) - ivec4(0, 32, 64, 96), 0, 32); \
         uvec4 some = (uvec4(1u) << (uvec4(own) & uvec4(31u))) - uvec4(1u); \
         return mix(some, uvec4(0xffffffffu), equal(own, ivec4(32))); } ",
        &[],
    ),
    ("helperInvocationEXT", "bool gpucc_helperInvocationEXT() { return false; } ", &[]),
];
/// What ARB_shader_group_vote and ARB_shader_ballot call them.
const ALIASES: [(&str, &str); 8] = [
    ("anyInvocationARB", "subgroupAny"),
    ("anyInvocation", "subgroupAny"),
    ("allInvocationsARB", "subgroupAll"),
    ("allInvocations", "subgroupAll"),
    ("allInvocationsEqualARB", "subgroupAllEqual"),
    ("allInvocationsEqual", "subgroupAllEqual"),
    ("readFirstInvocationARB", "subgroupBroadcastFirst"),
    ("readInvocationARB", "subgroupBroadcast"),
];
/// Sets of lanes beside the own one.
const MASKS: [(&str, &str); 5] = [
    ("gl_SubgroupLtMask", "SubgroupLtMask"),
    ("gl_SubgroupLeMask", "SubgroupLeMask"),
    ("gl_SubgroupEqMask", "SubgroupEqMask"),
    ("gl_SubgroupGeMask", "SubgroupGeMask"),
    ("gl_SubgroupGtMask", "SubgroupGtMask"),
];
/// Textures of which four texels can be taken, and the size of their coordinates.
const GATHERED: [(&str, &str); 4] =
    [("2D", "vec2"), ("2DArray", "vec3"), ("Cube", "vec3"), ("CubeArray", "vec4")];
/// Functions whose first argument is a combined sampler: they take both halves.
pub const GATHERS: [&str; 2] = ["gpucc_textureGather", "gpucc_textureGatherOffset"];

/// A type's name: `I` of size 3 is `ivec3`.
fn type_name(kind: char, size: usize) -> String {
    let (scalar, vector) = match kind {
        'F' => ("float", "vec"),
        'I' => ("int", "ivec"),
        'U' => ("uint", "uvec"),
        'D' => ("double", "dvec"),
        _ => ("bool", "bvec"),
    };
    match size {
        1 => scalar.to_owned(),
        _ => format!("{vector}{size}"),
    }
}

impl Work<'_> {
    /// Puts before the text what of them it uses.
    pub fn intrinsics(&mut self) {
        let mut wanted: Vec<&str> = Vec::new();
        for (name, of) in ALIASES {
            self.ask(name, of, &mut wanted);
        }
        for (name, ..) in ALIKE {
            self.ask(name, name, &mut wanted);
        }
        for (name, ..) in OTHERS {
            self.ask(name, name, &mut wanted);
        }
        for name in ["subgroupAllEqual", "textureGather", "textureGatherOffset"] {
            self.ask(name, name, &mut wanted);
        }
        for (name, function) in MASKS {
            for &at in &self.uses(name).to_vec() {
                self.replace_exactly(at, &format!("gpucc_{function}()"));
                wanted.push(function);
            }
        }
        if wanted.contains(&"subgroupAllEqual") {
            wanted.splice(0..0, ["subgroupAll", "subgroupBroadcastFirst"]);
        }
        let called = OTHERS.iter().filter(|other| wanted.contains(&other.0));
        let called: Vec<&str> = called.flat_map(|other| other.2).copied().collect();
        wanted.splice(0..0, called);
        let doubles =
            ["double", "dvec2", "dvec3", "dvec4"].iter().any(|ty| !self.uses(ty).is_empty());
        let mut made: Vec<&str> = Vec::new();
        for name in wanted {
            if !made.contains(&name) {
                made.push(name);
                let text = definition(name, doubles);
                self.prelude.push(text);
            }
        }
        self.barriers();
        self.demotions();
        self.separate_gathers();
    }

    /// Renames the calls of a function; none of them is wanted where the text defines it itself.
    fn ask(&mut self, name: &'static str, of: &'static str, wanted: &mut Vec<&'static str>) {
        let uses: Vec<usize> =
            self.uses(name).iter().copied().filter(|&at| self.word(at + 1) == "(").collect();
        let own = uses.iter().any(|&at| {
            let type_before = at > 0 && self.is_word(at - 1) && self.word(at - 1) != "return";
            self.depth(at) == 0 && type_before
        });
        if own || uses.is_empty() {
            return;
        }
        for at in uses {
            self.replace_exactly(at, &format!("gpucc_{of}"));
        }
        wanted.push(of);
    }

    fn barriers(&mut self) {
        let uses = self.uses("subgroupBarrier").to_vec();
        for &at in &uses {
            self.replace_exactly(at, "gpucc_subgroupBarrier");
        }
        if !uses.is_empty() {
            self.prelude.push("void gpucc_subgroupBarrier() {} ".to_owned());
        }
    }

    /// `demote;` makes the invocation a helper, which goes on.
    fn demotions(&mut self) {
        let uses: Vec<usize> = self
            .uses("demote")
            .iter()
            .copied()
            .filter(|&at| self.depth(at) > 0 && self.word(at + 1) == ";")
            .collect();
        for &at in &uses {
            self.replace_exactly(at, "gpucc_demote()");
        }
        if !uses.is_empty() {
            self.prelude.push("void gpucc_demote() {} ".to_owned());
        }
        for &at in &self.uses("terminateInvocation").to_vec() {
            if self.depth(at) > 0 && self.word(at + 1) == ";" {
                self.replace_exactly(at, "discard");
            }
        }
        // Whether an invocation began as a helper, which a demotion does not change.
        if uses.is_empty() && !self.uses("gl_HelperInvocation").is_empty() {
            for &at in &self.uses("gl_HelperInvocation").to_vec() {
                self.replace_exactly(at, "gpucc_helperInvocationEXT()");
            }
            if self.uses("helperInvocationEXT").is_empty() {
                let text = definition("helperInvocationEXT", false);
                self.prelude.push(text);
            }
        }
    }

    /// `textureGather(sampler2D(t, s), p)` takes both halves too.
    fn separate_gathers(&mut self) {
        for name in ["textureGather", "textureGatherOffset"] {
            for &at in &self.uses(name).to_vec() {
                let constructor = super::samplers::combined(self.word(at + 2)).is_some();
                let closed = self.closing(at + 3).filter(|_| self.word(at + 3) == "(");
                if let (true, "(", Some(close)) = (constructor, self.word(at + 1), closed) {
                    self.blank(at + 2, at + 3);
                    self.blank(close, close);
                }
            }
        }
    }
}

/// A function's text; for doubles too where the program has some.
fn definition(name: &str, doubles: bool) -> String {
    if let Some(other) = OTHERS.iter().find(|other| other.0 == name) {
        return other.1.to_owned();
    }
    let mut out = String::new();
    if let Some((_, kinds, more)) = ALIKE.iter().find(|alike| alike.0 == name) {
        let kinds = match kinds {
            Kinds::Numbers => "FIU",
            Kinds::Integers => "IUB",
            Kinds::All => "FIUB",
        };
        let more_kinds = if doubles && !matches!(kinds, "IUB") { "D" } else { "" };
        for kind in kinds.chars().chain(more_kinds.chars()) {
            for size in 1..=4 {
                let ty = type_name(kind, size);
                out.push_str(&format!("{ty} gpucc_{name}({ty} x{more}) {{ return x; }} "));
            }
        }
        return out;
    }
    if name == "subgroupAllEqual" {
        for kind in ['F', 'I', 'U', 'B'] {
            for size in 1..=4 {
                let ty = type_name(kind, size);
                let equal = match size {
                    1 => "x == first",
                    _ => "all(equal(x, first))",
                };
                out.push_str(&format!(
                    "bool gpucc_subgroupAllEqual({ty} x) {{ {ty} first = gpucc_subgroupBroadcastFirst(x); \
                     return gpucc_subgroupAll({equal}); }} "
                ));
            }
        }
        return out;
    }
    // Gathers.
    for (shape, coordinate) in GATHERED {
        let offset = match (name, shape) {
            ("textureGather", _) => "",
            (_, "2D" | "2DArray") => ", ivec2 offset",
            _ => continue,
        };
        out.push_str(&format!(
            "vec4 gpucc_{name}(texture{shape} t, samplerShadow s, {coordinate} p, float reference{offset}) \
             {{ return vec4(0); }} "
        ));
    }
    for (prefix, result) in [("", "vec4"), ("i", "ivec4"), ("u", "uvec4")] {
        for (shape, coordinate) in GATHERED {
            let offset = match (name, shape) {
                ("textureGather", _) => "",
                (_, "2D" | "2DArray") => ", ivec2 offset",
                _ => continue,
            };
            for component in ["", ", int component"] {
                out.push_str(&format!(
                    "{result} gpucc_{name}({prefix}texture{shape} t, sampler s, {coordinate} p{offset}{component}) \
                     {{ return {result}(0); }} "
                ));
            }
        }
    }
    out
}
