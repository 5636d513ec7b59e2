//! What stands in registers when a pixel program starts, as the SPI registers say. Register guide, SPI.

use super::build::*;
use crate::emu::{PixelBatch, Rule, Stage, State, Trap, address, run_pixels};

/// A state with SPI registers: control 0, the interpolators' control and the entries of parameters.
fn spi(control0: u32, interpolation: u32, entries: &[u32]) -> State {
    let mut state = state();
    state.stage = Stage::Pixel;
    let total = entries.len() as u32;
    let mut write = |at: u32, value: u32| state.registers.insert(at, value);
    write(address::SPI_PS_IN_CONTROL_0, control0 | total);
    write(address::SPI_INTERP_CONTROL_0, interpolation);
    for (number, &entry) in (0u32..).zip(entries) {
        write(address::SPI_PS_INPUT_CNTL_0 + 4 * number, entry);
    }
    state
}

/// Exports R`register` of the first pixel of a quad to which `count` parameters arrive, all 0.25.
fn first(mut state: State, register: u32, count: usize, points: bool) -> Result<[f32; 4], Trap> {
    let batch = PixelBatch {
        covered: vec![0b1111],
        front: vec![true],
        position: vec![[0.5, 0.5, 0.0, 1.0]; 4],
        point: if points { vec![[0.125, 0.75]; 4] } else { vec![] },
        sample: vec![],
        components: vec![4; count],
        parameters: vec![[0.25f32.to_bits(); 4]; 4 * count],
        semantics: Vec::new(),
    };
    let list = [export(true, 0, 0, register, [0, 1, 2, 3], true)];
    let launched = run_pixels(&link(&list), &mut state, &batch, None)?;
    let export = launched.export(0, 0).expect("exported");
    Ok(export.values[0].map(f32::from_bits))
}

const CENTERS: u32 = 1 << 26;
/// PNT_SPRITE_ENA with s, t, 0, 1.
const SPRITE: u32 = 1 << 1 | 2 << 2 | 3 << 5 | 1 << 11;
/// PT_SPRITE_TEX, and 1, 1, 1, 0 where nothing arrives.
const TEX: u32 = 1 << 17 | 2 << 8;

#[test]
pub fn points_replace_the_parameters_that_ask_for_it() {
    let run = |interpolation, entries: &[u32], register, count, points| {
        first(spi(CENTERS, interpolation, entries), register, count, points).expect("legal")
    };
    assert_eq!(run(SPRITE, &[0, TEX], 0, 1, true), [0.25; 4]);
    assert_eq!(run(SPRITE, &[0, TEX], 1, 1, true), [0.125, 0.75, 0.0, 1.0]);
    // T from the bottom.
    let top = SPRITE | 1 << 14;
    assert_eq!(run(top, &[0, TEX], 1, 1, true), [0.125, 0.25, 0.0, 1.0]);
    // SPI_PNT_SPRITE_SEL_NONE keeps what arrives.
    let kept = SPRITE & !(7 << 5) | 4 << 5;
    assert_eq!(run(kept, &[TEX], 0, 1, true), [0.125, 0.25, 0.0, 1.0]);
    // What is no point has the default value of a semantic that nothing matches.
    assert_eq!(run(SPRITE, &[0, TEX], 1, 1, false), [1.0, 1.0, 1.0, 0.0]);
}

#[test]
pub fn entries_are_programmed_and_find_what_they_interpolate_with() {
    let run = |control0, interpolation, entries: &[u32]| {
        first(spi(control0, interpolation, entries), 0, 1, false).map_err(|trap| trap.rule)
    };
    let (flat, centroid, linear, sample) = (1 << 10, 1 << 11, 1 << 12, 1 << 18);
    let fine = Ok([0.25; 4]);
    assert_eq!(run(CENTERS, 0, &[0]), fine);
    // FLAT_SHADE_ENA, LINEAR_GRADIENT_ENA, PERSP_GRADIENT_ENA beside it, BARYC_AT_SAMPLE_ENA.
    assert_eq!(run(CENTERS, 0, &[flat]), Err(Rule::State));
    assert_eq!(run(CENTERS, 1, &[flat]), fine);
    assert_eq!(run(CENTERS, 0, &[linear]), Err(Rule::State));
    assert_eq!(run(CENTERS | 1 << 29, 0, &[linear]), fine);
    assert_eq!(run(CENTERS | 1 << 29, 0, &[0]), Err(Rule::State));
    assert_eq!(run(CENTERS | 3 << 28, 0, &[0]), fine);
    assert_eq!(run(CENTERS, 0, &[sample]), Err(Rule::State));
    assert_eq!(run(CENTERS | 1 << 31, 0, &[sample]), fine);
    // CENTROIDS_ONLY, CENTERS_ONLY, both, undefined.
    assert_eq!(run(0, 0, &[0]), Err(Rule::State));
    assert_eq!(run(0, 0, &[centroid]), fine);
    assert_eq!(run(CENTERS, 0, &[centroid]), Err(Rule::State));
    assert_eq!(run(2 << 26, 0, &[centroid]), fine);
    assert_eq!(run(2 << 26, 0, &[0]), fine);
    assert_eq!(run(3 << 26, 0, &[0]), Err(Rule::State));
    // An entry that nobody wrote, position beyond NUM_INTERP, more than 32.
    let mut state = spi(CENTERS, 0, &[0, 0]);
    state.registers.remove(&(address::SPI_PS_INPUT_CNTL_0 + 4));
    assert_eq!(first(state, 0, 1, false).unwrap_err().rule, Rule::State);
    let position = CENTERS | 1 << 8;
    assert_eq!(run(position | 1 << 10, 0, &[0]), Err(Rule::State));
    assert!(run(position | 1 << 10, 1, &[0, flat]).is_ok());
    assert_eq!(run(CENTERS, 0, &[0; 33]), Err(Rule::State));
}
