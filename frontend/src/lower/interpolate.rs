//! Interpolation of an input at a place of the pixel that the program says (GLSL 4.60, 8.13.2).
//!
//! A variable of the interface has a copy for each place: one that is taken at the centroid or at the sample, which the
//! machine interpolates itself, or the value at the pixel's centre with its slopes along x and y. Copies are filled where
//! the function begins, so derivatives are taken in uniform control flow, wherever the call stands.
//!
//! An input of perspective is v = p / q with p and q = 1/w linear on the screen. At an offset (x, y) from the centre it is
//! v + (gx x + gy y) / (1 + hx x + hy y), where g = (p' - v q') / q and h = q' / q. A linear input has h = 0, a flat one g = 0 too.

use super::frame::{Base, Place};
use super::located::Located;
use super::types::Leaf;
use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    Builtin, Input, InputKind, Interpolation, Mem, MemSpace, Op, Sampling, Scalar, Type, Value,
};

/// Where an input is wanted.
#[derive(Copy, Clone, Debug)]
pub enum At {
    /// Inside both pixel and primitive, or at the sample.
    Spot(Sampling),
    /// Pixels to the right and down from the centre.
    Offset(Value, Value),
}

/// The copies of a variable, by what they hold.
#[derive(Clone, Debug)]
pub struct Copies {
    /// The value.
    value: Mem,
    /// g along x and along y.
    slopes: Option<[Mem; 2]>,
    /// h along x and along y: of all parts, or of each.
    scales: Scales,
}

#[derive(Clone, Debug)]
enum Scales {
    None,
    All([Value; 2]),
    Each([Mem; 2]),
}

/// What a variable of the interface is made of, and where its scalars lie in memory.
pub struct Interpolant {
    pub located: Vec<Located>,
    pub leaves: Vec<Leaf>,
}

