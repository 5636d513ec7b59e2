//! Texture instructions in other forms: cubes by face coordinates or by a direction on the cube, gathers as samples of single
//! texels, comparisons whose operands do not fit into one address as gradients. Which form an instruction needs is the machine's.

mod arithmetic;

use super::cube;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{
    Builder, Dim, Func, Imm, Inst, InstData, Op, ResourceKind, TexKind, TexOp, TexQuery, Type,
    Value,
};

/// Rewrites every texture instruction that `form` gives another form; true when there was one.
pub fn expand(func: &mut Func, form: impl Fn(&Func, &InstData, &TexOp) -> Option<Form>) -> bool {
    let mut renames: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut renamed = false;
    for (region, ..) in func.regions_in_order() {
        let wanted = |inst: &Inst| match func.insts[*inst].imm {
            Imm::Tex(tex) => form(func, &func.insts[*inst], &tex).is_some(),
            _ => false,
        };
        if !func.regions[region].insts.iter().any(wanted) {
            continue;
        }
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            let data = &func.insts[inst];
            let found = match data.imm {
                Imm::Tex(tex) => form(func, data, &tex).map(|form| (tex, form)),
                _ => None,
            };
            let Some((tex, form)) = found else {
                func.regions[region].insts.push(inst);
                continue;
            };
            let data = data.clone();
            let mut b = Builder::at(func, region);
            b.span = data.span;
            let values = Texture::take(&b, &data, tex).rewrite(&mut b, form);
            for (&old, new) in data.results.iter().zip(values) {
                renames[old] = Some(new);
                renamed = true;
            }
        }
    }
    if renamed {
        for data in func.insts.values_mut() {
            for arg in &mut data.args {
                if let Some(new) = renames[*arg] {
                    *arg = new;
                }
            }
        }
    }
    renamed
}

/// Shape of a sampled texture: dimension, has layers.
pub fn shape(func: &Func, tex: &TexOp) -> Option<(Dim, bool)> {
    match func.resources[tex.texture].kind {
        ResourceKind::Texture { dim, arrayed, .. } => Some((dim, arrayed)),
        _ => None,
    }
}

/// What an instruction becomes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// The same on the coordinates of a cube's face.
    Face,
    /// The same on a direction whose largest coordinate is 1 or -1, to the last place.
    Direction,
    /// Level 0 at clamped coordinates.
    Clamped,
    /// Four samples of level 0 at the centres of texels.
    Gather,
    /// As [`Form::Gather`], with gradients of 0 instead of a level: places on faces that take no level.
    SteepGather,
    /// Gradients that give the level, or the level with its bias.
    Gradients,
    /// A comparison with gradients as one with the level that they give.
    Level,
    /// Loads, and what a sampler does with texels by arithmetic: comparisons and gathers of lines and planes, and samples of
    /// integers.
    Arithmetic,
}

/// The operands of an instruction.
struct Texture {
    tex: TexOp,
    dim: Dim,
    /// Elements of arrays of bindings.
    elements: Vec<Value>,
    /// Elements of these that are the texture's.
    texture_elements: usize,
    coords: Vec<Value>,
    layer: Option<Value>,
    reference: Option<Value>,
    /// Bias, level or gradients.
    rest: Vec<Value>,
}

impl Texture {
    fn take(b: &Builder<'_>, data: &InstData, tex: TexOp) -> Texture {
        let func = &*b.func;
        let (dim, arrayed) = shape(func, &tex).expect("only sampled textures are rewritten");
        let texture_elements = usize::from(func.resources[tex.texture].count.is_some());
        let sampler_elements =
            tex.sampler.expand().map_or(0, |s| usize::from(func.resources[s].count.is_some()));
        let mut args = data.args.iter().copied();
        let mut many = |n: usize| -> Vec<Value> { args.by_ref().take(n).collect() };
        let elements = many(texture_elements + sampler_elements);
        let coords = many(dim.coords());
        let layer = many(arrayed.into()).pop();
        let reference = many(tex.compare.into()).pop();
        Texture {
            tex,
            dim,
            elements,
            texture_elements,
            coords,
            layer,
            reference,
            rest: many(usize::MAX),
        }
    }

