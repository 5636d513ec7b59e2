//! GLSL as people write it to GLSL as naga reads it.
//!
//! naga reads GLSL 4.40 to 4.60 for Vulkan, with images and samplers apart. Here other versions of the
//! same language get a version that naga takes, combined samplers (`uniform sampler2D t;`) become a
//! texture and a sampler of the same binding, and blocks without a binding get the next free one.
//! Everything happens on tokens; [`Places`] leads back to the user's text.

mod beyond;
mod bindings;
mod builtins;
mod constants;
mod declarations;
mod dialects;
mod interfaces;
mod intrinsics;
mod layouts;
mod library;
mod members;
mod mend;
mod samplers;
mod text;
mod uniforms;
mod words;

pub use beyond::is_beyond_naga;
pub use builtins::bind;
pub use layouts::{Placed, place};
pub use mend::mend;

use crate::diagnostic::Diagnostic;
use crate::places::Places;
use gpucc_ir::ssa::Stage;
use text::Work;

/// Versions without a profile of their own whose programs are programs of 4.50.
const DESKTOP: [&str; 8] = ["130", "140", "150", "330", "400", "410", "420", "430"];
/// Versions of OpenGL ES likewise.
const EMBEDDED: [&str; 3] = ["300", "310", "320"];
/// Qualifiers that may stand between `uniform` and a type.
const PRECISIONS: [&str; 3] = ["highp", "mediump", "lowp"];

/// Qualifiers that may stand between `in` or `out` and a type.
const QUALIFIERS: [&str; 9] = [
    "flat",
    "smooth",
    "noperspective",
    "centroid",
    "sample",
    "highp",
    "mediump",
    "lowp",
    "invariant",
];

/// What is read instead.
#[derive(Debug, Default)]
pub struct Rewritten {
    /// The text.
    pub text: String,
    /// From places in it to places in the user's.
    pub places: Places,
    /// What was inferred.
    pub notes: Vec<Diagnostic>,
    /// Members of blocks whose places the text says.
    pub placed: Vec<Placed>,
}

/// Rewrites a text. What is not understood stays as it is, for naga to judge. Values of specialization
/// constants are taken out of `overrides`.
pub fn rewrite(text: &str, stage: Stage, overrides: &mut Vec<(String, f64)>) -> Rewritten {
    let mut work = Work::new(text, stage);
    work.declarations();
    let apart = work.finish();
    let mut work = Work::new(&apart.text, stage);
    work.members();
    let mut named = work.finish();
    named.places.after(apart.places);
    let mut work = Work::new(&named.text, stage);
    work.constants(overrides);
    work.dialects();
    work.library();
    work.words();
    work.interfaces();
    work.intrinsics();
    work.builtins();
    work.layouts();
    work.loose_uniforms();
    let mut first = work.finish();
    first.places.after(named.places);
    let mut second = as_vulkan(&first.text, stage);
    second.places.after(first.places);
    second.notes.splice(0..0, first.notes);
    second.placed = first.placed;
    second
}

/// The second step: what OpenGL leaves open and Vulkan wants to be told.
fn as_vulkan(text: &str, stage: Stage) -> Rewritten {
    let mut work = Work::new(text, stage);
    work.version();
    work.qualifiers();
    work.bindings();
    work.locations();
    work.samplers();
    work.finish()
}

impl<'a> Work<'a> {
    /// `#version 310 es` and others that 4.50 can stand for, and names that it has for theirs.
    fn version(&mut self) {
        if self.word(0) == "#" && self.word(1) == "version" {
            let (number, profile) = (self.word(2), self.word(3));
            if EMBEDDED.contains(&number) && profile == "es" {
                self.replace(2, 3, "450");
            } else if DESKTOP.contains(&number) && profile != "es" && profile != "compatibility" {
                self.replace(2, 2, "450");
            }
        }
        for index in 0..self.tokens.len() {
            match self.word(index) {
                "gl_VertexID" => self.replace(index, index, "gl_VertexIndex"),
                "gl_InstanceID" => self.replace(index, index, "gl_InstanceIndex"),
                _ => {}
            }
        }
    }

    /// Precision and `invariant` mean nothing to a machine that computes everything alike, and naga
    /// knows few of the places where they may stand; nor `uniform` again within a block.
    fn qualifiers(&mut self) {
        let mut index = 0;
        let mut depth = 0;
        let mut block = None;
        while index < self.tokens.len() {
            let word = self.word(index);
            match word {
                "{" => {
                    depth += 1;
                    // `uniform Name {`
                    let interface = index >= 2
                        && matches!(self.word(index - 2), "uniform" | "buffer")
                        && self.is_word(index - 1);
                    if interface {
                        block = Some(depth);
                    }
                }
                "}" => {
                    if block == Some(depth) {
                        block = None;
                    }
                    depth -= 1;
                }
                "precision" if PRECISIONS.contains(&self.word(index + 1)) => {
                    let end = (index..index + 5).find(|at| self.word(*at) == ";");
                    if let Some(end) = end {
                        self.blank(index, end);
                        index = end;
                    }
                }
                "invariant" if self.is_word(index + 1) && self.word(index + 2) == ";" => {
                    self.blank(index, index + 2);
                    index += 2;
                }
                "invariant" | "highp" | "mediump" | "lowp" => self.blank(index, index),
                "uniform" if block.is_some() => self.blank(index, index),
                _ => {}
            }
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn rewrite(text: &str) -> Rewritten {
        as_vulkan(text, Stage::Fragment)
    }

    #[test]
    fn versions_of_the_same_language_become_one_that_naga_reads() {
        for (before, after) in [
            ("#version 310 es\n", "#version 450   \n"),
            ("#version 330 core\n", "#version 450 core\n"),
            ("#version 460\n", "#version 460\n"),
            ("#version 120\n", "#version 120\n"),
            ("#version 330 compatibility\n", "#version 330 compatibility\n"),
        ] {
            assert_eq!(rewrite(before).text, after);
        }
    }

    #[test]
    fn precision_goes_and_lines_stay() {
        let text = "precision highp float;\nuniform\nlowp float f;\ninvariant gl_Position;\n";
        let rewritten = rewrite(text).text;
        assert_eq!(rewritten.lines().count(), text.lines().count());
        assert_eq!(rewritten.split_whitespace().collect::<Vec<_>>(), ["uniform", "float", "f;"]);
    }

    #[test]
    fn texts_without_ends_take_no_time() {
        for piece in [
            "in ",
            "uniform ",
            "attribute ",
            "image2D a ",
            "subpassInput ",
            "location component = 1 ",
            "constant_id = 1 ",
            "gl_FragDepth in ",
            "x[",
            "(]",
            "#line 3 ",
        ] {
            let text = format!("#version 450\n{}", piece.repeat(20_000));
            let start = std::time::Instant::now();
            super::rewrite(&text, Stage::Fragment, &mut Vec::new());
            let seconds = start.elapsed().as_secs();
            assert!(seconds < 10, "{piece}: {seconds} s");
        }
    }
}
