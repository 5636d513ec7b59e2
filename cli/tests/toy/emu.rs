//! The toy as a device: it decodes the bytes and runs one invocation after the other.

use super::isa::{self, A, B, BUFFER, C, D, FUNCTION, NUMBER, OFFSET, TRUTH};
use gpucc::machine::Compiled;
use gpucc_emu::device::{
    self, Device, FragmentOut, Launcher, Stop, VertexOut, VertexRun, invocations,
};
use gpucc_emu::draw::QuadBatch;
use gpucc_emu::trap::Trap;
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{Numerics, Op, Resource, Type, eval};
use gpucc_isa::Inst;
use std::collections::BTreeMap;

gpucc_emu::rules! { "the toy's book";
    Steps = "steps: a run ends within its limit", "none";
    Word = "word: what is executed is an instruction", "1";
    Register = "register: what is read was written before", "2";
    Function = "function: an ALU operation has a value", "3";
    Memory = "memory: words lie within their buffer, at multiples of 4", "4";
    Id = "id: there are three, of three axes", "5";
}

/// Instructions that the runs of a device may take together unless told otherwise.
const STEPS: u64 = 20_000_000;

/// A program and its machine.
pub struct Toy {
    launcher: Launcher,
    /// Bindings by the numbers of their buffers.
    buffers: BTreeMap<u32, Resource>,
    size: [u32; 3],
}

impl Toy {
    /// Sets the machine up from the report.
    pub fn new(compiled: &Compiled) -> Toy {
        let resources = compiled.described.resources.iter();
        Toy {
            launcher: Launcher::new(&compiled.code, &compiled.lines, STEPS),
            buffers: resources
                .filter_map(|binding| Some((binding.place("buffer")?, binding.resource?)))
                .collect(),
            size: compiled.described.dispatch.map_or([1; 3], |dispatch| dispatch.workgroup_size),
        }
    }
}

impl Device for Toy {
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let [x, y, z] = self.size;
        invocations(groups, x.saturating_mul(y).saturating_mul(z))?;
        let mut memory: BTreeMap<u32, Vec<u8>> = self
            .buffers
            .iter()
            .map(|(&number, &resource)| {
                let bytes = device::memory_of(bindings.get(resource, 0));
                (number, bytes.to_vec())
            })
            .collect();
        let size = self.size;
        let mut steps = self.launcher.steps;
        let result = self.launcher.run(|code, mut trace| {
            for group in ids(groups) {
                for local in ids(size) {
                    let global = std::array::from_fn(|axis| group[axis] * size[axis] + local[axis]);
                    let mut run = Run {
                        code,
                        memory: &mut memory,
                        registers: vec![None; isa::REGISTERS as usize],
                        ids: [global, local, group],
                        steps: &mut steps,
                    };
                    run.all(&mut trace)?;
                }
            }
            Ok::<(), Trap<Rule>>(())
        });
        self.launcher.steps = steps;
        for (number, &resource) in &self.buffers {
            let bound = bindings.get_mut(resource, 0);
            if let Some(bytes) = bound.and_then(device::memory_of_mut) {
                bytes.copy_from_slice(&memory[number]);
            }
        }
        result
    }

    fn vertices(&mut self, _: &mut Bindings, _: &VertexRun<'_>) -> Result<Vec<VertexOut>, Stop> {
        Err(Stop::TooLarge("the toy draws nothing".into()))
    }

    fn quads(&mut self, _: &mut Bindings, _: &QuadBatch) -> Result<Vec<FragmentOut>, Stop> {
        Err(Stop::TooLarge("the toy draws nothing".into()))
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }

    fn steps(&self) -> u64 {
        self.launcher.steps
    }
}

/// All numbers below `size` by axis, the first fastest.
fn ids(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [x, y, z] = size;
    (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
}

/// One invocation.
struct Run<'a> {
    code: &'a [u8],
    memory: &'a mut BTreeMap<u32, Vec<u8>>,
    registers: Vec<Option<u32>>,
    ids: [[u32; 3]; 3],
    steps: &'a mut u64,
}

