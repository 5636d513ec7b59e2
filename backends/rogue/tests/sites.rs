//! Which changes of a group mean something: parts stand where they are said to stand, and changes with a meaning are noticed.

use crate::code::{CHIPS, PLAIN, bindings, compile};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::interp::{self, Lanes};
use gpucc_ir::ssa::random::{Rng, program};
use gpucc_ir::ssa::{Func, ResourceKind};
use gpucc_machine::{Compiled, Machine as _, Site};
use gpucc_rogue::ROGUE;
use gpucc_rogue::isa::program::decode_program;

#[test]
fn parts_of_groups_stand_where_they_say() {
    for seed in 0..40 {
        let Ok(compiled) = compile(&program(seed, &PLAIN), CHIPS[0]) else { continue };
        let groups = decode_program(&compiled.code).expect("its own code");
        let sites = ROGUE.sites(&compiled);
        let headers = sites.iter().filter(|site| site.inst.op().name.starts_with("Header"));
        assert_eq!(headers.count(), groups.len(), "seed {seed}");
        // A group has a word of sources or an operation beside its header.
        assert!(sites.len() > 2 * groups.len(), "seed {seed}");
        for site in &sites {
            let bytes: Vec<u8> = site.inst.bytes().collect();
            let there = &compiled.code[site.offset..site.offset + bytes.len()];
            assert_eq!(there, bytes, "seed {seed}, {}", site.inst.op().name);
        }
    }
}

/// The words of the buffers behind a run, where it ends.
fn run(compiled: &Compiled, before: &Bindings) -> Option<Vec<u8>> {
    let mut device = ROGUE.device(compiled, CHIPS[0]);
    let mut found = before.clone();
    device.dispatch(&mut found, [2, 1, 1]).ok()?;
    let func = &compiled.expanded;
    let stored = |kind| matches!(kind, ResourceKind::Storage { .. });
    let buffers = func.resources.iter().filter(|(_, data)| stored(data.kind));
    Some(buffers.flat_map(|(resource, _)| found.get(resource, 0).bytes().to_vec()).collect())
}

/// Whether the order of invocations decides nothing.
fn is_ordered(func: &Func, before: &Bindings) -> bool {
    let lanes = Lanes::compute(func, [2, 1, 1], 0, 2);
    let numerics = ROGUE.numerics(CHIPS[0]);
    let mut world = before.clone();
    let outcome = interp::run(func, &lanes, &mut world, interp::Options::new(&numerics));
    outcome.is_ok_and(|outcome| !outcome.excluded.all && outcome.excluded.words.is_empty())
}

/// A change of a bit: its bytes, where it has a meaning as is asked. Bits that say where bytes lie have none, and are no change of a
/// group.
fn flipped(site: &Site, meant: bool, rng: &mut Rng) -> Option<Vec<u8>> {
    let fields: Vec<_> = site.inst.op().format.fields().collect();
    let field = fields[rng.below(fields.len())];
    let bit = rng.below(field.width().min(31) as usize);
    let new = field.get(site.inst.bits()) ^ 1 << bit;
    let count = usize::from(site.inst.op().format.bits) / 8;
    let bits = field.put(site.inst.bits(), new);
    const PLACES: [&str; 8] =
        ["ASSIST", "LENGTH", "LONG", "FORM", "EXT", "EXT_A", "EXT_B", "EXT_C"];
    let asked = (site.meaning)(field, new) == meant && !PLACES.contains(&field.name);
    asked.then(|| bits.to_le_bytes()[..count].to_vec())
}

#[test]
fn changes_without_a_meaning_change_nothing() {
    let mut tried = 0;
    for seed in 0..60 {
        let Ok(compiled) = compile(&program(seed, &PLAIN), CHIPS[0]) else { continue };
        let mut rng = Rng::new(seed);
        let before = bindings(&compiled.expanded, &mut rng);
        if !is_ordered(&compiled.expanded, &before) {
            continue;
        }
        let Some(right) = run(&compiled, &before) else { continue };
        let sites = ROGUE.sites(&compiled);
        for _ in 0..120 {
            let site = &sites[rng.below(sites.len())];
            let Some(bytes) = flipped(site, false, &mut rng) else { continue };
            let mut same = compiled.clone();
            same.code[site.offset..site.offset + bytes.len()].copy_from_slice(&bytes);
            // What is refused is no other result.
            if let Some(found) = run(&same, &before) {
                tried += 1;
                let what = (site.inst.op().name, site.offset, &bytes);
                assert!(found == right, "seed {seed}: {what:?}");
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn changes_with_a_meaning_are_noticed() {
    let (mut tried, mut noticed) = (0, 0);
    for seed in 0..30 {
        let Ok(compiled) = compile(&program(seed, &PLAIN), CHIPS[0]) else { continue };
        let mut rng = Rng::new(seed);
        let before = bindings(&compiled.expanded, &mut rng);
        if !is_ordered(&compiled.expanded, &before) {
            continue;
        }
        let Some(right) = run(&compiled, &before) else { continue };
        let sites = ROGUE.sites(&compiled);
        for _ in 0..30 {
            let site = &sites[rng.below(sites.len())];
            let Some(bytes) = flipped(site, true, &mut rng) else { continue };
            let mut broken = compiled.clone();
            broken.code[site.offset..site.offset + bytes.len()].copy_from_slice(&bytes);
            tried += 1;
            noticed += u32::from(run(&broken, &before).as_ref() != Some(&right));
        }
    }
    // One input of each program.
    assert!(tried > 200 && 10 * noticed > 7 * tried, "{noticed} of {tried}");
}
