//! Random changes of programs, states and commands: a run ends with a rule or by itself, never with a panic.

use super::draw::Draws;
use super::media::store;
use super::{BOTH, Chip, PROGRAM, SURFACES, TABLE};
use crate::emu::tests::Dice;
use crate::emu::{Object, Run, Subspan};

/// Changes bits of a word, or all of it.
fn spoilt(dice: &mut Dice, word: u32) -> u32 {
    match dice.below(3) {
        0 => dice.next() as u32,
        1 => word ^ 1 << dice.below(32),
        _ => word ^ 1 << dice.below(32) ^ 1 << dice.below(32),
    }
}

fn spoil(dice: &mut Dice, words: &mut [u32]) {
    let at = dice.below(words.len() as u64) as usize;
    words[at] = spoilt(dice, words[at]);
}

#[test]
fn spoilt_media_batches_end_with_a_rule() {
    let mut dice = Dice(3);
    let mut ended = [0u32; 2];
    for turn in 0..3000 {
        let mut chip = Chip::new(BOTH[turn % 2], &store(3));
        chip.objects = vec![(0..8).collect(); 3];
        chip.steps = 2000;
        chip.gpu.set_order(dice.next());
        match dice.below(6) {
            0 => spoil(&mut dice, &mut chip.commands),
            1 => spoil(&mut dice, &mut chip.vfe),
            2 => spoil(&mut dice, &mut chip.descriptor),
            3 => {
                let bytes = (dice.next() as u32).to_le_bytes();
                let at = [SURFACES, TABLE][dice.below(2) as usize] + 4 * dice.below(6) as u32;
                chip.gpu.memory().write(at, &bytes).unwrap();
            }
            // A bit of the program: half of the time of a message's descriptor.
            _ => {
                let word = if dice.below(2) == 0 { 9 * 4 + 3 } else { dice.below(48) };
                let at = PROGRAM + 4 * word as u32;
                let old = chip.gpu.memory().read(at, 4).unwrap();
                let old = u32::from_le_bytes([old[0], old[1], old[2], old[3]]);
                let new = spoilt(&mut dice, old).to_le_bytes();
                chip.gpu.memory().write(at, &new).unwrap();
            }
        }
        ended[usize::from(chip.go().is_ok())] += 1;
    }
    assert!(ended[0] > 300 && ended[1] > 300, "{ended:?}");
}

#[test]
fn spoilt_draws_end_with_a_rule() {
    let mut dice = Dice(4);
    let text = "mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };
mov(8) m3<1>UD 0UD { align1 nomask };
mov(8) m4<1>UD 0UD { align1 nomask };
mov(8) m5<1>UD 0UD { align1 nomask };
mov(8) m6<1>UD 0UD { align1 nomask };
send(8) 1 null<1>UW g0<8,8,1>UW 0x85604c00 { align1 EOT };";
    let mut ended = [0u32; 2];
    for turn in 0..3000 {
        let mut draws = Draws::new(BOTH[turn % 2], text);
        draws.setup[6] = 0x88 << 9;
        match dice.below(8) {
            0 => spoil(&mut dice, &mut draws.vertex),
            1 => spoil(&mut dice, &mut draws.setup),
            2 => spoil(&mut dice, &mut draws.pixel),
            3 => spoil(&mut dice, &mut draws.color),
            4 => spoil(&mut dice, &mut draws.target),
            5 => spoil(&mut dice, &mut draws.depth),
            _ => {
                let at =
                    PROGRAM + 4 * (if dice.below(2) == 0 { 23 } else { dice.below(24) }) as u32;
                let old = draws.gpu.memory().read(at, 4).unwrap();
                let old = u32::from_le_bytes([old[0], old[1], old[2], old[3]]);
                let new = spoilt(&mut dice, old).to_le_bytes();
                draws.gpu.memory().write(at, &new).unwrap();
            }
        }
        if draws.send().is_err() {
            ended[0] += 1;
            continue;
        }
        let mut steps = 1000;
        let mut run = Run { steps: &mut steps, trace: None };
        let at = [dice.below(9) as u16 * 2, dice.below(5) as u16 * 2];
        let span = Subspan { at, covered: 15, depth: [0.5; 4], origin: [0.0; 2], back: false };
        ended[usize::from(draws.gpu.pixel_threads(&[0; 256], &[span], 0, &mut run).is_ok())] += 1;
        let vertices = vec![vec![0; 64]; 1 + dice.below(3) as usize];
        // Neither is made for this program: only that they end is asked.
        let vertex = draws.gpu.vertex_threads(&vertices, &mut run);
        let vertices = vertices.into_iter().map(Into::into).collect();
        let object = Object { topology: 4, vertices, provoking: 0 };
        let setup = draws.gpu.setup_thread(&object, &mut run);
        assert!(setup.is_err(), "{vertex:?}");
    }
    assert!(ended[0] > 300 && ended[1] > 300, "{ended:?}");
}