impl Run<'_> {
    fn all(&mut self, trace: &mut Option<&mut dyn FnMut(&str)>) -> Result<(), Trap<Rule>> {
        let words: Vec<u64> = isa::words(self.code).collect();
        let mut at = 0;
        loop {
            let trap =
                |rule, detail: String| Trap::new(rule, 8 * at.min(words.len()) as u32, detail);
            let Some(left) = self.steps.checked_sub(1) else {
                return Err(trap(Rule::Steps, "no step is left".into()));
            };
            *self.steps = left;
            let word = words.get(at).copied();
            let word = word.ok_or_else(|| trap(Rule::Word, "behind the program".into()))?;
            let inst = isa::TABLE.decode(word.into());
            let inst = inst.map_err(|error| trap(Rule::Word, error.to_string()))?;
            if let Some(write) = trace {
                write(inst.op().name);
            }
            match self.one(&inst).map_err(|(rule, text)| trap(rule, text))? {
                Then::Next => at += 1,
                Then::Go(to) => at = to as usize,
                Then::End => return Ok(()),
            }
        }
    }

    fn read(&self, register: u32) -> Result<u32, (Rule, String)> {
        let value = self.registers.get(register as usize).copied().flatten();
        value.ok_or_else(|| (Rule::Register, format!("register {register}")))
    }

    fn one(&mut self, inst: &Inst) -> Result<Then, (Rule, String)> {
        let number = inst.get(NUMBER);
        let result = match inst.op().name {
            "CONSTANT" => number,
            "COPY" => self.read(inst.get(A))?,
            "ALU" => self.compute(inst)?,
            "READ_ID" => {
                let id = self.ids.get(number as usize / 4);
                let axis = id.and_then(|id| id.get(number as usize % 4));
                *axis.ok_or_else(|| (Rule::Id, format!("id {number}")))?
            }
            "LOAD" => {
                let word = self.word(inst)?;
                u32::from_le_bytes(*word)
            }
            "SIZE" => self.buffer(inst)?.len() as u32,
            "STORE" => {
                let value = self.read(inst.get(D))?;
                *self.word(inst)? = value.to_le_bytes();
                return Ok(Then::Next);
            }
            "JUMP" => return Ok(Then::Go(number)),
            "UNLESS" => {
                let holds = self.read(inst.get(A))? != 0;
                return Ok(if holds { Then::Next } else { Then::Go(number) });
            }
            _ => return Ok(Then::End),
        };
        self.registers[inst.get(D) as usize] = Some(result);
        Ok(Then::Next)
    }

    fn compute(&self, inst: &Inst) -> Result<u32, (Rule, String)> {
        let op = Op::ALL.get(inst.get(FUNCTION) as usize).copied();
        let none = || (Rule::Function, format!("{op:?}"));
        let op = op.ok_or_else(none)?;
        let mut args = [0; 3];
        let count = super::lower::operands(op).ok_or_else(none)?;
        for (arg, field) in args.iter_mut().zip([A, B, C]).take(count) {
            *arg = self.read(inst.get(field))?.into();
        }
        let ty = |bit: u32| match inst.get(TRUTH) >> bit & 1 {
            1 => Type::B1,
            _ => Type::B32,
        };
        let value = eval(op, ty(0), ty(1), &args[..count], &Numerics::REFERENCE);
        Ok(value.ok_or_else(none)? as u32)
    }

    fn buffer(&mut self, inst: &Inst) -> Result<&mut Vec<u8>, (Rule, String)> {
        let number = inst.get(BUFFER);
        let bytes = self.memory.get_mut(&number);
        bytes.ok_or_else(|| (Rule::Memory, format!("there is no buffer {number}")))
    }

    fn word(&mut self, inst: &Inst) -> Result<&mut [u8; 4], (Rule, String)> {
        let address = self.read(inst.get(A))?.wrapping_add(inst.get(OFFSET)) as usize;
        let wrong = || (Rule::Memory, format!("byte {address}"));
        let bytes = self.buffer(inst)?;
        let word = bytes.get_mut(address..address.saturating_add(4));
        let word = word.filter(|_| address.is_multiple_of(4)).ok_or_else(wrong)?;
        word.try_into().map_err(|_| wrong())
    }
}

/// Where control goes.
enum Then {
    Next,
    Go(u32),
    End,
}