    fn rewrite(mut self, b: &mut Builder<'_>, form: Form) -> Vec<Value> {
        match form {
            Form::Face => {
                self.project(b);
                self.emit(b)
            }
            Form::Direction => {
                self.scale(b);
                self.emit(b)
            }
            Form::Clamped => {
                self.clamp(b);
                self.emit(b)
            }
            Form::Gather => self.gather(b, TexKind::SampleLevel),
            Form::SteepGather => self.gather(b, TexKind::SampleGrad),
            Form::Gradients => {
                self.make_gradients(b);
                if self.dim == Dim::Cube && !self.tex.projected {
                    self.project(b);
                }
                self.emit(b)
            }
            Form::Level => {
                self.make_level(b);
                self.emit(b)
            }
            Form::Arithmetic => self.by_arithmetic(b),
        }
    }

    fn emit(&self, b: &mut Builder<'_>) -> Vec<Value> {
        let mut args = self.elements.clone();
        args.extend(&self.coords);
        args.extend(self.layer);
        args.extend(self.reference);
        args.extend(&self.rest);
        let results = [Type::B32; 4];
        let results = if self.tex.compare { &results[..1] } else { &results[..] };
        let inst = b.inst(Op::Tex, Imm::Tex(self.tex), &args, &[], results);
        b.func.insts[inst].results.to_vec()
    }

    /// Size of level 0 along the first two axes, and its reciprocals.
    fn size(&self, b: &mut Builder<'_>) -> Vec<[Value; 2]> {
        let count = match self.dim {
            Dim::D1 => 1,
            Dim::D2 | Dim::Cube => 2,
            Dim::D3 => 3,
        };
        let multisampled = matches!(
            b.func.resources[self.tex.texture].kind,
            ResourceKind::Texture { multisampled: true, .. }
        );
        let mut args = self.elements[..self.texture_elements].to_vec();
        if !multisampled {
            args.push(b.u32(0));
        }
        let imm = Imm::Query(self.tex.texture, TexQuery::Size);
        let results = &[Type::B32; 3][..count];
        let inst = b.inst(Op::TexQuery, imm, &args, &[], results);
        let sizes = b.func.insts[inst].results.clone();
        sizes
            .into_iter()
            .map(|texels| {
                let n = b.convert(Op::UToF, Type::B32, texels);
                [n, b.op1(Op::FRcp, n)]
            })
            .collect()
    }

    /// A direction becomes a place on its face, and its gradients those of the place.
    fn project(&mut self, b: &mut Builder<'_>) {
        let direction = [self.coords[0], self.coords[1], self.coords[2]];
        let gradients = match self.tex.kind {
            TexKind::SampleGrad => &mut self.rest[..],
            _ => &mut [],
        };
        self.coords = cube::project(b, direction, gradients).to_vec();
        self.tex.projected = true;
    }

    /// Divides a direction by the largest magnitude among its coordinates. Its reciprocal errs by a unit in the last place, the product
    /// is rounded.
    fn scale(&mut self, b: &mut Builder<'_>) {
        let mut largest = b.op1(Op::FAbs, self.coords[0]);
        for &coordinate in &self.coords[1..] {
            let magnitude = b.op1(Op::FAbs, coordinate);
            largest = b.op2(Op::FMax, largest, magnitude);
        }
        let reciprocal = b.op1(Op::FRcp, largest);
        for coordinate in &mut self.coords {
            *coordinate = b.op2(Op::FMul, *coordinate, reciprocal);
        }
    }

