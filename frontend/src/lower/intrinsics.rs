//! GLSL's functions that naga's reader lacks and no text can define: `glsl::intrinsics` gives the text
//! functions of these names, and a call of one is the operation here.

use super::frame::{Frame, Operand};
use super::{OfNaga, Result, Values};
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Imm, Op, ResourceKind, SampleType, Scan, Shuffle, TexKind, TexOp, Type};
use naga::{Expression, Function, Handle, ScalarKind};

/// What the subgroups' functions of one argument make together: `InclusiveAdd`.
fn reduction(name: &str, kind: ScalarKind) -> Option<(Scan, Op)> {
    let (scan, rest) = match name {
        _ if name.starts_with("Inclusive") => (Scan::Inclusive, &name["Inclusive".len()..]),
        _ if name.starts_with("Exclusive") => (Scan::Exclusive, &name["Exclusive".len()..]),
        _ => (Scan::All, name),
    };
    let (float, signed) = (kind == ScalarKind::Float, kind == ScalarKind::Sint);
    let op = match rest {
        "All" | "And" => Op::And,
        "Any" | "Or" => Op::Or,
        "Xor" => Op::Xor,
        "Add" if float => Op::FAdd,
        "Add" => Op::IAdd,
        "Mul" if float => Op::FMul,
        "Mul" => Op::IMul,
        "Min" if float => Op::FMin,
        "Min" if signed => Op::SMin,
        "Min" => Op::UMin,
        "Max" if float => Op::FMax,
        "Max" if signed => Op::SMax,
        "Max" => Op::UMax,
        _ => return None,
    };
    Some((scan, op))
}

/// Which lane's value the functions that move one give, and a constant lane number.
fn movement(name: &str) -> Option<(Shuffle, Option<u32>)> {
    Some(match name {
        "BroadcastFirst" => (Shuffle::First, None),
        "Broadcast" | "Shuffle" => (Shuffle::Lane, None),
        "ShuffleXor" => (Shuffle::Xor, None),
        "ShuffleUp" => (Shuffle::Up, None),
        "ShuffleDown" => (Shuffle::Down, None),
        "QuadBroadcast" => (Shuffle::Quad, None),
        "QuadSwapHorizontal" => (Shuffle::Xor, Some(1)),
        "QuadSwapVertical" => (Shuffle::Xor, Some(2)),
        "QuadSwapDiagonal" => (Shuffle::Xor, Some(3)),
        _ => return None,
    })
}

impl<'a> OfNaga<'a> {
    /// A call of such a function; false for any other.
    pub fn intrinsic_call(
        &mut self,
        frame: &mut Frame<'a>,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<bool> {
        let name = self.source.module.functions[function].name.as_deref();
        let Some(name) = name.and_then(|name| name.strip_prefix("gpucc_")) else {
            return Ok(false);
        };
        if !self.source.statement_spans {
            return Ok(false);
        }
        let values = if name == "demote" {
            self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
            Values::new()
        } else if name == "helperInvocationEXT" {
            let inst = self.b().inst(Op::IsHelper, Imm::None, &[], &[], &[Type::B1]);
            Values::from_slice(&self.func.insts[inst].results)
        } else if name == "subgroupBarrier" {
            self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
            Values::new()
        } else if let Some(name) = name.strip_prefix("subgroup") {
            match self.subgroup_function(frame, name, arguments)? {
                Some(values) => values,
                None => return Ok(false),
            }
        } else if matches!(name, "textureGather" | "textureGatherOffset") {
            self.gather(frame, name == "textureGatherOffset", arguments)?
        } else {
            return Ok(false);
        };
        if let Some(result) = result {
            self.set(frame, result, Operand::Values(values))?;
        }
        Ok(true)
    }

    fn subgroup_function(
        &mut self,
        frame: &mut Frame<'a>,
        name: &str,
        arguments: &[Handle<Expression>],
    ) -> Result<Option<Values>> {
        let Some(&first) = arguments.first() else {
            return Ok(None);
        };
        if name == "Ballot" {
            let truth = self.scalar(frame, first)?;
            let types = [Type::B32; 4];
            let inst = self.b().inst(Op::Ballot, Imm::None, &[truth], &[], &types);
            return Ok(Some(Values::from_slice(&self.func.insts[inst].results)));
        }
        let kind = self.kind(frame, first)?;
        let (op, imm, lane) = if let Some((scan, combine)) = reduction(name, kind) {
            (Op::Reduce, Imm::Reduce(scan, combine), None)
        } else if let Some((which, constant)) = movement(name) {
            let lane = match (constant, arguments.get(1)) {
                (Some(constant), _) => Some(self.u32(constant)),
                (None, Some(&lane)) => Some(self.scalar(frame, lane)?),
                (None, None) => None,
            };
            (Op::Shuffle, Imm::Shuffle(which), lane)
        } else {
            return Ok(None);
        };
        let mut found = Values::new();
        for value in self.values(frame, first)? {
            let args: Values = [value].into_iter().chain(lane).collect();
            found.push(self.one(op, imm, &args));
        }
        Ok(Some(found))
    }

    /// `textureGather(texture, sampler, place[, reference][, offset][, component])`.
    fn gather(
        &mut self,
        frame: &mut Frame<'a>,
        has_offset: bool,
        arguments: &[Handle<Expression>],
    ) -> Result<Values> {
        let &[image, sampler, place, ref rest @ ..] = arguments else {
            return Err(Stop::internal("a gather takes a texture, a sampler and a place"));
        };
        let (texture, texture_element) = self.handle(frame, image)?;
        let (sampler, sampler_element) = self.handle(frame, sampler)?;
        let (dim, sample) = self.texture(texture)?;
        let compare =
            matches!(self.func.resources[sampler].kind, ResourceKind::Sampler { comparison: true });
        if compare && sample != SampleType::Depth {
            let what = "a comparing gather of a texture that nothing else shows to be of depths";
            return Err(Stop::unsupported(what, LOWERING));
        }
        let (reference, rest) = match (compare, rest) {
            (true, [reference, rest @ ..]) => (Some(*reference), rest),
            _ => (None, rest),
        };
        let (offset, component) = match (has_offset, rest) {
            (true, [offset, rest @ ..]) => (Some(*offset), rest.first()),
            (_, rest) => (None, rest.first()),
        };
        let mut args = Values::new();
        args.extend(texture_element);
        args.extend(sampler_element);
        let place = self.values(frame, place)?;
        let coords = dim.coords().min(place.len());
        args.extend_from_slice(&place[..coords]);
        if let Some(&layer) = place.get(coords) {
            let layer = self.layer_number(layer, ScalarKind::Float);
            args.push(layer);
        }
        if let Some(reference) = reference {
            args.push(self.scalar(frame, reference)?);
        }
        let component = match component {
            None => Some(0),
            Some(&component) => {
                let value = self.scalar(frame, component)?;
                self.func.as_const(value).filter(|&number| number < 4)
            }
        };
        let Some(component) = component else {
            let what = "a gathered component that is not one of four constants";
            return Err(Stop::unsupported(what, LOWERING));
        };
        let tex = TexOp {
            kind: TexKind::Gather,
            texture,
            sampler: Some(sampler).into(),
            compare,
            component: component as u8,
            offset: self.offset(frame, offset)?,
            projected: false,
        };
        let types = [Type::B32; 4];
        let inst = self.b().inst(Op::Tex, Imm::Tex(tex), &args, &[], &types);
        Ok(Values::from_slice(&self.func.insts[inst].results))
    }
}