impl<S> Lower<'_, S> {
    /// The scalars `wanted` of a place in an input variable, as they are at another place of the pixel.
    pub fn interpolated(
        &mut self,
        place: &Place,
        wanted: &[Leaf],
        at: At,
        whole: impl FnOnce(&Self) -> Result<Interpolant>,
        reader: &'static str,
    ) -> Result<Values> {
        let Base::Mem(mem) = place.base else {
            return Err(Stop::internal("an input is no variable"));
        };
        let key = match at {
            At::Spot(spot) => (mem, Some(spot)),
            At::Offset(..) => (mem, None),
        };
        let copies = match self.copies.get(&key) {
            Some(copies) => copies.clone(),
            None => {
                let whole = whole(self)?;
                let copies = self.copy_input(mem, key.1, &whole, reader)?;
                self.copies.insert(key, copies.clone());
                copies
            }
        };
        let at = match at {
            At::Spot(_) => None,
            At::Offset(x, y) => Some([x, y].map(|offset| self.as_word(offset))),
        };
        let mut read =
            |mem: Mem| self.load_leaves(&Place { base: Base::Mem(mem), ..place.clone() }, wanted);
        let value = read(copies.value);
        let (Some([x, y]), Some(slopes)) = (at, copies.slopes) else {
            return Ok(value);
        };
        let [gx, gy] = slopes.map(&mut read);
        let scales = match copies.scales {
            Scales::None => None,
            Scales::All(scales) => Some(scales.map(|scale| Values::from_elem(scale, value.len()))),
            Scales::Each(mems) => Some(mems.map(read)),
        };
        self.lanes(value.len(), |lower, lane| {
            let ty = lower.ty(value[lane]);
            if ty == Type::B64 {
                return Ok(value[lane]);
            }
            let [v, gx, gy] = [value[lane], gx[lane], gy[lane]].map(|part| lower.as_word(part));
            let mut change = lower.along(gx, gy, x, y);
            if let Some([hx, hy]) = &scales {
                let (hx, hy) = (lower.as_word(hx[lane]), lower.as_word(hy[lane]));
                let one = lower.float(Type::B32, 1.0);
                let grows = lower.along(hx, hy, x, y);
                let below = lower.op2(Op::FAdd, one, grows);
                change = lower.op2(Op::FDiv, change, below);
            }
            let sum = lower.op2(Op::FAdd, v, change);
            Ok(if ty == Type::B16 { lower.convert(Op::FConvert, ty, sum) } else { sum })
        })
    }

    /// A float of 32 bits of one of 16 or 32.
    fn as_word(&mut self, value: Value) -> Value {
        match self.ty(value) {
            Type::B16 => self.convert(Op::FConvert, Type::B32, value),
            _ => value,
        }
    }

    /// gx x + gy y.
    fn along(&mut self, gx: Value, gy: Value, x: Value, y: Value) -> Value {
        let across = self.op2(Op::FMul, gx, x);
        let down = self.op2(Op::FMul, gy, y);
        self.op2(Op::FAdd, across, down)
    }

    /// Makes and fills the copies of a variable for one place.
    fn copy_input(
        &mut self,
        mem: Mem,
        spot: Option<Sampling>,
        whole: &Interpolant,
        reader: &'static str,
    ) -> Result<Copies> {
        let Interpolant { located, leaves } = whole;
        let sampling = spot.unwrap_or(Sampling::Center);
        let moved: Vec<Located> = located
            .iter()
            .map(|part| {
                let flat = part.interpolation == Interpolation::Flat;
                let sampling = if flat { part.sampling } else { sampling };
                Located { variable: 0, sampling, ..part.clone() }
            })
            .collect();
        let zeros = leaves.iter().map(|leaf| self.constant(leaf.ty, 0)).collect();
        let mut variables = [zeros];
        self.read_located(&moved, &mut variables, reader)?;
        let [values] = variables;
        let value = self.copy_of(mem, leaves, &values)?;
        if spot.is_some() {
            return Ok(Copies { value, slopes: None, scales: Scales::None });
        }
        let has = |way| located.iter().any(|part| part.interpolation == way);
        let (perspective, linear) = (has(Interpolation::Perspective), has(Interpolation::Linear));
        let prologue = self.prologue;
        let plane = perspective.then(|| self.within(prologue, |lower| lower.reciprocal_of_w()));
        let mut slopes: [Values; 2] = Default::default();
        let mut scales: [Values; 2] = Default::default();
        for (at, &v) in values.iter().enumerate() {
            let part = located.iter().find(|part| {
                let scalars = if part.is_wide { part.count / 2 } else { part.count };
                (part.first..part.first + scalars).contains(&at)
            });
            let way = part.map_or(Interpolation::Flat, |part| part.interpolation);
            let zero = self.constant(self.ty(v), 0);
            for (axis, op) in [Op::Ddx, Op::Ddy].into_iter().enumerate() {
                let (slope, scale) = match (way, plane) {
                    (Interpolation::Flat, _) => (zero, zero),
                    (Interpolation::Perspective, Some(plane)) => {
                        self.within(prologue, |lower| lower.slope(op, v, plane, axis))
                    }
                    _ => (self.within(prologue, |lower| lower.op1(op, v)), zero),
                };
                slopes[axis].push(slope);
                scales[axis].push(scale);
            }
        }
        let [gx, gy] = &slopes;
        let gx = self.copy_of(mem, leaves, gx)?;
        let slopes = Some([gx, self.copy_of(mem, leaves, gy)?]);
        let scales = match plane {
            None => Scales::None,
            // A flat part does not change, whatever its change is divided by.
            Some((_, _, scales)) if !linear => Scales::All(scales),
            Some(_) => {
                let hx = self.copy_of(mem, leaves, &scales[0])?;
                Scales::Each([hx, self.copy_of(mem, leaves, &scales[1])?])
            }
        };
        Ok(Copies { value, slopes, scales })
    }

    /// q = 1/w of the fragment, its derivatives, and these divided by it.
    fn reciprocal_of_w(&mut self) -> (Value, [Value; 2], [Value; 2]) {
        let input = self.position();
        let q = self.b().input(input, 3);
        let changes = [Op::Ddx, Op::Ddy].map(|op| self.op1(op, q));
        (q, changes, changes.map(|change| self.op2(Op::FDiv, change, q)))
    }

    /// g and h of a value of perspective along an axis.
    fn slope(
        &mut self,
        op: Op,
        v: Value,
        (q, changes, scales): (Value, [Value; 2], [Value; 2]),
        axis: usize,
    ) -> (Value, Value) {
        let ty = self.ty(v);
        let wide = self.as_word(v);
        let p = self.op2(Op::FMul, wide, q);
        let change = self.op1(op, p);
        let own = self.op2(Op::FMul, wide, changes[axis]);
        let rest = self.op2(Op::FSub, change, own);
        let (g, h) = (self.op2(Op::FDiv, rest, q), scales[axis]);
        match ty {
            Type::B16 => {
                let [g, h] = [g, h].map(|word| self.convert(Op::FConvert, ty, word));
                (g, h)
            }
            _ => (g, h),
        }
    }

    /// The fragment's position as an input; there is one.
    fn position(&mut self) -> Input {
        let kind = InputKind::Builtin(Builtin::Position);
        self.input_once(kind, 4, Scalar::F32, "position")
    }

    /// A variable like another one that holds these scalars from the start on.
    fn copy_of(&mut self, mem: Mem, leaves: &[Leaf], values: &Values) -> Result<Mem> {
        let (name, size) = (self.func.mems[mem].name.clone(), self.func.mems[mem].size);
        let copy = self.variable(&name, size.into(), MemSpace::Private)?;
        let (place, initial) = (self.place_of(copy), self.initial);
        self.within(initial, |lower| lower.store_leaves(&place, leaves, values));
        Ok(copy)
    }
}
