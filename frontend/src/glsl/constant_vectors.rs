//! Constant expressions of functions and products that see whole vectors and matrices (GLSL 4.60, 4.3.3, 5.9, 8.5 and 8.6).

use super::tree::Num;
use super::types::Ty;
use std::rc::Rc;

/// A constant operand: its scalars, columns one behind the other, and its type.
pub type Known<'k> = (&'k [Num], Ty);

fn floats(values: &[Num]) -> Vec<f64> {
    values.iter().map(|value| value.float()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Floats as a constant; none where one is no number.
fn made(values: impl IntoIterator<Item = f64>) -> Option<Rc<[Num]>> {
    values.into_iter().map(|value| value.is_finite().then_some(Num::F(value))).collect()
}

/// Columns and rows; a vector is one column.
fn size((values, ty): Known<'_>) -> (usize, usize) {
    match ty {
        Ty::Matrix(_, columns, rows) => (columns.into(), rows.into()),
        _ => (1, values.len()),
    }
}

/// A product of which one side is a matrix, and no side a scalar.
pub fn product(a: Known<'_>, b: Known<'_>) -> Option<Rc<[Num]>> {
    let (left, right) = (floats(a.0), floats(b.0));
    // A vector on the left is a row.
    let (columns, rows) = match a.1 {
        Ty::Matrix(..) => size(a),
        _ => (left.len(), 1),
    };
    let (count, inner) = size(b);
    if columns != inner {
        return None;
    }
    let entry = |at: usize| {
        let (column, row) = (at / rows, at % rows);
        (0..inner).map(|k| left[k * rows + row] * right[column * inner + k]).sum()
    };
    made((0..count * rows).map(entry))
}

/// A function of whole vectors or matrices.
pub fn function(name: &str, known: &[Known<'_>]) -> Option<Rc<[Num]>> {
    if let [first, ..] = known
        && matches!(first.0.first(), Some(Num::F(_)))
    {
        return of_floats(name, known);
    }
    let [(a, _)] = known else {
        return None;
    };
    let value = match name {
        "any" => Num::B(a.iter().any(|num| num.truth())),
        "all" => Num::B(a.iter().all(|num| num.truth())),
        "packDouble2x32" => Num::F(f64::from_bits(
            u64::from(a.first()?.int() as u32) | u64::from(a.get(1)?.int() as u32) << 32,
        )),
        _ => return unpacked(name, a.first()?.int() as u32),
    };
    Some(vec![value].into())
}

fn of_floats(name: &str, known: &[Known<'_>]) -> Option<Rc<[Num]>> {
    let first = floats(known.first()?.0);
    let second = known.get(1).map(|known| floats(known.0));
    let third = known.get(2).map(|known| floats(known.0));
    match (name, known.len()) {
        ("length", 1) => made([dot(&first, &first).sqrt()]),
        ("dot", 2) => made([dot(&first, &second?)]),
        ("distance", 2) => {
            let apart: Vec<f64> = first.iter().zip(&second?).map(|(a, b)| a - b).collect();
            made([dot(&apart, &apart).sqrt()])
        }
        ("normalize", 1) => {
            let length = dot(&first, &first).sqrt();
            made(first.iter().map(|value| value / length))
        }
        ("cross", 2) => {
            let (a, b) = (first, second?);
            let [x, y, z] = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i]);
            made([x, y, z])
        }
        ("faceforward", 3) => {
            let turned = if dot(&third?, &second?) < 0.0 { 1.0 } else { -1.0 };
            made(first.iter().map(|value| turned * value))
        }
        ("reflect", 2) => {
            let normal = second?;
            let along = 2.0 * dot(&normal, &first);
            made(first.iter().zip(&normal).map(|(value, normal)| value - along * normal))
        }
        ("refract", 3) => {
            let (normal, ratio) = (second?, *third?.first()?);
            let along = dot(&normal, &first);
            let rest = 1.0 - ratio * ratio * (1.0 - along * along);
            if rest < 0.0 {
                return made(first.iter().map(|_| 0.0));
            }
            let by = ratio * along + rest.sqrt();
            made(first.iter().zip(&normal).map(|(value, normal)| ratio * value - by * normal))
        }
        ("matrixCompMult", 2) => made(first.iter().zip(&second?).map(|(a, b)| a * b)),
        ("outerProduct", 2) => {
            let row = second?;
            made(row.iter().flat_map(|by| first.iter().map(move |value| value * by)))
        }
        ("transpose", 1) => {
            let (columns, rows) = size(known[0]);
            made((0..columns * rows).map(|at| first[at % columns * rows + at / columns]))
        }
        ("determinant", 1) => made([determinant(&first, size(known[0]).0)]),
        ("inverse", 1) => inverse(&first, size(known[0]).0),
        ("unpackDouble2x32", 1) => {
            let bits = first.first()?.to_bits();
            Some(vec![Num::U(bits & 0xffff_ffff), Num::U(bits >> 32)].into())
        }
        _ => packed(name, &first),
    }
}

/// A matrix of one row and column less.
fn minor(matrix: &[f64], size: usize, column: usize, row: usize) -> Vec<f64> {
    let kept = |at: &usize| at / size != column && at % size != row;
    (0..size * size).filter(kept).map(|at| matrix[at]).collect()
}

fn determinant(matrix: &[f64], size: usize) -> f64 {
    if size <= 1 {
        return matrix.first().copied().unwrap_or(1.0);
    }
    let of = |column: usize| {
        let part = matrix[column * size] * determinant(&minor(matrix, size, column, 0), size - 1);
        if column.is_multiple_of(2) { part } else { -part }
    };
    (0..size).map(of).sum()
}

fn inverse(matrix: &[f64], size: usize) -> Option<Rc<[Num]>> {
    let whole = determinant(matrix, size);
    made((0..size * size).map(|at| {
        // The cofactor of the place on the other side of the diagonal.
        let (column, row) = (at / size, at % size);
        let part = determinant(&minor(matrix, size, row, column), size - 1) / whole;
        if (column + row).is_multiple_of(2) { part } else { -part }
    }))
}

/// Floats packed into a word (GLSL 4.60, 8.4).
fn packed(name: &str, values: &[f64]) -> Option<Rc<[Num]>> {
    let scaled = |low: f64, scale: f64, bits: u32| -> u64 {
        let mask = (1u64 << bits) - 1;
        let each =
            |value: &f64| ((value.clamp(low, 1.0) * scale).round_ties_even() as i64) as u64 & mask;
        values.iter().rev().fold(0, |word, value| word << bits | each(value))
    };
    let word = match (name, values.len()) {
        ("packUnorm4x8", 4) => scaled(0.0, 255.0, 8),
        ("packSnorm4x8", 4) => scaled(-1.0, 127.0, 8),
        ("packUnorm2x16", 2) => scaled(0.0, 65535.0, 16),
        ("packSnorm2x16", 2) => scaled(-1.0, 32767.0, 16),
        ("packHalf2x16", 2) => {
            let half = |value: f64| u64::from(half::f16::from_f64(value).to_bits());
            half(values[0]) | half(values[1]) << 16
        }
        _ => return None,
    };
    Some(vec![Num::U(word)].into())
}

fn unpacked(name: &str, word: u32) -> Option<Rc<[Num]>> {
    let bytes = word.to_le_bytes();
    let halves = [word as u16, (word >> 16) as u16];
    match name {
        "unpackUnorm4x8" => made(bytes.map(|byte| f64::from(byte) / 255.0)),
        "unpackSnorm4x8" => made(bytes.map(|byte| (f64::from(byte as i8) / 127.0).max(-1.0))),
        "unpackUnorm2x16" => made(halves.map(|half| f64::from(half) / 65535.0)),
        "unpackSnorm2x16" => made(halves.map(|half| (f64::from(half as i16) / 32767.0).max(-1.0))),
        "unpackHalf2x16" => made(halves.map(|bits| half::f16::from_bits(bits).to_f64())),
        _ => None,
    }
}
