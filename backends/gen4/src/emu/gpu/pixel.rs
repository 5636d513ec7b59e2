//! The windower: pixel threads of one primitive. isa/gen4-pipeline.md 3, 9.7, 9.8; isa/gen4.md 2.2.

use super::super::color::{Color, Depth, Presence, When};
use super::super::dispatch::{Job, Limits};
use super::super::functions::{Pixels, test};
use super::super::memory::Refused;
use super::super::message::{Register, Unit};
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::unit::UnitState;
use super::{Gpu, media};

/// Four pixels of a primitive: upper left, upper right, lower left, lower right.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Subspan {
    /// Column and row of the upper left pixel, both even.
    pub at: [u16; 2],
    /// By pixel, whether the primitive covers it.
    pub covered: u8,
    /// The primitive's depth in each pixel.
    pub depth: [f32; 4],
    /// Where the primitive's first vertex is, in pixels.
    pub origin: [f32; 2],
    /// The primitive shows its back.
    pub back: bool,
}

/// Words of WM_STATE.
const WORDS: u32 = 8;
/// Place of the pixels' table among binding tables.
const TABLE: usize = 4;

/// What the windower's state says.
struct Windower {
    unit: UnitState,
    wide: bool,
    threads: u32,
    presence: Presence,
    color: Color,
    depth: Option<Depth>,
    table: u32,
    color_pointer: u32,
}

fn state(gpu: &Gpu) -> Result<Windower, Refused> {
    let missing = |what: &str| (Rule::Bases, format!("no {what} were sent"));
    let units = gpu.state.units.ok_or_else(|| missing("3DSTATE_PIPELINED_POINTERS"))?;
    let tables = gpu.state.tables.ok_or_else(|| missing("3DSTATE_BINDING_TABLE_POINTERS"))?;
    let unit = UnitState::read(gpu, Unit::Pixel, units.pixel, WORDS)?;
    let refused = |what: &str| Err((Rule::ThreadState, format!("{what} of WM_STATE")));
    let (d1, d5) = (unit.words[1], unit.words[5]);
    if d1 >> 8 & 63 != 1 {
        return refused("the row of depth coefficients");
    }
    let wide = match d5 & 7 {
        1 => false,
        2 => true,
        _ => return refused("the dispatch widths"),
    };
    if d5 >> 19 & 1 == 0 {
        return refused("thread dispatch");
    }
    if d5 & 0x0100_0018 != 0 {
        return refused("contiguous or transposed dispatch");
    }
    let threads = (d5 >> 25) + 1;
    let most = if gpu.model.is_early() { 32 } else { 50 };
    if threads > most {
        return refused("the number of threads");
    }
    let at = gpu.bases()?.general.wrapping_add(units.color);
    let color = Color::read(&gpu.memory, at, gpu.state.blend_constant)?;
    let depth = match gpu.state.depth {
        Some(words) => Depth::of(words)?,
        None => None,
    };
    let (kills, computes) = (d5 >> 22 & 1, d5 >> 21 & 1);
    let key = kills
        | computes << 1
        | u32::from(color.depth_write) << 2
        | u32::from(color.depth_test.is_some()) << 3;
    let mut presence = Presence::of(key);
    presence.source |= d5 >> 20 & 1 == 1;
    // Where pixels are counted and a thread kills some, it sends depths that were tested before.
    // P 3.2, 7.14.
    if kills == 1 && unit.words[4] & 1 == 1 && presence.when == When::Early {
        (presence.source, presence.sent) = (true, true);
    }
    // Depth that the program computes is another key. P 7.1.
    let untested = d5 >> 20 & 3 == 1 && color.depth_test.is_none();
    if gpu.model.is_early() && untested && gpu.state.clamp_due {
        return Err((Rule::DepthClampMissing, "behind CONSTANT_BUFFER".into()));
    }
    Ok(Windower {
        unit,
        wide,
        threads,
        presence,
        color,
        depth,
        table: tables[TABLE],
        color_pointer: units.color,
    })
}

