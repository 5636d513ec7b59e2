//! Buffers and variables. Uniforms at constant addresses are read where they are used, from the
//! constant cache; dynamic ones and read-only storage by vertex fetches of dwords; storage that the
//! program writes through the scatter aperture, acknowledged before it is read again. Private
//! variables are arrays of registers, or scratch memory when they are large.

use super::{Lower, Place, Variable, narrow};
use crate::api::Failure;
use crate::inst::{Inst, MemRead, MemWrite, Source, Space, Src, Vertex};
use crate::isa::AluOp;
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{self, Access, Mem, Op, Resource, ResourceKind, Type, Value};
use smallvec::SmallVec;

impl Lower<'_> {
    /// A byte address as a value and a constant that is added to it.
    fn address(&self, address: Value) -> (Option<Value>, u32) {
        if let Some(bits) = self.const_bits(address) {
            return (None, bits);
        }
        if let Some(data) = self.ssa.def(address)
            && data.op == Op::IAdd
        {
            for (index, &arg) in data.args.iter().enumerate() {
                if let Some(bits) = self.const_bits(arg)
                    && bits < 1 << 16
                    && bits % 4 == 0
                {
                    return (Some(data.args[1 - index]), bits);
                }
            }
        }
        (Some(address), 0)
    }

    /// The dword index of a byte address, as a source.
    pub(super) fn dwords(&mut self, address: Value) -> Source {
        if let Some(bits) = self.const_bits(address) {
            return Source::bits(bits / 4);
        }
        // i << 2 and i * 4 are dword i, as long as the product did not wrap: an address that did
        // was out of range before.
        if let Some(data) = self.ssa.def(address)
            && data.op == Op::Shl
            && let Some(amount) = self.const_bits(data.args[1])
            && (2..16).contains(&amount)
            && self.values[data.args[0]].is_some()
        {
            let inner = self.plain(data.args[0]);
            let bounded = self.bounded(data.args[0], 31 - amount);
            if bounded {
                if amount == 2 {
                    return inner;
                }
                return Source::reg(self.alu(AluOp::LSHL_INT, &[inner, Source::bits(amount - 2)]));
            }
        }
        let plain = self.plain(address);
        Source::reg(self.alu(AluOp::LSHR_INT, &[plain, Source::bits(2)]))
    }

    /// The value is certainly below 2^bits.
    fn bounded(&self, value: Value, bits: u32) -> bool {
        let limit = 1u64 << bits;
        let small = |v: Value| self.const_bits(v).is_some_and(|c| u64::from(c) < limit);
        match self.ssa.def(value) {
            Some(data) => match data.op {
                Op::UMin | Op::And => data.args.iter().any(|&arg| small(arg)),
                Op::Const => small(value),
                _ => false,
            },
            None => false,
        }
    }

    pub(super) fn source_reg(&mut self, source: Source) -> VReg {
        match source {
            Source { src: Src::Reg(reg), neg: false, abs: false } => {
                reg.as_virt().expect("lowering makes virtual registers only")
            }
            source => self.alu(AluOp::MOV, &[source]),
        }
    }

    fn check_words(&self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let wide = data.results.iter().any(|&v| !matches!(self.ssa.ty(v), Type::B32 | Type::B1));
        if wide {
            return Err(self.not_yet("memory of other than 32-bit words"));
        }
        Ok(())
    }

    /// A fresh register for each of up to four results; it need not be written where nobody reads it.
    pub(super) fn results(&mut self, results: &[Value]) -> [Option<Reg>; 4] {
        let mut dst = [None; 4];
        for (place, &value) in dst.iter_mut().zip(results) {
            let reg = self.fresh();
            self.define(value, reg);
            if self.uses.count(value) > 0 {
                *place = Some(reg.into());
            }
        }
        dst
    }

    /// Reads dwords through the vertex fetch unit.
    fn fetch_words(&mut self, results: &[Value], resource: u32, address: Value) {
        let (base, offset) = self.address(address);
        let (index, offset) = match base {
            Some(base) => (self.dwords(base), offset),
            None => (Source::bits(offset / 4), 0),
        };
        let index = self.source_reg(index);
        let dst = self.results(results);
        if dst.iter().any(Option::is_some) {
            let fetch = Vertex::words(resource, index.into(), offset, dst, results.len());
            self.push(Inst::Vertex(fetch));
        }
    }

    pub(super) fn buffer_load(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
    ) -> Result<(), Failure> {
        self.check_words(inst)?;
        let data = &self.ssa.insts[inst];
        let (element, args) = self.element(resource, &data.args);
        let address = args[0];
        let slot = self.abi.slots[resource].clone();
        if let Some(buffer) = slot.kcache.map(|first| first + element) {
            // What a lock cannot reach is fetched: the cache has lines for 4096 vec4.
            let cached = |bytes: u32| bytes / 4 + data.results.len() as u32 <= 4 * 4096;
            if let Some(bytes) = self.const_bits(address).filter(|&bytes| cached(bytes)) {
                for (dword, &value) in (bytes / 4..).zip(&data.results) {
                    self.values[value] = Some(Place::Source(Src::Const {
                        buffer: narrow(buffer),
                        index: narrow(dword / 4),
                        chan: (dword % 4) as u8,
                    }));
                }
                return Ok(());
            }
            let fetch = slot.resource.expect("buffers have resources");
            self.fetch_words(&data.results, fetch + element, address);
            return Ok(());
        }
        if self.writes(resource) {
            let index = self.aperture_address(resource, element, address);
            let dst = self.results(&data.results);
            let read = MemRead::scatter(index.into(), dst, data.results.len());
            self.push(Inst::MemRead(read));
            return Ok(());
        }
        let fetch = slot.resource.expect("storage has a resource");
        self.fetch_words(&data.results, fetch + element, address);
        Ok(())
    }

    /// The program stores to this binding.
    fn writes(&self, resource: Resource) -> bool {
        self.stored.contains(&resource)
    }

    /// The dword address of a byte of a storage buffer within the scatter aperture, in a register
    /// of its own.
    fn aperture_address(&mut self, resource: Resource, element: u32, address: Value) -> VReg {
        let index =
            element + self.abi.slots[resource].aperture_index.expect("storage has an aperture");
        let base = self.driver_constant(narrow(2 + index), 0);
        let dwords = self.dwords(address);
        self.alu(AluOp::ADD_INT, &[dwords, base])
    }

    fn write_words(&mut self, index: VReg, values: &[Value]) {
        let mut src = [None; 4];
        for (place, &value) in src.iter_mut().zip(values) {
            *place = Some(self.reg(value).into());
        }
        self.push(Inst::MemWrite(MemWrite {
            space: Space::Scatter,
            index: Some(index.into()),
            base: 0,
            size: 0,
            src,
            elements: [1, 2, 4, 4][values.len() - 1],
            valid: false,
            slot: None,
        }));
    }

    pub(super) fn buffer_store(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
    ) -> Result<(), Failure> {
        let args: SmallVec<[Value; 8]> = SmallVec::from_slice(&self.ssa.insts[inst].args);
        let (element, args) = self.element(resource, &args);
        if args[1..].iter().any(|&v| !matches!(self.ssa.ty(v), Type::B32 | Type::B1)) {
            return Err(self.not_yet("memory of other than 32-bit words"));
        }
        let index = self.aperture_address(resource, element, args[0]);
        self.write_words(index, &args[1..]);
        Ok(())
    }

    pub(super) fn buffer_size(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let result = data.results[0];
        let (element, _) = self.element(resource, &data.args);
        let place = match self.ssa.resources[resource].kind {
            ResourceKind::Uniform { size } | ResourceKind::Immediate { size } => Src::Bits(size),
            _ => {
                let index =
                    self.abi.slots[resource].aperture_index.expect("storage has an aperture");
                self.driver_constant(narrow(2 + index + element), 1).src
            }
        };
        self.values[result] = Some(Place::Source(place));
        Ok(())
    }

    /// Whether the pixel is a helper. Only control flow and memory writes know which pixels are
    /// valid (R700 ISA 3.6.3): a word of scratch is set for all pixels and cleared for the valid.
    pub(super) fn is_helper(&mut self, result: Value) {
        let place = self.scratch;
        self.scratch += 1;
        for (valid, bits) in [(false, u32::MAX), (true, 0)] {
            let word = self.alu(AluOp::MOV, &[Source::bits(bits)]);
            self.push(Inst::MemWrite(MemWrite {
                space: Space::Scratch,
                index: None,
                base: narrow(place),
                size: 0,
                src: [Some(word.into()), None, None, None],
                elements: 4,
                valid,
                slot: None,
            }));
        }
        let word = self.fresh();
        let read = MemRead::scratch(None, place, 0, word.into());
        self.push(Inst::MemRead(read));
        self.define(result, word);
    }

    /// The dword address of a workgroup variable's byte within the scatter aperture.
    fn workgroup_address(&mut self, mem: Mem, address: Value) -> VReg {
        let constant = narrow(self.abi.workgroup_constant);
        let base = self.driver_constant(constant, 0);
        let stride = self.abi.compute.map_or(0, |layout| layout.workgroup_dwords);
        let start = self.abi.workgroup_offset[mem];
        let mut at = match self.inputs.workgroup {
            Some(workgroup) => {
                let scaled =
                    self.alu(AluOp::MULLO_INT, &[Source::reg(workgroup), Source::bits(stride)]);
                self.alu(AluOp::ADD_INT, &[Source::reg(scaled), base])
            }
            None => self.alu(AluOp::MOV, &[base]),
        };
        if start > 0 {
            at = self.alu(AluOp::ADD_INT, &[Source::reg(at), Source::bits(start)]);
        }
        let dwords = self.dwords(address);
        self.alu(AluOp::ADD_INT, &[Source::reg(at), dwords])
    }

    pub(super) fn mem_load(&mut self, inst: ssa::Inst, access: Access) -> Result<(), Failure> {
        self.check_words(inst)?;
        let data = &self.ssa.insts[inst];
        let address = data.args[0];
        let results = data.results.clone();
        if let Some(array) = self.array(access.mem) {
            self.array_load(&array, address, &results);
            return Ok(());
        }
        if let Some(share) = self.abi.shares.get(access.mem) {
            self.share_load(inst, share);
            return Ok(());
        }
        match self.variables[access.mem] {
            None => {
                let index = self.workgroup_address(access.mem, address);
                let dst = self.results(&results);
                let read = MemRead::scatter(index.into(), dst, results.len());
                self.push(Inst::MemRead(read));
            }
            Some(Variable::Array(_)) => {}
            Some(Variable::Table(table)) => self.table_load(table, access.mem, address, &results),
            Some(Variable::Scratch(base, dwords)) => {
                for (k, &value) in results.iter().enumerate() {
                    let (index, base, size) = self.scratch_place(address, k as u32, base, dwords);
                    let index = index.map(|index| self.source_reg(index).into());
                    let dst = self.fresh();
                    self.push(Inst::MemRead(MemRead::scratch(index, base, size, dst.into())));
                    self.define(value, dst);
                }
            }
        }
        Ok(())
    }

    /// Where dword `address / 4 + k` of a variable in scratch memory is: its index where that is known
    /// at run time only, ARRAY_BASE and ARRAY_SIZE.
    fn scratch_place(
        &mut self,
        address: Value,
        k: u32,
        base: u32,
        dwords: u32,
    ) -> (Option<Source>, u32, u32) {
        let index = self.dword_of(address, k, dwords);
        match index.src {
            Src::Bits(at) => (None, base + at, 0),
            _ => (Some(index), base, dwords),
        }
    }

    /// The value in a register; a constant that this block has stored before is where it was.
    fn constant_once(&mut self, value: Value) -> VReg {
        let Some(bits) = self.const_bits(value) else {
            return self.reg(value);
        };
        if let Some(&(_, reg)) = self.constants.iter().find(|&&(known, _)| known == bits) {
            return reg;
        }
        let reg = self.reg(value);
        // A few, so that they take few registers.
        if self.constants.len() == 4 {
            self.constants.remove(0);
        }
        self.constants.push((bits, reg));
        reg
    }

    /// Dword number `address / 4 + k`, kept within the variable.
    fn dword_of(&mut self, address: Value, k: u32, count: u32) -> Source {
        if let Some(bits) = self.const_bits(address) {
            return Source::bits((bits / 4 + k).min(count - 1));
        }
        let (base, offset) = self.address(address);
        let base = base.expect("not a constant");
        let mut index = self.dwords(base);
        let k = k + offset / 4;
        if k > 0 {
            index = Source::reg(self.alu(AluOp::ADD_INT, &[index, Source::bits(k)]));
        }
        // An index out of range would reach other registers.
        Source::reg(self.alu(AluOp::MIN_UINT, &[index, Source::bits(count - 1)]))
    }

    pub(super) fn mem_store(&mut self, inst: ssa::Inst, access: Access) -> Result<(), Failure> {
        let args: SmallVec<[Value; 4]> = self.ssa.insts[inst].args.clone();
        if args[1..].iter().any(|&v| !matches!(self.ssa.ty(v), Type::B32 | Type::B1)) {
            return Err(self.not_yet("memory of other than 32-bit words"));
        }
        if let Some(array) = self.array(access.mem) {
            self.array_store(&array, args[0], &args[1..]);
            return Ok(());
        }
        if let Some(share) = self.abi.shares.get(access.mem) {
            self.share_store(share, args[0], &args[1..]);
            return Ok(());
        }
        match self.variables[access.mem] {
            None => {
                let index = self.workgroup_address(access.mem, args[0]);
                self.write_words(index, &args[1..]);
            }
            // Nothing stores to tables: verified.
            Some(Variable::Array(_) | Variable::Table(_)) => {}
            Some(Variable::Scratch(base, dwords)) => {
                for (k, &value) in args[1..].iter().enumerate() {
                    let (index, base, size) = self.scratch_place(args[0], k as u32, base, dwords);
                    let index = index.map(|index| self.alu(AluOp::MOV, &[index]).into());
                    let value = self.constant_once(value);
                    self.push(Inst::MemWrite(MemWrite {
                        space: Space::Scratch,
                        index,
                        base: narrow(base),
                        size: narrow(size),
                        src: [Some(value.into()), None, None, None],
                        elements: 4,
                        valid: false,
                        slot: None,
                    }));
                }
            }
        }
        Ok(())
    }
}
