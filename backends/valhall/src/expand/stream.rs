//! Transform feedback: what the pipeline captures becomes outputs of its own, which keep what fixed function has not
//! touched: the position before its division, varyings before their product with w. docs/abi-valhall.md: Vertex.

use gpucc_ir::driver::Stream;
use gpucc_ir::ssa::{
    Builder, Builtin, Func, Imm, Inst, Op, Output, OutputData, OutputKind, Region, Stage,
};

/// Gives every captured output a second one, [`Builtin::Streamed`], that is written wherever the first is.
pub fn expand(func: &mut Func, stream: &Stream) -> bool {
    if func.stage != Stage::Vertex || stream.outputs.is_empty() {
        return false;
    }
    let mut captured: Vec<(Output, Output)> = Vec::new();
    for (number, entry) in stream.outputs.iter().enumerate() {
        // The pipeline may name what another of its shaders writes.
        let (Some(output), Ok(number)) = (entry.of(func), u8::try_from(number)) else {
            continue;
        };
        let data = OutputData {
            kind: OutputKind::Builtin(Builtin::Streamed(number)),
            ..func.outputs[output].clone()
        };
        captured.push((output, func.outputs.push(data)));
    }
    for (region, ..) in func.regions_in_order() {
        outputs(func, region, &captured);
    }
    true
}

fn outputs(func: &mut Func, region: Region, captured: &[(Output, Output)]) {
    let list: Vec<Inst> = std::mem::take(&mut func.regions[region].insts);
    let mut b = Builder::at(func, region);
    for inst in list {
        b.func.regions[region].insts.push(inst);
        let data = &b.func.insts[inst];
        let Imm::Output(output, component) = data.imm else {
            continue;
        };
        let value = data.args[0];
        b.span = data.span;
        for &(_, copy) in captured.iter().filter(|&&(from, _)| from == output) {
            b.inst(Op::Output, Imm::Output(copy, component), &[value], &[], &[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::driver::StreamOutput;
    use gpucc_ir::ssa::{Interpolation, Scalar};

    #[test]
    fn what_is_captured_is_the_value_before_anything_is_done_to_it() {
        let mut func = Func::new("vs", Stage::Vertex);
        let position = func.outputs.push(OutputData {
            kind: OutputKind::Builtin(Builtin::Position),
            components: 4,
            scalar: Scalar::F32,
            name: String::new(),
        });
        func.outputs.push(OutputData {
            kind: OutputKind::Location {
                location: 1,
                blend_src: 0,
                interpolation: Interpolation::Flat,
            },
            components: 1,
            scalar: Scalar::U32,
            name: String::new(),
        });
        let mut b = Builder::at_body(&mut func);
        let values = [3.0, 4.0, 5.0, 2.0].map(|value| b.f32(value));
        for (component, &value) in values.iter().enumerate() {
            let imm = Imm::Output(position, component as u8);
            b.inst(Op::Output, imm, &[value], &[], &[]);
        }
        b.end(Op::Yield, &[]);
        let entry = |location| StreamOutput { location, buffer: 0, offset: 0 };
        // Location 7 is not there.
        let stream = Stream { strides: vec![16], outputs: vec![entry(Some(7)), entry(None)] };
        expand(&mut func, &stream);
        super::super::vertex::expand(&mut func);
        let copies: Vec<_> = func
            .outputs
            .iter()
            .filter(|(_, data)| matches!(data.kind, OutputKind::Builtin(Builtin::Streamed(_))))
            .collect();
        let [(copy, data)] = copies[..] else { panic!("{copies:?}") };
        assert_eq!(data.kind, OutputKind::Builtin(Builtin::Streamed(1)));
        let written: Vec<_> = func.regions[func.body]
            .insts
            .iter()
            .filter_map(|&inst| match func.insts[inst].imm {
                Imm::Output(output, _) if output == copy => Some(func.insts[inst].args[0]),
                _ => None,
            })
            .collect();
        assert_eq!(written, values);
    }
}
