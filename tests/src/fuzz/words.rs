//! Mutations of SPIR-V modules: words and instructions, so that most of a module stays what it was.

use gpucc_ir::ssa::random::Rng;

/// The numbers at which something changes.
const EDGES: [u32; 28] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    64,
    127,
    128,
    255,
    256,
    1024,
    65_535,
    65_536,
    1 << 24,
    1 << 28,
    0x7FFF_FFFF,
    0x8000_0000,
    0x3F80_0000,
    0x7F80_0000,
    u32::MAX,
];

/// Codes of instructions that most modules hold, so that a changed code is likely one that the reader knows.
const CODES: [u16; 56] = [
    12, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32, 33, 41, 42, 43, 44, 46, 54, 55, 56, 57,
    59, 61, 62, 65, 66, 68, 71, 72, 79, 80, 81, 82, 83, 84, 86, 87, 88, 95, 109, 124, 128, 129,
    133, 145, 148, 169, 176, 234, 245, 246, 248, 253,
];

/// The words of a module; a last piece of a word is left out. Words of the other byte order are put right.
fn read(module: &[u8]) -> Vec<u32> {
    let words: Vec<u32> = module
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    match words.first() {
        Some(0x0302_2307) => words.into_iter().map(u32::swap_bytes).collect(),
        _ => words,
    }
}

/// The five words of the header and each instruction.
fn split(words: &[u32]) -> (&[u32], Vec<Vec<u32>>) {
    let (head, mut rest) = words.split_at(words.len().min(5));
    let mut insts: Vec<Vec<u32>> = Vec::new();
    while let Some(first) = rest.first() {
        let length = (*first >> 16).max(1) as usize;
        let (inst, after) = rest.split_at(length.min(rest.len()));
        insts.push(inst.to_vec());
        rest = after;
    }
    (head, insts)
}

/// Makes the first word say how long an instruction is.
fn sized(inst: &mut [u32]) {
    let length = inst.len().min(0xFFFF) as u32;
    if let Some(first) = inst.first_mut() {
        *first = (*first & 0xFFFF) | length << 16;
    }
}

/// A mutation of a module, with instructions of `other`: operands replaced by others of the module or by numbers at the
/// edges, instructions removed, repeated, swapped, longer or shorter, or given another's code, and words cut off.
pub fn module(rng: &mut Rng, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let (words, others) = (read(seed), read(other));
    let (head, mut insts) = split(&words);
    let (_, others) = split(&others);
    let mut head = head.to_vec();
    let changes = match rng.below(8) {
        0..5 => 1,
        5 | 6 => 2 + rng.below(2),
        _ => 4 + rng.below(12),
    };
    for _ in 0..changes {
        if insts.is_empty() {
            break;
        }
        change(rng, &mut head, &mut insts, &others);
    }
    let mut words: Vec<u32> = head.into_iter().chain(insts.into_iter().flatten()).collect();
    if rng.one_in(40) {
        words.truncate(rng.below(words.len() + 1));
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn change(rng: &mut Rng, head: &mut [u32], insts: &mut Vec<Vec<u32>>, others: &[Vec<u32>]) {
    let (at, from) = (rng.below(insts.len()), rng.below(insts.len()));
    let place = rng.below(insts[at].len());
    let foreign = match others.is_empty() {
        true => insts[from].clone(),
        false => others[rng.below(others.len())].clone(),
    };
    match rng.below(20) {
        0..4 if place > 0 => insts[at][place] = rng.pick(&EDGES),
        // An operand of this module, most likely an id that exists.
        4..8 if place > 0 => {
            let donor = &insts[from];
            insts[at][place] = donor[rng.below(donor.len())];
        }
        // An id beside it: often one of the same type.
        8 | 9 if place > 0 => {
            let word = &mut insts[at][place];
            *word = word.wrapping_add(1 + rng.below(3) as u32).wrapping_sub(2);
        }
        10 => drop(insts.remove(at)),
        11 => insts.insert(at, insts[from].clone()),
        12 => insts.swap(at, from),
        13 => insts[at][0] = (insts[at][0] & 0xFFFF_0000) | u32::from(rng.pick(&CODES)),
        14 => {
            // Another instruction of the same length.
            let length = insts[at].len();
            let mut alike = insts.iter().cycle().skip(from).take(insts.len());
            if let Some(code) = alike.find(|inst| inst.len() == length).map(|inst| inst[0]) {
                insts[at][0] = code;
            }
        }
        15 => insts.insert(at, foreign),
        16 => {
            let length = insts[at].len();
            match rng.below(3) {
                0 => insts[at].truncate(1 + rng.below(length)),
                1 => {
                    let word = insts[at][place];
                    insts[at].insert(place.max(1), word);
                }
                _ => {
                    let word = rng.pick(&EDGES);
                    let often = 1 << rng.below(13);
                    insts[at].extend(std::iter::repeat_n(word, often));
                }
            }
            sized(&mut insts[at]);
        }
        17 => insts[at][place] ^= 1 << rng.below(32),
        18 => {
            // A piece of the module again and again.
            let end = insts.len().min(at + 1 + rng.below(4));
            let piece = insts[at..end].to_vec();
            let words = piece.iter().map(Vec::len).sum::<usize>().max(1);
            let often = (1 << rng.below(12)).min(16_000 / words);
            let repeated = piece.iter().cloned().cycle().take(piece.len() * often);
            insts.splice(at..at, repeated);
        }
        _ if !head.is_empty() => {
            let place = rng.below(head.len());
            head[place] = match rng.one_in(2) {
                true => rng.pick(&EDGES),
                false => head[place] ^ (1 << rng.below(32)),
            };
        }
        _ => {}
    }
}

/// The header and each instruction as bytes.
pub fn pieces(module: &[u8]) -> Vec<Vec<u8>> {
    let words = read(module);
    let (head, insts) = split(&words);
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::iter::once(bytes(head)).chain(insts.iter().map(|inst| bytes(inst))).collect()
}
