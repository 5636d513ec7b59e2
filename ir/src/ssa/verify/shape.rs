//! Operands, results and immediates of each op: invariants 4, 5, 11 and 12.

use super::{Broken, Check, Verifier};
use crate::ssa::eval::identity;
use crate::ssa::func::{Imm, Inst, InstData, Mem, MemSpace, Stage, Type};
use crate::ssa::op::{Flags, Op, Sig};
use crate::ssa::resource::{
    AtomicOp, Dim, Resource, ResourceKind, Scalar, Shuffle, TEXEL_OFFSETS, TexKind, TexOp, TexQuery,
};

impl Verifier<'_> {
    pub(super) fn shape(&self, inst: Inst, data: &InstData) -> Check {
        let func = self.func;
        let (args, results) = (self.types(&data.args), self.types(&data.results));
        let (args, results) = (&args[..], &results[..]);
        let wrong = || format!("takes no {args:?} to give {results:?}");
        let one = |ty: Type| results == [ty];
        let wide = |ty: Type| ty != Type::B1;
        let all = |ty: Type, count: usize| args.len() == count && args.iter().all(|&a| a == ty);
        let first = args.first().copied().unwrap_or(Type::B32);
        let ok = match data.op.sig() {
            Sig::Const => {
                let Imm::Bits(bits) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "a constant has bits"));
                };
                args.is_empty() && results.len() == 1 && bits & !results[0].mask() == 0
            }
            Sig::Unary => {
                let narrow = data.op == Op::FQuantize && first != Type::B32;
                all(first, 1) && one(first) && wide(first) && !narrow
            }
            Sig::UnaryBits => all(first, 1) && one(first),
            Sig::Binary => all(first, 2) && one(first) && wide(first),
            Sig::BinaryBits => all(first, 2) && one(first),
            Sig::Ternary => all(first, 3) && one(first) && wide(first),
            Sig::Shift => args.len() == 2 && args[1] == Type::B32 && one(first) && wide(first),
            Sig::Compare => all(first, 2) && one(Type::B1) && wide(first),
            Sig::CompareBits => all(first, 2) && one(Type::B1),
            Sig::Select => {
                args.len() == 3 && args[0] == Type::B1 && args[1] == args[2] && one(args[1])
            }
            Sig::Convert => {
                args.len() == 1 && results.len() == 1 && converts(data.op, first, results[0])
            }
            Sig::ExtractBits => {
                args.len() == 3 && args[1..] == [Type::B32; 2] && one(first) && wide(first)
            }
            Sig::InsertBits => {
                args.len() == 4
                    && args[1] == first
                    && args[2..] == [Type::B32; 2]
                    && one(first)
                    && wide(first)
            }
            Sig::Dot => {
                matches!(args.len(), 4 | 6 | 8)
                    && all(first, args.len())
                    && one(first)
                    && wide(first)
            }
            Sig::Fixed(takes, gives) => args == takes && results == gives,
            Sig::Custom => return self.custom(inst, data, args, results),
        };
        self.require(ok, inst, 4, wrong)?;
        let imm = matches!(data.imm, Imm::Bits(_)) == (data.op == Op::Const);
        self.require(
            imm && (data.op == Op::Const || matches!(data.imm, Imm::None)),
            inst,
            5,
            || "has the wrong kind of immediate".into(),
        )?;
        let emits = matches!(data.op, Op::EmitVertex | Op::EndPrimitive);
        self.require(!emits || func.stage == Stage::Geometry, inst, 16, || {
            "emits outside of a geometry program".into()
        })?;
        self.require(
            !data.op.flags().has(Flags::QUAD) || func.stage == Stage::Fragment,
            inst,
            12,
            || "a quad op outside of a fragment program".into(),
        )
    }

    fn custom(&self, inst: Inst, data: &InstData, args: &[Type], results: &[Type]) -> Check {
        use Type::{B1, B32};
        let func = self.func;
        let fits = |ok: bool| {
            self.require(ok, inst, 4, || format!("takes no {args:?} to give {results:?}"))
        };
        match data.op {
            Op::Shuffle => {
                let Imm::Shuffle(which) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "says not which lane"));
                };
                let lane: &[Type] = if which == Shuffle::First { &[] } else { &[B32] };
                fits(matches!(args, [ty, rest @ ..] if results == [*ty] && rest == lane))
            }
            Op::Reduce => {
                let Imm::Reduce(_, op) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "says not how lanes are combined"));
                };
                fits(matches!(args, [ty] if results == [*ty] && identity(op, *ty).is_some()
                        && (*ty != B1 || op.sig() == Sig::BinaryBits)))
            }
            Op::BufferLoad | Op::BufferStore | Op::BufferSize => {
                let Imm::Resource(buffer) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no binding"));
                };
                let skip = self.buffer(inst, buffer)?;
                if data.op == Op::BufferStore {
                    self.writable(inst, buffer)?;
                }
                let values = args.get(skip + 1..).unwrap_or(&[]);
                let words = args.iter().take(skip + 1).all(|&ty| ty == B32);
                fits(
                    words
                        && match data.op {
                            Op::BufferLoad => args.len() == skip + 1 && parts(results),
                            Op::BufferStore => parts(values) && results.is_empty(),
                            _ => args.len() == skip && results == [B32],
                        },
                )
            }
            Op::MemLoad | Op::MemStore => {
                let Imm::Mem(access) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no variable"));
                };
                let address = args.first() == Some(&B32);
                let values = args.get(1..).unwrap_or(&[]);
                fits(
                    address
                        && if data.op == Op::MemLoad {
                            values.is_empty() && parts(results)
                        } else {
                            parts(values) && results.is_empty()
                        },
                )?;
                self.access(inst, data, access.mem, access.lo, access.hi)
            }
            Op::BufferAtomic => {
                let Imm::BufferAtomic(buffer, op) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no binding"));
                };
                let skip = self.buffer(inst, buffer)?;
                self.writable(inst, buffer)?;
                fits(
                    atomic_shape(op, &args[args.len().min(skip + 1)..], results)
                        && args.iter().take(skip + 1).all(|&ty| ty == B32)
                        && args.len() > skip,
                )
            }
            Op::MemAtomic => {
                let Imm::MemAtomic(access, op) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no variable"));
                };
                fits(args.first() == Some(&B32) && atomic_shape(op, &args[1..], results))?;
                self.require(
                    func.mems.is_valid(access.mem)
                        && func.mems[access.mem].space == MemSpace::Workgroup,
                    inst,
                    5,
                    || "names no workgroup variable".into(),
                )?;
                self.access(inst, data, access.mem, access.lo, access.hi)
            }
            Op::Input => {
                let Imm::Input(input, component) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no input"));
                };
                let exists =
                    func.inputs.is_valid(input) && component < func.inputs[input].components;
                self.require(exists, inst, 12, || format!("{input} has no component {component}"))?;
                let ty = component_type(func.inputs[input].scalar);
                fits(args.is_empty() && results == [ty])
            }
            Op::Output => {
                let Imm::Output(output, component) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no output"));
                };
                let exists =
                    func.outputs.is_valid(output) && component < func.outputs[output].components;
                self.require(exists, inst, 12, || {
                    format!("{output} has no component {component}")
                })?;
                let ty = component_type(func.outputs[output].scalar);
                fits(args == [ty] && results.is_empty())
            }
            Op::Tex => {
                let Imm::Tex(tex) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no texture"));
                };
                let near = tex.offset.iter().all(|axis| TEXEL_OFFSETS.contains(axis));
                self.require(near, inst, 5, || "has a texel offset beyond -8 to 7".into())?;
                self.require(tex.component < 4, inst, 5, || {
                    format!("has no component {}", tex.component)
                })?;
                let count = self.texture_operands(inst, &tex)?;
                let four = if tex.compare && tex.kind != TexKind::Gather { 1 } else { 4 };
                fits(
                    args.len() == count
                        && args.iter().all(|&ty| ty == B32)
                        && results.len() == four
                        && results.iter().all(|&ty| ty == B32),
                )?;
                let quad = data.flags().has(Flags::QUAD);
                self.require(!quad || func.stage == Stage::Fragment, inst, 12, || {
                    "takes its level from a quad outside of a fragment program".into()
                })
            }
            Op::TexQuery => {
                let Imm::Query(texture, query) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no texture"));
                };
                if query == TexQuery::Sampler {
                    return self.sampler_word(inst, texture);
                }
                let (_, skip) = self.image(inst, texture)?;
                let (has_level, axes) = match func.resources[texture].kind {
                    ResourceKind::Texture { dim, multisampled, .. } => (!multisampled, dim),
                    ResourceKind::StorageTexture { dim, .. } => (false, dim),
                    _ => (false, Dim::D1),
                };
                let axes = match axes {
                    Dim::D1 => 1,
                    Dim::D2 | Dim::Cube => 2,
                    Dim::D3 => 3,
                };
                let (operands, gives) = match query {
                    TexQuery::Size => (skip + usize::from(has_level), axes),
                    _ => (skip, 1),
                };
                fits(
                    args.len() == operands
                        && args.iter().all(|&ty| ty == B32)
                        && results.len() == gives
                        && results.iter().all(|&ty| ty == B32),
                )
            }
            Op::ImageStore => {
                let Imm::Resource(image) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no texture"));
                };
                let (coords, skip) = self.storage_image(inst, image)?;
                fits(
                    args.len() == skip + coords + 4
                        && args.iter().all(|&ty| ty == B32)
                        && results.is_empty(),
                )
            }
            Op::ImageAtomic => {
                let Imm::ImageAtomic(image, op) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no texture"));
                };
                let (coords, skip) = self.storage_image(inst, image)?;
                let coords = skip + coords;
                fits(
                    args.len() >= coords
                        && args[..coords].iter().all(|&ty| ty == B32)
                        && atomic_shape(op, &args[coords..], results),
                )?;
                // A texel has one word, of the format's width.
                let wide = matches!(
                    func.resources[image].kind,
                    ResourceKind::StorageTexture { format, .. } if format.is_wide()
                );
                let word = if wide { Type::B64 } else { B32 };
                fits(args[coords..].iter().chain(results).all(|&ty| ty == word))
            }
            Op::Barrier => {
                fits(args.is_empty() && results.is_empty())?;
                self.require(matches!(data.imm, Imm::Barrier { .. }), inst, 5, || {
                    "says not which memories it orders".into()
                })?;
                self.require(func.stage == Stage::Compute, inst, 12, || {
                    "a barrier outside of a compute program".into()
                })
            }
            _ => Err(self.broken(Some(inst), 4, "an op without a shape")),
        }
    }

    /// The binding exists and is a buffer; gives the operands that come before the address.
    fn buffer(&self, inst: Inst, buffer: Resource) -> Result<usize, Broken> {
        let exists = self.func.resources.is_valid(buffer)
            && matches!(
                self.func.resources[buffer].kind,
                ResourceKind::Uniform { .. }
                    | ResourceKind::Storage { .. }
                    | ResourceKind::Immediate { .. }
            );
        self.require(exists, inst, 5, || format!("{buffer} is no buffer"))?;
        Ok(usize::from(self.func.resources[buffer].count.is_some()))
    }

    /// The binding exists and is a texture; gives coordinates with layer, and operands before them.
    fn image(&self, inst: Inst, image: Resource) -> Result<(usize, usize), Broken> {
        let shape = self.func.resources.is_valid(image).then(|| self.func.resources[image].kind);
        let (Some(ResourceKind::Texture { dim, arrayed, .. })
        | Some(ResourceKind::StorageTexture { dim, arrayed, .. })) = shape
        else {
            return Err(self.broken(Some(inst), 5, format!("{image} is no texture")));
        };
        let element = usize::from(self.func.resources[image].count.is_some());
        Ok((dim.coords() + usize::from(arrayed), element))
    }

    /// A query of a word of a sampler.
    fn sampler_word(&self, inst: Inst, sampler: Resource) -> Check {
        let func = self.func;
        let exists = func.resources.is_valid(sampler)
            && matches!(func.resources[sampler].kind, ResourceKind::Sampler { .. });
        self.require(exists, inst, 5, || format!("{sampler} is no sampler"))?;
        let data = &func.insts[inst];
        let operands = 1 + usize::from(func.resources[sampler].count.is_some());
        let number = data.args.last().and_then(|&value| func.as_const(value));
        let words = data.args.iter().chain(&data.results).all(|&value| func.ty(value) == Type::B32);
        let fits = data.args.len() == operands && data.results.len() == 1 && words;
        self.require(fits && number.is_some_and(|number| number < 8), inst, 5, || {
            "asks for no word of a sampler".into()
        })
    }

    /// The same of one whose texels a program may write.
    fn storage_image(&self, inst: Inst, image: Resource) -> Result<(usize, usize), Broken> {
        let found = self.image(inst, image)?;
        let kind = self.func.resources[image].kind;
        self.require(matches!(kind, ResourceKind::StorageTexture { .. }), inst, 5, || {
            format!("{image} is no storage texture")
        })?;
        Ok(found)
    }

    fn texture_operands(&self, inst: Inst, tex: &TexOp) -> Result<usize, Broken> {
        let (coords, mut count) = self.image(inst, tex.texture)?;
        let kind = self.func.resources[tex.texture].kind;
        let cube = matches!(kind, ResourceKind::Texture { dim: Dim::Cube, .. });
        self.require(cube || !tex.projected, inst, 5, || {
            "has projected coordinates of something that is no cube".into()
        })?;
        let plane = matches!(kind, ResourceKind::Texture { dim: Dim::D2 | Dim::Cube, .. });
        self.require(plane || tex.kind != TexKind::Gather, inst, 5, || {
            "gathers from a texture without planes".into()
        })?;
        self.require(!tex.compare || tex.kind != TexKind::QueryLevel, inst, 5, || {
            "compares a level with a reference".into()
        })?;
        let sampled = matches!(tex.kind, TexKind::SampleLevel | TexKind::SampleGrad);
        self.require(sampled || !tex.texel, inst, 5, || {
            "takes a texel at its centre without a level".into()
        })?;
        let storage = matches!(kind, ResourceKind::StorageTexture { .. });
        let plain = match kind {
            ResourceKind::Texture { dim, .. } | ResourceKind::StorageTexture { dim, .. } => {
                dim.coords()
            }
            _ => 0,
        };
        match tex.sampler.expand() {
            None => self.require(tex.kind == TexKind::Load, inst, 5, || {
                "samples without a sampler".into()
            })?,
            Some(sampler) => {
                let exists = self.func.resources.is_valid(sampler)
                    && matches!(self.func.resources[sampler].kind, ResourceKind::Sampler { .. });
                self.require(exists && !storage && tex.kind != TexKind::Load, inst, 5, || {
                    format!("{sampler} is no sampler for this")
                })?;
                count += usize::from(self.func.resources[sampler].count.is_some());
            }
        }
        count += coords + usize::from(tex.compare);
        Ok(count
            + match tex.kind {
                TexKind::Sample
                | TexKind::SampleBaseClampToEdge
                | TexKind::Gather
                | TexKind::QueryLevel => 0,
                TexKind::SampleBias | TexKind::SampleLevel => 1,
                TexKind::SampleGrad => 2 * plain,
                TexKind::Load => usize::from(!storage),
            })
    }

    /// A buffer that a program may write.
    fn writable(&self, inst: Inst, buffer: Resource) -> Check {
        let storage = matches!(self.func.resources[buffer].kind, ResourceKind::Storage { .. });
        self.require(storage, inst, 5, || format!("{buffer} is not storage"))
    }

    fn access(&self, inst: Inst, data: &InstData, mem: Mem, lo: u32, hi: u32) -> Check {
        let func = self.func;
        self.require(func.mems.is_valid(mem), inst, 5, || format!("{mem} does not exist"))?;
        let stores = data.op != Op::MemLoad && func.mems[mem].space == MemSpace::Constant;
        self.require(!stores, inst, 11, || format!("{mem} is constant"))?;
        let size = func.mems[mem].size;
        self.require(lo < hi && hi <= size, inst, 11, || {
            format!("{lo}..{hi} is no part of the {size} bytes of {mem}")
        })?;
        match wrong_address(func, data) {
            Some(what) => Err(self.broken(Some(inst), 11, what)),
            None => Ok(()),
        }
    }
}

