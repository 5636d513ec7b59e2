//! Quads of compute shaders (GL_KHR_compute_shader_derivatives, SPV_KHR_compute_shader_derivatives): four invocations in a
//! row by their local index, which are four lanes in a row of a subgroup. Their differences are shuffles.

use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    Builtin, Imm, InputKind, Op, Resource, Scalar, Shuffle, Stage, TexKind, TexOp, Type, Value,
};
use naga::{DerivativeAxis, DerivativeControl};

/// Which invocations of a workgroup are a quad.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Quads {
    /// None: derivatives are 0, and textures are sampled at their base level.
    #[default]
    None,
    /// Four in a row of the local index.
    Linear,
    /// Two by two of x and y. Invocations are numbered anew, so that these are four in a row of the machine's index.
    Squares,
}

impl Quads {
    /// Refuses a workgroup that is not made of whole quads.
    pub fn check(self, [x, y, z]: [u32; 3]) -> Result<()> {
        let fits = match self {
            Quads::None => true,
            Quads::Linear => x.wrapping_mul(y).wrapping_mul(z).is_multiple_of(4),
            Quads::Squares => x.is_multiple_of(2) && y.is_multiple_of(2),
        };
        match fits {
            true => Ok(()),
            false => Err(Stop::invalid(
                "the workgroup is not made of whole groups of derivatives (GL_KHR_compute_shader_derivatives)",
            )),
        }
    }
}

