//! What fixed function reads of a vertex's entry beside the outputs: the header with the flags of user planes, and the position
//! divided by w. No output says it, so a run looks at it by itself. isa/gen4-pipeline.md 2.

use crate::emu::Model;
use crate::vue;
use gpucc_emu::device::Stop;
use gpucc_ir::ssa::Span;

/// The flag of a negative 1 / w. isa/gen4-pipeline.md 2.
const NEGATIVE: u32 = 1 << 6;
/// Width of a point: bits 18:8 of the header's last word.
const WIDTH: u32 = 0x7ff00;
/// How far a product may be from the quotient: 1 ULP of the inverse, and what rounding takes of both.
const ERROR: f64 = 4.0 / (1 << 23) as f64;

/// Looks at an entry; `distances` are those to user planes in their order.
///
/// # Errors
/// [`Stop::Illegal`] where the entry holds something else.
pub fn check(model: Model, entry: &[u32], distances: &[u32]) -> Result<(), Stop> {
    let illegal = |message: String| {
        Err(Stop::Illegal { rule: "vertex entry".into(), message, span: Span::NONE })
    };
    let Some((header, slots)) = entry.split_at_checked(4) else {
        return illegal("it has no header".into());
    };
    let (device, position) = match (slots.get(..4), slots.get(4..8)) {
        (Some(device), Some(position)) => (device, position),
        _ => return illegal(format!("it has no slot {}", vue::POSITION)),
    };
    let w = f32::from_bits(position[3]);
    // What 1 / w is of numbers that are none, or flushed, is not compared.
    let usual = w.is_normal() && (1.0 / w).is_normal();
    let negative = model.is_early() && usual && w < 0.0;
    let flags = (0..).zip(distances).map(|(number, &bits)| {
        let distance = f32::from_bits(bits);
        u32::from(distance < 0.0 && !distance.is_subnormal()) << number
    });
    let right = flags.sum::<u32>() | if negative { NEGATIVE } else { 0 };
    let mut word = header[3] & !WIDTH;
    if model.is_early() && !usual {
        word &= !NEGATIVE;
    }
    if header[..3] != [0; 3] || word != right {
        return illegal(format!("the header is {header:x?}, and its flags are {right:#x}"));
    }
    if !usual {
        return Ok(());
    }
    for (component, &bits) in device.iter().enumerate() {
        let of = if component < 3 { f32::from_bits(position[component]) } else { 1.0 };
        let exact = f64::from(of) / f64::from(w);
        let found = f32::from_bits(bits);
        let small = exact.abs() < f64::from(f32::MIN_POSITIVE) * 2.0;
        let comparable = of.is_finite() && !of.is_subnormal() && exact.abs() < f64::from(f32::MAX);
        let fits = match (negative, comparable) {
            (true, _) => bits & 0x7fff_ffff == 0,
            (_, false) => true,
            _ if small => found.abs() <= f32::MIN_POSITIVE * 2.0,
            _ => (f64::from(found) - exact).abs() <= ERROR * exact.abs(),
        };
        if !fits {
            return illegal(format!(
                "component {component} of the position by w is {found}, and not {exact}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(header: u32, device: [f32; 4], position: [f32; 4]) -> Vec<u32> {
        let floats = device.into_iter().chain(position).map(f32::to_bits);
        [0, 0, 0, header].into_iter().chain(floats).collect()
    }

    #[test]
    fn an_entry_has_the_position_by_w_and_the_flags_of_its_distances() {
        let position = [1.0, -3.0, 0.5, 2.0];
        let device = [0.5, -1.5, 0.25, 0.5];
        let distances = [1.0f32, -2.0].map(f32::to_bits);
        for model in [Model::I965, Model::G45] {
            let fine = |entry: &[u32]| check(model, entry, &distances).is_ok();
            assert!(fine(&entry(2 | 0x800, device, position)));
            assert!(!fine(&entry(0, device, position)), "a flag is missing");
            assert!(!fine(&entry(3, device, position)), "a flag too many");
            for component in 0..4 {
                let mut wrong = device;
                wrong[component] *= 1.00001;
                assert!(!fine(&entry(2, wrong, position)), "component {component}");
            }
        }
        // The 965's clip test takes such a vertex by its flag.
        let behind = [1.0, -3.0, 0.5, -2.0];
        let (plain, flagged) =
            (entry(2, [-0.5, 1.5, -0.25, -0.5], behind), entry(0x42, [0.0; 4], behind));
        assert!(check(Model::G45, &plain, &distances).is_ok());
        assert!(check(Model::I965, &plain, &distances).is_err());
        assert!(check(Model::G45, &flagged, &distances).is_err());
        assert!(check(Model::I965, &flagged, &distances).is_ok());
        // What 0 divides is anything.
        assert!(check(Model::G45, &entry(2, [7.0; 4], [1.0, 1.0, 1.0, 0.0]), &distances).is_ok());
    }
}