/// What is wrong with the constant address of an access to a variable; nothing of an address that is not constant, and of an
/// instruction that makes no such access. Invariant 11.
pub fn wrong_address(func: &super::Func, data: &InstData) -> Option<String> {
    let (Imm::Mem(access) | Imm::MemAtomic(access, _)) = data.imm else {
        return None;
    };
    let address = func.as_const(*data.args.first()?)?;
    let (lo, hi) = (access.lo, access.hi);
    if !(u64::from(lo)..u64::from(hi)).contains(&address) {
        return Some(format!("the address {address} is not in {lo}..{hi}"));
    }
    // Two bytes of a variable may hold a word of 16 bits.
    let most = (hi - lo).min(4);
    let mut at = address;
    let aligned = data.args[1..].iter().chain(&data.results).all(|&value| {
        let bytes = func.ty(value).bytes();
        let here = at;
        at += u64::from(bytes);
        here.is_multiple_of(bytes.min(most).into())
    });
    (!aligned).then(|| format!("the address {address} is not aligned"))
}

/// The type of a component of a stage input or output.
fn component_type(scalar: Scalar) -> Type {
    match scalar {
        Scalar::F16 => Type::B16,
        Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::Bool => Type::B32,
    }
}

/// Types that a conversion takes and gives. A truth value converts to an integer like one of one bit, and to no float.
fn converts(op: Op, from: Type, to: Type) -> bool {
    use Type::B1;
    match op {
        Op::SToF | Op::UToF | Op::FToS | Op::FToU => from != B1 && to != B1,
        Op::FConvert => from != B1 && to != B1 && from != to,
        Op::FrexpExp => from != B1 && to == Type::B32,
        _ => true,
    }
}