impl<S> Lower<'_, S> {
    /// Whether the invocation is a helper here.
    pub fn helper(&mut self) -> Values {
        let inst = self.b().inst(Op::IsHelper, Imm::None, &[], &[], &[Type::B1]);
        Values::from_slice(&self.func.insts[inst].results)
    }

    /// Differences across the quad in a compute shader.
    pub fn group_derivative(
        &mut self,
        axis: DerivativeAxis,
        control: DerivativeControl,
        values: &Values,
    ) -> Result<Values> {
        let coarse = control == DerivativeControl::Coarse;
        self.lanes(values.len(), |lower, lane| {
            let value = values[lane];
            let ty = lower.ty(value);
            if lower.quads == Quads::None {
                return Ok(lower.constant(ty, 0));
            }
            Ok(match axis {
                DerivativeAxis::X => lower.difference(value, 1, coarse),
                DerivativeAxis::Y => lower.difference(value, 2, coarse),
                DerivativeAxis::Width => {
                    let [x, y] = [1, 2].map(|bit| {
                        let change = lower.difference(value, bit, coarse);
                        lower.op1(Op::FAbs, change)
                    });
                    lower.op2(Op::FAdd, x, y)
                }
            })
        })
    }

    /// The value of the lane whose number has `bit` set less that of the other: of the own row or column, or of the first.
    fn difference(&mut self, value: Value, bit: u32, coarse: bool) -> Value {
        let number = self.u32(bit);
        if coarse {
            let first = self.u32(0);
            let [from, to] = [first, number]
                .map(|lane| self.one(Op::Shuffle, Imm::Shuffle(Shuffle::Quad), &[value, lane]));
            return self.op2(Op::FSub, to, from);
        }
        let other = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::Xor), &[value, number]);
        let lane = self.group_input(Builtin::SubgroupInvocationId, 0);
        let own = self.op2(Op::And, lane, number);
        let set = self.truth(own);
        let (to, from) = (self.select(set, value, other), self.select(set, other, value));
        self.op2(Op::FSub, to, from)
    }

    /// Gradients along x and y of places in a texture, for a compute shader with quads; scaled by 2^bias.
    pub fn group_gradients(&mut self, place: &Values, bias: Option<Value>) -> Result<Values> {
        let scale = bias.map(|bias| self.op1(Op::FExp2, bias));
        let mut found = Values::new();
        for axis in [DerivativeAxis::X, DerivativeAxis::Y] {
            let mut changes = self.group_derivative(axis, DerivativeControl::Fine, place)?;
            if let Some(scale) = scale {
                changes =
                    self.map(Op::FMul, &[&changes, &Values::from_elem(scale, place.len())])?;
            }
            found.extend(changes);
        }
        Ok(found)
    }

    /// The level that a sample at a place without a layer would take, and the same before its clamps. `args` begins as the elements
    /// of arrays of bindings.
    ///
    /// # Errors
    /// Stages other than fragment have no derivatives of their own.
    pub fn queried_level(
        &mut self,
        texture: Resource,
        sampler: Resource,
        mut args: Values,
        place: &[Value],
        arrayed: bool,
    ) -> Result<Values> {
        match (self.stage, self.quads) {
            (Stage::Fragment, _) => {}
            (_, Quads::None) => {
                return Err(Stop::invalid(
                    "a level of detail is asked for where no derivatives are (Vulkan, VUID-StandaloneSpirv-OpImageQueryLod)",
                ));
            }
            _ => {
                return Err(Stop::unsupported(
                    "the level that a sampler would take in a compute shader",
                    "the lowering",
                ));
            }
        }
        args.extend_from_slice(place);
        if arrayed {
            args.push(self.u32(0));
        }
        let tex = TexOp {
            kind: TexKind::QueryLevel,
            texture,
            sampler: Some(sampler).into(),
            compare: false,
            component: 0,
            offset: [0; 3],
            projected: false,
            texel: false,
        };
        let made = self.b().inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
        Ok(Values::from_slice(&self.func.insts[made].results[..2]))
    }

    /// The numbers of an invocation where quads are squares; none where the machine's own are right.
    pub fn number_in_squares(&mut self, builtin: Builtin) -> Option<Values> {
        let known = matches!(
            builtin,
            Builtin::LocalInvocationId
                | Builtin::LocalInvocationIndex
                | Builtin::GlobalInvocationId
        );
        if self.quads != Quads::Squares || !known {
            return None;
        }
        let prologue = self.prologue;
        Some(self.within(prologue, |lower| {
            let size = lower.func.workgroup_size;
            let index = lower.group_input(Builtin::LocalInvocationIndex, 0);
            let [one, two, three] = [1, 2, 3].map(|number| lower.u32(number));
            let quad = lower.op2(Op::LShr, index, two);
            let (across, down) = (lower.u32(size[0] / 2), lower.u32(size[1] / 2));
            let column = lower.op2(Op::URem, quad, across);
            let rest = lower.op2(Op::UDiv, quad, across);
            let row = lower.op2(Op::URem, rest, down);
            let z = lower.op2(Op::UDiv, rest, down);
            let within = lower.op2(Op::And, index, three);
            let (right, below) =
                (lower.op2(Op::And, within, one), lower.op2(Op::LShr, within, one));
            let [x, y] = [(column, right), (row, below)].map(|(half, bit)| {
                let whole = lower.op2(Op::Shl, half, one);
                lower.op2(Op::Or, whole, bit)
            });
            let local = [x, y, z];
            match builtin {
                Builtin::LocalInvocationIndex => {
                    let above = lower.mul_address(z, size[1]);
                    let rows = lower.op2(Op::IAdd, y, above);
                    let before = lower.mul_address(rows, size[0]);
                    Values::from_elem(lower.op2(Op::IAdd, x, before), 1)
                }
                Builtin::GlobalInvocationId => (0..3)
                    .map(|axis| {
                        let group = lower.group_input(Builtin::WorkgroupId, axis as u8);
                        let first = lower.mul_address(group, size[axis]);
                        lower.op2(Op::IAdd, first, local[axis])
                    })
                    .collect(),
                _ => Values::from_slice(&local),
            }
        }))
    }

    /// A component of a built-in value, as the machine has it.
    pub fn group_input(&mut self, builtin: Builtin, component: u8) -> Value {
        let kind = InputKind::Builtin(builtin);
        let input = self.input_once(kind, builtin.components(), Scalar::U32, builtin.word());
        let prologue = self.prologue;
        self.within(prologue, |lower| lower.b().input(input, component))
    }
}
