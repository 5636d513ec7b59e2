//! Words that say nothing to a machine of ours: hints, orders of memory, debug printing, captures.

use super::text::Work;
use crate::diagnostic::Diagnostic;

/// Functions that order memory, which every machine here keeps in program order up to the next barrier.
const ORDERS: [&str; 10] = [
    "memoryBarrier",
    "memoryBarrierAtomicCounter",
    "memoryBarrierBuffer",
    "memoryBarrierImage",
    "memoryBarrierShared",
    "groupMemoryBarrier",
    "subgroupMemoryBarrier",
    "subgroupMemoryBarrierBuffer",
    "subgroupMemoryBarrierImage",
    "subgroupMemoryBarrierShared",
];
/// What transform feedback captures, which the pipeline's state says.
const CAPTURES: [&str; 4] = ["xfb_buffer", "xfb_offset", "xfb_stride", "stream"];

impl Work<'_> {
    /// Leaves them out.
    pub fn words(&mut self) {
        for name in ORDERS {
            for &at in &self.uses(name).to_vec() {
                let call = (at + 1..).zip(["(", ")", ";"]);
                if call.into_iter().all(|(at, word)| self.word(at) == word) {
                    self.blank(at, at + 2);
                }
            }
        }
        for &at in &self.uses("nonuniformEXT").to_vec() {
            if self.word(at + 1) == "(" {
                self.blank(at, at);
            }
        }
        self.primitive_number();
        self.attributes();
        self.prints();
        self.captures();
    }

    /// naga's number of the primitive has no sign.
    fn primitive_number(&mut self) {
        for &at in &self.uses("gl_PrimitiveID").to_vec() {
            if self.depth(at) > 0 && self.word(at + 1) != "=" {
                self.replace_text(at, at, "int(gl_PrimitiveID)");
            }
        }
    }

    /// `[[unroll]]`.
    fn attributes(&mut self) {
        let mut at = 0;
        while at + 1 < self.tokens.len() {
            let opens = self.word(at) == "[" && self.word(at + 1) == "[";
            if let Some(close) = self.closing(at).filter(|_| opens) {
                if self.word(close - 1) == "]" {
                    self.blank(at, close);
                }
                at = close;
            }
            at += 1;
        }
    }

    fn prints(&mut self) {
        let mut any = false;
        for &at in &self.uses("debugPrintfEXT").to_vec() {
            if let Some(close) = self.closing(at + 1).filter(|_| self.word(at + 1) == "(") {
                self.blank(at, close);
                any = true;
            }
        }
        if any {
            let text = "debugPrintfEXT prints nothing";
            self.notes.push(Diagnostic::note("debug-print", text));
        }
    }

    fn captures(&mut self) {
        let mut any = false;
        for &at in &self.uses("layout").to_vec() {
            let Some(close) = self.closing(at + 1).filter(|_| self.word(at + 1) == "(") else {
                continue;
            };
            let entry = |at: usize| matches!(self.word(at - 1), "(" | ",");
            let is = |work: &Self, at: usize| CAPTURES.contains(&work.word(at));
            if !(at + 2..close).any(|inside| is(self, inside) && entry(inside)) {
                continue;
            }
            any = true;
            let alone = (at + 2..close).all(|inside| !entry(inside) || is(self, inside));
            if alone && self.word(close + 1) == "out" && self.word(close + 2) == ";" {
                self.blank(at, close + 2);
            } else {
                self.drop_from_layout(at, close, &CAPTURES);
            }
        }
        if any {
            let text = "what transform feedback captures is for the pipeline's state to say";
            self.notes.push(Diagnostic::note("transform-feedback", text));
        }
    }
}
