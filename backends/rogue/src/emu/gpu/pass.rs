//! The pass that an object is drawn in: when its pixels are tested, when those that pass are written, and what their programs
//! give back. 4.2, 5.4.
//!
//! The page names the passes, and not what they do. What follows is assumed [A], from what it says of programs:
//! - A program that stores gives back the depth of its place, unless the API asks for early tests. It would not need to if
//!   another pass ran pixels that a test hides. So every other pass tests before the program.
//! - A program that discards gives back who survives. So a pass that punches through writes behind the program. It writes
//!   the pixels that survive.
//! - Opaque and translucent objects give nothing back. So both write before the program.
//! - Nothing behind an opaque object has to be drawn. So each of its pixels writes outputs where one does. A pixel of a
//!   translucent object may leave what is behind it.

use super::super::register::each;
use super::super::rule::{Refused, Rule};
use super::super::task::Fragments;

/// A pass that programs of pixels run in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// What is behind is not seen.
    Opaque,
    /// What is behind is seen.
    Translucent,
    /// Pixels are there where their programs say so.
    PunchThrough,
    /// Programs give depths.
    DepthFeedback,
}

impl Pass {
    /// From the word A of a face.
    ///
    /// # Errors
    /// A pass type that has no program, or is not built.
    pub fn of(face: u32) -> Result<Pass, Refused> {
        Ok(match face >> 24 & 7 {
            0 => Pass::Opaque,
            1 => Pass::Translucent,
            2 => Pass::PunchThrough,
            5 => Pass::DepthFeedback,
            other => return Err((Rule::NotBuilt, format!("pass type {other}"))),
        })
    }

    /// Pixels that a test hides do not run.
    pub fn tests_before(self) -> bool {
        self != Pass::DepthFeedback
    }

    /// Depths and stencils of pixels that pass are written before the program, whatever it does.
    pub fn writes_before(self) -> bool {
        matches!(self, Pass::Opaque | Pass::Translucent)
    }

    /// Whether the pass is one for what a program gave back and stored. A program that stores runs where a test hides its
    /// pixels. It does not where the API asks for early tests (`early`).
    ///
    /// # Errors
    /// It is none.
    pub(super) fn takes(self, fragments: &Fragments, early: bool) -> Result<(), Refused> {
        let wrong = |lane: usize| match self {
            Pass::DepthFeedback => fragments.depth[lane].is_none(),
            Pass::PunchThrough => fragments.depth[lane].is_some(),
            Pass::Opaque | Pass::Translucent => true,
        };
        if let Some(lane) = each(fragments.fed).find(|lane| wrong(*lane)) {
            let what = format!("feedback of instance {lane} in a pass of type {self:?}");
            return Err((Rule::State, what));
        }
        let kept = fragments.covered & !fragments.written;
        if self == Pass::Opaque && fragments.covered & fragments.written != 0 && kept != 0 {
            let lane = kept.trailing_zeros();
            let what = format!("instance {lane} leaves what is behind an opaque object");
            return Err((Rule::State, what));
        }
        if fragments.stored != 0 && self.tests_before() != early {
            let what = format!("stores in a pass of type {self:?}, where tests before are {early}");
            return Err((Rule::State, what));
        }
        Ok(())
    }
}