impl Gpu {
    /// Runs the pixel threads of one primitive: its setup entry, in rows of 32 bytes, and where it covers pixels. The first thread has
    /// so many `vacant` places of subspans before the first one: a thread works with any of its places
    /// (isa/gen4-pipeline.md 7.17, 9.7).
    ///
    /// # Errors
    /// The rule that the state or a thread breaks.
    pub fn pixel_threads(
        &mut self,
        setup: &[u8],
        subspans: &[Subspan],
        vacant: usize,
        run: &mut Run<'_>,
    ) -> Result<(), Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let windower = state(self).map_err(trap)?;
        let tested = self.early(&windower, subspans).map_err(trap)?;
        let at_once = if windower.wide { 4 } else { 2 };
        let vacant = vacant % at_once;
        let (first, others) = tested.split_at(tested.len().min(at_once - vacant));
        let threads =
            std::iter::once((vacant, first)).chain(others.chunks(at_once).map(|of| (0, of)));
        let jobs = threads
            .filter(|(_, spans)| !spans.is_empty())
            .map(|(vacant, spans)| self.pixel_job(&windower, setup, (vacant, spans)));
        let jobs: Vec<Job> = jobs.collect::<Result<_, _>>().map_err(trap)?;
        let limits = Limits { threads: windower.threads, entries: None };
        self.threads(jobs, limits, run)?;
        Ok(())
    }

    /// The drawing rectangle and, where it comes first, the depth test: what is left of subspans.
    fn early(&mut self, windower: &Windower, spans: &[Subspan]) -> Result<Vec<Subspan>, Refused> {
        let mut left = Vec::new();
        let early = windower.presence.when == When::Early;
        for span in spans {
            if span.at[0] % 2 != 0 || span.at[1] % 2 != 0 || span.covered > 15 {
                return Err((Rule::Payload, format!("a subspan at {:?}", span.at)));
            }
            let mut span = *span;
            for pixel in 0..4 {
                let [x, y] = place(&span, pixel);
                if span.covered >> pixel & 1 == 0 {
                    continue;
                }
                let outside = self.state.rectangle.is_some_and(|[left, top, right, bottom]| {
                    x < left || y < top || x > right || y > bottom
                });
                let passes = match windower.depth.filter(|_| early && !outside) {
                    Some(buffer) => {
                        let source = span.depth[pixel];
                        test(&mut self.memory, &windower.color, &buffer, [x, y], source)?
                    }
                    None => !outside,
                };
                if !passes {
                    span.covered &= !(1 << pixel);
                }
            }
            if span.covered != 0 {
                left.push(span);
            }
        }
        Ok(left)
    }

    fn pixel_job(
        &self,
        windower: &Windower,
        setup: &[u8],
        (vacant, spans): (usize, &[Subspan]),
    ) -> Result<Job, Refused> {
        let (unit, presence) = (&windower.unit, windower.presence);
        let mut places = [[0; 2]; 16];
        let (mut covered, mut dispatched) = (0u16, 0u16);
        for (index, span) in (vacant..).zip(spans) {
            covered |= u16::from(span.covered) << (4 * index);
            dispatched |= 15 << (4 * index);
            for pixel in 0..4 {
                places[4 * index + pixel] = place(span, pixel);
            }
        }
        let mut payload = vec![Register::UNDEFINED; 2];
        let samplers = unit.words[4] & !31;
        let header =
            [u32::from(covered) << 16 | u32::from(covered), windower.color_pointer, 0, samplers];
        for (word, value) in header.into_iter().enumerate() {
            define(&mut payload[0], word, value);
        }
        let first = spans.first().copied();
        let (origin, back) = first.map_or(([0.0; 2], false), |span| (span.origin, span.back));
        define(&mut payload[1], 0, origin[0].to_bits());
        define(&mut payload[1], 1, origin[1].to_bits());
        for (index, span) in (vacant..).zip(spans) {
            let word = u32::from(span.at[0]) | u32::from(span.at[1]) << 16;
            define(&mut payload[1], 2 + index, word);
        }
        let carries = u32::from(back) << 31
            | u32::from(presence.sent) << 29
            | u32::from(presence.destination) << 28
            | u32::from(presence.stencil) << 27;
        define(&mut payload[1], 6, carries);
        define(&mut payload[1], 7, 0);
        if presence.source {
            let depth = |channel: usize| {
                let span = spans.get((channel / 4).checked_sub(vacant)?)?;
                Some(span.depth[channel % 4])
            };
            let depths: Vec<Option<f32>> = (0..16).map(depth).collect();
            payload.extend(pair(&depths));
        }
        if presence.stencil {
            payload.push(Register::UNDEFINED);
        }
        if presence.destination {
            let mut depths = vec![None; 16];
            for (channel, depth) in depths.iter_mut().enumerate() {
                let [x, y] = places[channel];
                let buffer = windower.depth.filter(|b| x < b.width && y < b.height);
                if let Some(buffer) = buffer.filter(|_| covered >> channel & 1 == 1) {
                    *depth = Some(buffer.load(&self.memory, x, y)?);
                }
            }
            payload.extend(pair(&depths));
        }
        if payload.len() > unit.start {
            let what = format!("dispatch begins at r{} of {}", unit.start, payload.len());
            return Err((Rule::Payload, what));
        }
        payload.resize(unit.start, Register::UNDEFINED);
        payload.extend(media::constants(self, unit.constants.0, unit.constants.1)?);
        payload.extend(rows(setup, unit.urb)?);
        let mut context = unit.context(payload[0], windower.table);
        context.pixels = Some(Box::new(Pixels {
            wide: windower.wide,
            covered,
            places,
            presence,
            color: windower.color,
            depth: windower.depth,
            carries,
        }));
        unit.job(Unit::Pixel, payload, dispatched, context)
    }
}

/// Column and row of a pixel of a subspan.
fn place(span: &Subspan, pixel: usize) -> [u32; 2] {
    [u32::from(span.at[0]) + (pixel as u32 & 1), u32::from(span.at[1]) + (pixel as u32 >> 1)]
}

fn define(register: &mut Register, word: usize, value: u32) {
    register.words[word] = value;
    register.undefined &= !(15 << (4 * word));
}

/// Sixteen floats as two registers.
fn pair(values: &[Option<f32>]) -> [Register; 2] {
    let mut registers = [Register::UNDEFINED; 2];
    for (channel, value) in values.iter().enumerate().take(16) {
        if let Some(value) = value {
            define(&mut registers[channel / 8], channel % 8, value.to_bits());
        }
    }
    registers
}

/// Rows of an entry of the URB.
pub fn rows(entry: &[u8], (from, count): (usize, usize)) -> Result<Vec<Register>, Refused> {
    let missing = || {
        let what = format!("rows {from} to {} of {}", from + count, entry.len() / 32);
        (Rule::Payload, what)
    };
    let bytes = entry.get(32 * from..32 * (from + count)).ok_or_else(missing)?;
    let row = |row: &[u8]| {
        Register::new(std::array::from_fn(|word| {
            row[4 * word..4 * word + 4].iter().rev().fold(0, |all, b| all << 8 | u32::from(*b))
        }))
    };
    Ok(bytes.chunks_exact(32).map(row).collect())
}
