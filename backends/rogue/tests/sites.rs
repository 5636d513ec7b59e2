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
        let sites = ROGUE.sites(&compiled, CHIPS[0]);
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

/// The words of the buffers behind a run; why it does not end otherwise.
fn run(compiled: &Compiled, before: &Bindings) -> Result<Vec<u8>, String> {
    let mut device = ROGUE.device(compiled, CHIPS[0]);
    let mut found = before.clone();
    device.dispatch(&mut found, [2, 1, 1]).map_err(|stop| format!("{stop:?}"))?;
    let func = &compiled.expanded;
    let stored = |kind| matches!(kind, ResourceKind::Storage { .. });
    let buffers = func.resources.iter().filter(|(_, data)| stored(data.kind));
    Ok(buffers.flat_map(|(resource, _)| found.get(resource, 0).bytes().to_vec()).collect())
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

/// A program whose result is known, with its sites.
struct Known {
    seed: u64,
    compiled: Compiled,
    before: Bindings,
    right: Vec<u8>,
    sites: Vec<Site>,
}

impl Known {
    /// The program of a seed; none where it does not compile, does not end, or depends on the order of invocations.
    fn new(seed: u64, rng: &mut Rng) -> Option<Known> {
        let compiled = compile(&program(seed, &PLAIN), CHIPS[0]).ok()?;
        let before = bindings(&compiled.expanded, rng);
        if !is_ordered(&compiled.expanded, &before) {
            return None;
        }
        let right = run(&compiled, &before).ok()?;
        let sites = ROGUE.sites(&compiled, CHIPS[0]);
        Some(Known { seed, compiled, before, right, sites })
    }

    /// A change of a bit of a site, with what the program then leaves; none where the bit has not the meaning that is asked.
    fn changed(&self, meant: bool, rng: &mut Rng) -> Option<(String, Result<Vec<u8>, String>)> {
        let site = &self.sites[rng.below(self.sites.len())];
        let bytes = flipped(site, meant, rng)?;
        let mut other = self.compiled.clone();
        other.code[site.offset..site.offset + bytes.len()].copy_from_slice(&bytes);
        let name = site.inst.op().name;
        let what = format!("seed {}: {name} at {}: {bytes:?}", self.seed, site.offset);
        Some((what, run(&other, &self.before)))
    }
}

#[test]
fn changes_without_a_meaning_change_nothing() {
    let mut tried = 0;
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let Some(known) = Known::new(seed, &mut rng) else { continue };
        for _ in 0..120 {
            if let Some((what, found)) = known.changed(false, &mut rng) {
                tried += 1;
                assert!(found.as_ref() == Ok(&known.right), "{what}: {:?}", found.err());
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn changes_with_a_meaning_are_noticed() {
    let (mut tried, mut noticed) = (0, 0);
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let Some(known) = Known::new(seed, &mut rng) else { continue };
        for _ in 0..30 {
            let Some((_, found)) = known.changed(true, &mut rng) else { continue };
            tried += 1;
            noticed += u32::from(found.as_ref() != Ok(&known.right));
        }
    }
    // One input of each program.
    assert!(tried > 200 && 10 * noticed > 7 * tried, "{noticed} of {tried}");
}
