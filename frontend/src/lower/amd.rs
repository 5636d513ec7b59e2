//! Functions of AMD's extensions, which GLSL and SPIR-V both have: `GL_AMD_shader_trinary_minmax`, `GL_AMD_gcn_shader`,
//! `GL_AMD_shader_ballot`, and `SPV_AMD_` of the same names.

use super::ballot::Mask;
use super::{Lower, Result, Values};
use gpucc_ir::ssa::{Imm, Op, Shuffle, Type, Value};
use naga::ScalarKind;

/// Which one of three values.
#[derive(Copy, Clone, Debug)]
pub enum OfThree {
    Least,
    Greatest,
    Middle,
}

impl<S> Lower<'_, S> {
    /// The least, greatest or middle one of three, lane by lane.
    pub fn of_three(
        &mut self,
        which: OfThree,
        kind: ScalarKind,
        [a, b, c]: [&Values; 3],
    ) -> Result<Values> {
        let (least, most) = match kind {
            ScalarKind::Float => (Op::FMin, Op::FMax),
            ScalarKind::Sint => (Op::SMin, Op::SMax),
            _ => (Op::UMin, Op::UMax),
        };
        match which {
            OfThree::Least => {
                let both = self.map(least, &[a, b])?;
                self.map(least, &[&both, c])
            }
            OfThree::Greatest => {
                let both = self.map(most, &[a, b])?;
                self.map(most, &[&both, c])
            }
            OfThree::Middle => {
                let (low, high) = (self.map(least, &[a, b])?, self.map(most, &[a, b])?);
                let upper = self.map(least, &[&high, c])?;
                self.map(most, &[&low, &upper])
            }
        }
    }

    /// Number of the face of a cube that a direction of three lanes meets.
    pub fn face_index(&mut self, direction: &Values) -> Value {
        self.one(Op::CubeFace, Imm::None, direction)
    }

    /// Where on its face a direction of three lanes meets a cube; both coordinates from 0 to 1.
    pub fn face_coordinates(&mut self, direction: &Values) -> Values {
        let (half, twice) =
            (self.float(Type::B32, 0.5), self.one(Op::CubeMajor, Imm::None, direction));
        let mut found = Values::new();
        for op in [Op::CubeS, Op::CubeT] {
            let along = self.one(op, Imm::None, direction);
            let centred = self.op2(Op::FDiv, along, twice);
            found.push(self.op2(Op::FAdd, centred, half));
        }
        found
    }

    /// Of four lanes in a row each takes the values of the one that `lanes` says.
    pub fn swizzled_lanes(&mut self, values: &Values, lanes: &Values) -> Result<Values> {
        let own = self.lane_number();
        let (three, others) = (self.u32(3), self.u32(!3));
        let number = self.op2(Op::And, own, three);
        let within = self.choose(lanes, number, 4)?[0];
        let within = self.op2(Op::And, within, three);
        let first = self.op2(Op::And, own, others);
        let lane = self.op2(Op::Or, first, within);
        Ok(self.moved(Shuffle::Lane, values, Some(lane)))
    }

    /// Of 32 lanes in a row each takes the values of another one: and, or, exclusive or of its own number with `masks`.
    pub fn masked_lanes(&mut self, values: &Values, masks: &Values) -> Values {
        let own = self.lane_number();
        let (low, others) = (self.u32(31), self.u32(!31));
        let mut within = own;
        for (op, &mask) in [Op::And, Op::Or, Op::Xor].into_iter().zip(masks) {
            within = self.op2(op, within, mask);
        }
        let within = self.op2(Op::And, within, low);
        let first = self.op2(Op::And, own, others);
        let lane = self.op2(Op::Or, first, within);
        self.moved(Shuffle::Lane, values, Some(lane))
    }

    /// `written` in one lane, `values` in the others.
    pub fn written_lane(
        &mut self,
        values: &Values,
        written: &Values,
        lane: Value,
    ) -> Result<Values> {
        let own = self.lane_number();
        let here = self.op2(Op::IEq, own, lane);
        self.lanes(values.len(), |lower, lane| Ok(lower.select(here, written[lane], values[lane])))
    }

    /// How many bits of a mask of 64 bits stand below the own lane's.
    pub fn bits_below(&mut self, mask: Value) -> Result<Value> {
        let less = self.lane_mask(Mask::Less)?;
        let mut sum = self.u32(0);
        for (half, below) in [Op::Lo64, Op::Hi64].into_iter().zip(less) {
            let word = self.op1(half, mask);
            let word = self.op2(Op::And, word, below);
            let count = self.op1(Op::PopCount, word);
            sum = self.op2(Op::IAdd, sum, count);
        }
        Ok(sum)
    }
}
