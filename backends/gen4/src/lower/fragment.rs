//! Pixels: inputs as planes, colours, helpers, derivatives. isa/gen4.md 2.2.

use super::outputs::ZERO;
use super::{Lower, Place};
use crate::inst::{Condition, Difference, Function, Inst, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Imm, InputKind, InstData, Interpolation, Op, OutputKind};

/// The slot of the position, and its component that holds 1 / w.
const POSITION: u8 = 0;
const INVERSE_W: u8 = 3;
/// Bits of the target's layer, from bit 16 of r1.7 on. isa/gen4.md 2.2.
const LAYERS: u32 = 0x7ff;

impl Lower<'_> {
    /// What a fragment program has before its first operation: w where inputs vary with perspective.
    pub(super) fn begin_fragment(&mut self) {
        let asks = InputKind::Builtin(Builtin::SampleMask);
        if self.ssa.inputs.values().any(|input| input.kind == asks) {
            // The opposite of what marks pixels that are not covered.
            let (helper, coverage) = (self.fresh(), self.fresh());
            self.push(Inst::Helper { dst: helper.into() });
            let one = Src::Bits(1).into();
            self.alu(Opcode::Xor, Ty::Ud, coverage, &[Src::Reg(helper.into()).into(), one]);
            self.coverage = Some(coverage);
        }
        let smooth = self.ssa.inputs.values().any(|input| {
            matches!(
                input.kind,
                InputKind::Location { interpolation: Interpolation::Perspective, .. }
            )
        });
        if smooth {
            let inverse = self.plane(POSITION, INVERSE_W);
            let w = self.fresh();
            self.push(Inst::Math {
                dst: w.into(),
                function: Function::Inverse,
                source: Src::Reg(inverse.into()).into(),
            });
            self.w = Some(w);
        }
    }

    /// A pixel without its one sample is given up, and the colours leave.
    pub(super) fn end_fragment(&mut self) -> Result<(), Failure> {
        let ssa = self.ssa;
        let mut colors = vec![[ZERO; 4]; usize::from(self.abi.targets)];
        let mut depth = self.abi.depth.then_some(ZERO);
        for (output, data) in &ssa.outputs {
            match data.kind {
                OutputKind::Location { location, .. } => {
                    let Some(color) = colors.get_mut(location as usize) else { continue };
                    for (component, value) in (0u8..).zip(color.iter_mut()) {
                        *value = self.written_value(output, component).unwrap_or(*value);
                    }
                }
                OutputKind::Builtin(Builtin::FragDepth) => {
                    depth = Some(self.final_value(Some(output), 0));
                }
                OutputKind::Builtin(Builtin::SampleMask) => {
                    let Some(mask) = self.written_value(output, 0) else { continue };
                    let zero = Src::Bits(0).into();
                    let test = self.test(Condition::Equal, Ty::D, [mask, zero]);
                    self.push(Inst::Compare(test));
                    let head = self.begin_if(false, false)?;
                    self.push(Inst::Demote);
                    self.end_if(head);
                }
                OutputKind::Builtin(_) => {}
            }
        }
        let last = colors.len().saturating_sub(1);
        for (number, values) in colors.into_iter().enumerate() {
            let (target, last) = (number as u8, number == last);
            self.push(Inst::Target { values, depth, target, last });
        }
        Ok(())
    }

    fn plane(&mut self, slot: u8, component: u8) -> gpucc_ir::mach::VReg {
        let (register, dword) = self.abi.plane(slot, component);
        let dst = self.fresh();
        self.push(Inst::Plane { dst: dst.into(), register, dword });
        dst
    }

    /// A component of an input of a fragment program.
    pub(super) fn fragment_input(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Input(input, component) = data.imm else {
            return Err(self.not_yet("this input"));
        };
        let result = data.results[0];
        let place = match self.ssa.inputs[input].kind {
            InputKind::Corner { .. } => return Err(self.not_yet("this input")),
            InputKind::Location { interpolation, .. } => {
                let Some(slot) = self.abi.slot(input) else {
                    return Err(self.not_yet("this input"));
                };
                match (interpolation, self.w) {
                    (Interpolation::Flat, _) => {
                        let (register, dword) = self.abi.plane(slot, component);
                        Place::Source(Src::Scalar { register, dword: dword + 3 })
                    }
                    (Interpolation::Perspective, Some(w)) => {
                        let over_w = self.plane(slot, component);
                        let value = self.fresh();
                        let factors = [over_w, w].map(|reg| Src::Reg(reg.into()).into());
                        self.alu(Opcode::Mul, Ty::F, value, &factors);
                        Place::Reg(value)
                    }
                    _ => Place::Reg(self.plane(slot, component)),
                }
            }
            InputKind::Builtin(Builtin::Position) if component < 2 => {
                let center = self.fresh();
                self.push(Inst::Center { dst: center.into(), axis: component });
                Place::Reg(center)
            }
            InputKind::Builtin(Builtin::Position) => Place::Reg(self.plane(POSITION, component)),
            InputKind::Builtin(Builtin::FrontFacing) => {
                let truth = self.fresh();
                let test = Test {
                    condition: Condition::GreaterEqual,
                    ty: Ty::D,
                    first: Src::Scalar { register: 1, dword: 6 }.into(),
                    second: Src::Bits(0).into(),
                    join: None,
                };
                self.push(Inst::Truth { dst: truth.into(), test });
                Place::Reg(truth)
            }
            // A pixel has one sample, in its middle. G45 vol. 4, 4.7.2.
            InputKind::Builtin(Builtin::SampleIndex) => Place::Source(Src::Bits(0)),
            InputKind::Builtin(Builtin::SamplePosition) => {
                Place::Source(Src::Bits(0.5f32.to_bits()))
            }
            InputKind::Builtin(Builtin::SampleMask) => {
                let Some(coverage) = self.coverage else {
                    return Err(self.not_yet("this input"));
                };
                Place::Reg(coverage)
            }
            // A slot behind all others.
            InputKind::Builtin(Builtin::PointCoord) => {
                Place::Reg(self.plane(self.abi.slots() - 1, component))
            }
            InputKind::Builtin(Builtin::Layer) => {
                let header = Src::Scalar { register: 1, dword: 7 }.into();
                let (shifted, layer) = (self.fresh(), self.fresh());
                self.alu(Opcode::Shr, Ty::Ud, shifted, &[header, Src::Bits(16).into()]);
                let all = Src::Bits(LAYERS).into();
                self.alu(Opcode::And, Ty::Ud, layer, &[Src::Reg(shifted.into()).into(), all]);
                Place::Reg(layer)
            }
            InputKind::Builtin(which) => return self.drawn(result, which),
        };
        self.values[result] = Some(place);
        Ok(())
    }

    /// Derivatives and helpers.
    pub(super) fn quad(&mut self, data: &InstData) -> Result<(), Failure> {
        let which = match data.op {
            Op::Demote => {
                self.push(Inst::Demote);
                return Ok(());
            }
            Op::IsHelper => {
                let dst = self.define(data.results[0]).into();
                self.push(Inst::Helper { dst });
                return Ok(());
            }
            Op::DdxFine => Difference::FineX,
            Op::DdyFine => Difference::FineY,
            Op::Ddx | Op::DdxCoarse => Difference::CoarseX,
            _ => Difference::CoarseY,
        };
        let source = self.register(data.args[0]).into();
        let dst = self.define(data.results[0]).into();
        self.push(Inst::Difference { dst, source, which });
        Ok(())
    }
}