/// What an access to memory may move: 1 to 4 values one after the other, each of them aligned where the others are.
fn parts(values: &[Type]) -> bool {
    let mut at = 0;
    let mut words = values.iter().filter_map(|ty| {
        let start = at;
        at += ty.bytes();
        (ty.bytes() >= 4).then_some(start % 4)
    });
    let first = words.next();
    (1..=4).contains(&values.len())
        && !values.contains(&Type::B1)
        && words.all(|phase| Some(phase) == first)
}

/// Operands behind the address and results of an atomic.
fn atomic_shape(op: AtomicOp, operands: &[Type], results: &[Type]) -> bool {
    let count = match op {
        AtomicOp::Load => 0,
        AtomicOp::CompareExchange => 2,
        _ => 1,
    };
    let word = operands.first().or(results.first());
    operands.len() == count
        && matches!(word, Some(Type::B32 | Type::B64))
        && operands.iter().chain(results).all(|ty| Some(ty) == word)
        && match op {
            // Addition of the opposite serves where words are wide.
            AtomicOp::Sub | AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax
                if word == Some(&Type::B64) =>
            {
                false
            }
            AtomicOp::Store => results.is_empty(),
            AtomicOp::Load => results.len() == 1,
            _ => results.len() <= 1,
        }
}