    /// Half a texel from the edges of level 0.
    fn clamp(&mut self, b: &mut Builder<'_>) {
        let (half, one) = (b.f32(0.5), b.f32(1.0));
        for ([_, reciprocal], c) in self.size(b).into_iter().zip(&mut self.coords) {
            let low = b.op2(Op::FMul, reciprocal, half);
            let high = b.op2(Op::FSub, one, low);
            let inside = b.op2(Op::FMax, *c, low);
            *c = b.op2(Op::FMin, inside, high);
        }
        self.tex.kind = TexKind::SampleLevel;
        self.rest = vec![b.f32(0.0)];
    }

    /// Four samples at the centres of the texels that a linear filter would mix: (0,1) (1,1) (1,0)
    /// (0,0), of single texels ([`TexOp::texel`]). On an axis of N texels a centre is off by less than 3.5 N 2^-23 texels: the
    /// reciprocal errs by a unit and is rounded, and so are the product, a face's 1 + place, and the unit's own product. That
    /// is less than half a texel for every size that a texture has.
    fn gather(&mut self, b: &mut Builder<'_>, kind: TexKind) -> Vec<Value> {
        if self.dim == Dim::Cube && !self.tex.projected {
            self.project(b);
        }
        let component = usize::from(self.tex.component);
        self.tex.texel = true;
        self.tex.kind = kind;
        self.tex.component = 0;
        let count = if kind == TexKind::SampleGrad { 2 * self.coords.len() } else { 1 };
        self.rest = vec![b.f32(0.0); count];
        let (half, three_halves, one) = (b.f32(0.5), b.f32(1.5), b.f32(1.0));
        let sizes = self.size(b);
        // Along each axis: the centres of the first and the second texel.
        let mut centres = Vec::new();
        for (&c, &[n, reciprocal]) in self.coords.iter().zip(&sizes).take(2) {
            let within = if self.tex.projected { b.op2(Op::FSub, c, one) } else { c };
            let texels = b.op2(Op::FMul, within, n);
            let shifted = b.op2(Op::FSub, texels, half);
            let first = b.op1(Op::FFloor, shifted);
            centres.push([half, three_halves].map(|step| {
                let centre = b.op2(Op::FAdd, first, step);
                let place = b.op2(Op::FMul, centre, reciprocal);
                if self.tex.projected { b.op2(Op::FAdd, place, one) } else { place }
            }));
        }
        [(0, 1), (1, 1), (1, 0), (0, 0)]
            .into_iter()
            .map(|(x, y)| {
                self.coords[0] = centres[0][x];
                self.coords[1] = centres[1][y];
                let texel = self.emit(b);
                texel[component.min(texel.len() - 1)]
            })
            .collect()
    }

    /// Gradients whose level is the one asked for: one axis at `2^level` texels, or the quad's own
    /// times `2^bias`.
    fn make_gradients(&mut self, b: &mut Builder<'_>) {
        let amount = self.rest[0];
        let scale = b.op1(Op::FExp2, amount);
        let zero = b.f32(0.0);
        let axes = self.coords.len();
        if self.tex.kind == TexKind::SampleBias {
            let coords = self.coords.clone();
            self.rest = [Op::Ddx, Op::Ddy]
                .into_iter()
                .flat_map(|op| coords.iter().map(move |&c| (op, c)).collect::<Vec<_>>())
                .map(|(op, c)| {
                    let own = b.op1(op, c);
                    b.op2(Op::FMul, own, scale)
                })
                .collect();
        } else {
            let [_, reciprocal] = self.size(b)[0];
            let step = b.op2(Op::FMul, scale, reciprocal);
            self.rest = vec![zero; 2 * axes];
            if self.dim == Dim::Cube {
                // Of s, on the face: nothing is left for `project` to do but the coordinates.
                self.tex.kind = TexKind::SampleLevel;
                self.project(b);
            }
            self.rest[0] = step;
        }
        self.tex.kind = TexKind::SampleGrad;
    }
}
