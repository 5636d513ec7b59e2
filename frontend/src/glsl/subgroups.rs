//! Lowering of functions of subgroups.

use super::lower::OfGlsl;
use super::tree::Expr;
use crate::lower::ballot::Mask;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Imm, Op, Scan, Shuffle};
use naga::{Scalar, ScalarKind};

/// What lanes of a subgroup make together.
fn reduction(name: &str, kind: ScalarKind) -> Option<(Scan, Op)> {
    let plain;
    let name = match name.strip_prefix("subgroup") {
        Some(name) => name,
        None => {
            plain = of_amd(name)?;
            &plain
        }
    };
    let (scan, rest) = if let Some(rest) = name.strip_prefix("Inclusive") {
        (Scan::Inclusive, rest)
    } else if let Some(rest) = name.strip_prefix("Exclusive") {
        (Scan::Exclusive, rest)
    } else {
        (Scan::All, name)
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

/// What a reduction of AMD_shader_ballot is called without its vendor, `subgroup` apart.
fn of_amd(name: &str) -> Option<String> {
    let (op, rest) = name.strip_suffix("AMD")?.split_once("Invocations")?;
    let op = match op {
        "add" => "Add",
        "min" => "Min",
        "max" => "Max",
        _ => return None,
    };
    let scan = rest.strip_suffix("NonUniform").unwrap_or(rest);
    Some(format!("{}{op}", scan.strip_suffix("Scan").unwrap_or(scan)))
}

/// Which lane's value a function gives, and the lane's number where it is a constant.
fn movement(name: &str) -> Option<(Shuffle, Option<u32>)> {
    Some(match name {
        "subgroupBroadcastFirst" | "readFirstInvocationARB" => (Shuffle::First, None),
        "subgroupBroadcast" | "subgroupShuffle" | "readInvocationARB" => (Shuffle::Lane, None),
        "subgroupShuffleXor" => (Shuffle::Xor, None),
        "subgroupShuffleUp" => (Shuffle::Up, None),
        "subgroupShuffleDown" => (Shuffle::Down, None),
        "subgroupQuadBroadcast" => (Shuffle::Quad, None),
        "subgroupQuadSwapHorizontal" => (Shuffle::Xor, Some(1)),
        "subgroupQuadSwapVertical" => (Shuffle::Xor, Some(2)),
        "subgroupQuadSwapDiagonal" => (Shuffle::Xor, Some(3)),
        _ => return None,
    })
}

impl<'p> OfGlsl<'p> {
    /// Functions of subgroups.
    pub(super) fn group(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        args: Vec<Values>,
    ) -> Result<Values> {
        let one = |value| Values::from_elem(value, 1);
        let scalar = arguments.first().and_then(|first| first.ty.scalar()).unwrap_or(Scalar::U32);
        if let Some((which, constant)) = movement(name) {
            let lane = match (constant, args.get(1)) {
                (Some(constant), _) => Some(self.u32(constant)),
                (None, lane) => lane.map(|lane| lane[0]),
            };
            return Ok(self.moved(which, &args[0], lane));
        }
        let truth =
            |lower: &mut Self, op| one(lower.one(Op::Reduce, Imm::Reduce(Scan::All, op), &args[0]));
        match name {
            "subgroupAll" | "allInvocationsARB" | "allInvocations" => {
                return Ok(truth(self, Op::And));
            }
            "subgroupAny" | "anyInvocationARB" | "anyInvocation" => return Ok(truth(self, Op::Or)),
            _ => {}
        }
        if let Some((scan, op)) = reduction(name, scalar.kind) {
            let mut found = Values::new();
            for &value in &args[0] {
                found.push(self.one(Op::Reduce, Imm::Reduce(scan, op), &[value]));
            }
            return Ok(found);
        }
        Ok(match name {
            "subgroupBarrier" => {
                self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
                Values::new()
            }
            _ if name.starts_with("subgroupMemoryBarrier") => Values::new(),
            "subgroupElect" => {
                // The lowest active lane.
                let lane = self.lane_number();
                let first = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[lane]);
                one(self.op2(Op::IEq, lane, first))
            }
            "subgroupAllEqual" | "allInvocationsEqualARB" | "allInvocationsEqual" => {
                let float = scalar.kind == ScalarKind::Float;
                let mut all = self.bool(true);
                for &value in &args[0] {
                    let first = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[value]);
                    let equal = self.op2(if float { Op::FEq } else { Op::IEq }, value, first);
                    let equal = self.one(Op::Reduce, Imm::Reduce(Scan::All, Op::And), &[equal]);
                    all = self.op2(Op::And, all, equal);
                }
                one(all)
            }
            "swizzleInvocationsAMD" => return self.swizzled_lanes(&args[0], &args[1]),
            "swizzleInvocationsMaskedAMD" => return Ok(self.masked_lanes(&args[0], &args[1])),
            "writeInvocationAMD" => return self.written_lane(&args[0], &args[1], args[2][0]),
            "mbcntAMD" => one(self.bits_below(args[0][0])?),
            "subgroupBallot" => self.ballot_words(args[0][0]),
            "ballotARB" => {
                let words = self.ballot_words(args[0][0]);
                one(self.op2(Op::Join64, words[0], words[1]))
            }
            "subgroupQuadAll" | "subgroupQuadAny" => {
                let op = if name == "subgroupQuadAll" { Op::And } else { Op::Or };
                one(self.quad_truth(op, args[0][0]))
            }
            "subgroupRotate" | "subgroupClusteredRotate" => {
                let size = args.get(2).map(|size| size[0]);
                return self.rotated(&args[0], args[1][0], size);
            }
            _ if name.starts_with("subgroupClustered") => {
                let plain = name.replacen("Clustered", "", 1);
                let Some((_, op)) = reduction(&plain, scalar.kind) else {
                    return Err(Stop::internal(format!("the function {name} is not lowered")));
                };
                let size = self.func.as_const(args[1][0]);
                let Some(size) = size.filter(|size| size.is_power_of_two()) else {
                    return Err(Stop::invalid(
                        "the size of a cluster is a constant power of two (GL_KHR_shader_subgroup)",
                    ));
                };
                return self.clustered(op, &args[0], size);
            }
            "subgroupInverseBallot" => {
                let lane = self.lane_number();
                one(self.lane_bit(&args[0], lane)?)
            }
            "subgroupBallotBitExtract" => one(self.lane_bit(&args[0], args[1][0])?),
            "subgroupBallotBitCount"
            | "subgroupBallotInclusiveBitCount"
            | "subgroupBallotExclusiveBitCount" => {
                let mask = match name {
                    "subgroupBallotInclusiveBitCount" => Some(Mask::LessEqual),
                    "subgroupBallotExclusiveBitCount" => Some(Mask::Less),
                    _ => None,
                };
                one(self.ballot_count(&args[0], mask)?)
            }
            "subgroupBallotFindLSB" | "subgroupBallotFindMSB" => {
                one(self.ballot_end(&args[0], name == "subgroupBallotFindMSB"))
            }
            _ => return Err(Stop::internal(format!("the function {name} is not lowered"))),
        })
    }
}
