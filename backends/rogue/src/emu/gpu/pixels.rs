//! Fragments of a draw: primitives, coefficients, tests, programs, outputs. 4.2, 5.1, 5.4.
//!
//! Ours to assume [A]: pixels are found by the rasteriser that every machine shares. Iterators give what it interpolates
//! exactly; coefficients themselves hold planes in pixels. The chip's face bit is set where corners go clockwise on the
//! screen. When pixels are tested is their pass's ([`Pass`]). The public description of the state words names their bits; which
//! of the three operations on stencils is whose it leaves open.

use super::super::check::Stage;
use super::super::inst::Mode;
use super::super::machine::Run;
use super::super::pds::{Action, Pds};
use super::super::register::{Common, INSTANCES, each};
use super::super::rule::{Refused, Rule, Trap};
use super::super::task::{Iterated, Sizes, Task};
use super::Gpu;
use super::compute::{place, temporaries, upload};
use super::pass::Pass;
use super::ppp::State;
use super::vertices::Drawn;
use gpucc_emu::draw::Topology;
use gpucc_emu::raster::{Corner, Found, Piece, Raster, Viewport};

/// Output registers and depth of one pixel.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Pixel {
    /// The output registers, as far as they were written.
    pub outputs: [Option<u32>; 8],
    /// The depth.
    pub depth: f32,
    /// The stencil.
    pub stencil: u8,
}

/// What is rendered, before the ends of tiles.
#[derive(Clone, Debug)]
pub struct Render {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Row by row.
    pub pixels: Vec<Pixel>,
}

impl Render {
    /// A render whose pixels begin alike.
    pub fn new(width: u32, height: u32, pixel: Pixel) -> Render {
        let count = width as usize * height as usize;
        Render { width, height, pixels: vec![pixel; count] }
    }

    fn pixel(&mut self, x: u32, y: u32) -> Option<&mut Pixel> {
        if x >= self.width || y >= self.height {
            return None;
        }
        self.pixels.get_mut((y * self.width + x) as usize)
    }
}

const fn field(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

/// What stands around the fragment programs of a draw.
struct Programs {
    entry: u32,
    temps: u16,
    coefficients: usize,
    shared: Common,
    varyings: Vec<(u32, u32)>,
}

/// A varying's words. 5.1.
#[derive(Copy, Clone, Debug)]
pub(in crate::emu) struct Varying {
    /// The first word within the vertex behind its position.
    pub first: u32,
    pub count: u32,
    pub perspective: bool,
    /// The vertex of a flat one.
    pub flat: Option<usize>,
    /// The place in a point: of no word of a vertex.
    pub point: bool,
    /// The number of the primitive: a constant of no word of a vertex.
    pub primitive: bool,
    pub set: usize,
}

impl Varying {
    /// From the operand of DOUTI.
    ///
    /// # Errors
    /// What is not built, and a place within a word.
    pub fn read((source, set): (u32, u32)) -> Result<Varying, Refused> {
        let others = field(source, 27, 27) | field(source, 22, 20);
        if source >> 17 & 1 == 1 || others != 0 {
            return Err((Rule::NotBuilt, format!("a varying of control {source:#x}")));
        }
        let half = field(source, 15, 8);
        if half % 2 == 1 {
            return Err((Rule::State, format!("a varying at half {half}")));
        }
        let shade = field(source, 25, 24);
        Ok(Varying {
            first: half / 2,
            count: 1 + field(source, 19, 18),
            perspective: source >> 16 & 1 == 1,
            flat: (shade < 3).then_some(shade as usize),
            point: source >> 23 & 1 == 1,
            primitive: source >> 26 & 1 == 1,
            set: set as usize,
        })
    }
}

/// Draws the primitives of a draw, one after the other.
///
/// # Errors
/// As [`Gpu::draw`].
pub fn draw(
    gpu: &mut Gpu,
    drawn: &Drawn,
    render: &mut Render,
    run: &mut Run<'_>,
) -> Result<(), Trap> {
    let state = &drawn.state;
    let mut programs = programs(gpu, state, 1, run.steps).map_err(place)?;
    let varyings: Result<Vec<Varying>, Refused> =
        programs.varyings.iter().copied().map(Varying::read).collect();
    let varyings = varyings.map_err(place)?;
    let (raster, flipped) = raster(state, render).map_err(place)?;
    for corners in primitives(drawn).map_err(place)? {
        let topology = match corners.len() {
            1 => Topology::PointList,
            2 => Topology::LineList,
            _ => Topology::TriangleList,
        };
        let vertices: Vec<&[Option<u32>]> =
            corners.iter().map(|at| drawn.vertices[*at].as_slice()).collect();
        let mut positions = Vec::new();
        for vertex in &vertices {
            positions.push(position(vertex, flipped).map_err(place)?);
        }
        let mut outline = Vec::new();
        for (vertex, position) in vertices.iter().zip(&positions) {
            let size = point_size(state, vertex).map_err(place)?;
            outline.push(Corner { position: *position, clip: &[], size });
        }
        for piece in raster.pieces(topology, &outline) {
            // 1 takes those away that go clockwise, 2 the others.
            if corners.len() == 3 && state.primitive & 3 == 1 + u32::from(piece.front()) {
                continue;
            }
            let shape = Shape { piece: &piece, vertices: &vertices, positions: &positions };
            primitive(gpu, state, &mut programs, &varyings, &shape, (&raster, render), run)?;
        }
    }
    Ok(())
}

/// Runs the programs of the data sequencer around a fragment program.
///
/// # Errors
/// A rule that they break; several samples of a pixel where they start one instance for all.
fn programs(gpu: &Gpu, state: &State, count: u32, steps: &mut u64) -> Result<Programs, Refused> {
    let [first, second] = state.sizes;
    let temps = match field(first, 3, 0) {
        0 => 64,
        units => 4 * units,
    };
    let pds = |data: u64, words: u32, code: u64| Pds {
        memory: &gpu.memory,
        data: gpu.bases.pds + data,
        constants: words,
        code: gpu.bases.pds + code,
        temps: [None; 32],
        persistent: [None; 32],
        count: temps.min(32),
        if0: true,
        if1: false,
    };
    // The program that starts pixels: eight words of data, then its code.
    let shader = u64::from(state.shader & !15);
    let started = pds(shader, 8, shader + 32).run(steps)?;
    let Some(Action::Start { entry, temps, rate }) = started.last() else {
        return Err((Rule::PdsEnd, "no program starts for the pixels".into()));
    };
    // With one sample a pixel all rates are the same.
    if *rate == 3 {
        return Err((Rule::State, "rate 3 of a program".into()));
    }
    if count > 1 && *rate != FULL {
        let what = format!("rate {rate} of a program where a pixel has {count} samples");
        return Err((Rule::NotBuilt, what));
    }
    let mut shared = Common::new("sh", 16 * field(second, 31, 23) as usize);
    let uniforms = 4 * field(first, 31, 23);
    if uniforms != 0 {
        let data = u64::from(state.uniforms & !15);
        let code = u64::from(state.uniform_code & !15);
        upload(&pds(data, uniforms, code).run(steps)?, &mut shared)?;
    }
    let textures = 4 * field(first, 22, 16);
    if textures != 0 {
        let data = u64::from(state.textures & !15);
        let code = u64::from(state.uniform_code & !15);
        upload(&pds(data, textures, code).run(steps)?, &mut shared)?;
    }
    let words = 4 * field(first, 15, 10);
    let mut varyings = Vec::new();
    if words != 0 {
        let data = u64::from(state.varyings & !15);
        let actions = pds(data, words, data + 4 * u64::from(words)).run(steps)?;
        for (at, action) in actions.iter().enumerate() {
            let Action::Iterate { source, set, last } = action else {
                return Err((Rule::PdsTarget, format!("{action:?} by a program of varyings")));
            };
            if *last != (at + 1 == actions.len()) {
                return Err((Rule::PdsEnd, "the last varying alone is marked".into()));
            }
            varyings.push((*source, *set));
        }
    }
    let coefficients = 16 * field(first, 9, 4) as usize;
    Ok(Programs { entry: *entry, temps: temporaries(gpu, *temps)?, coefficients, shared, varyings })
}

/// The rasteriser of a state, and whether clip space has y down.
fn raster(state: &State, render: &Render) -> Result<(Raster, bool), Refused> {
    let Some(values @ [a0, m0, a1, m1, a2, m2]) = state.viewport else {
        return Err((Rule::State, "no viewport was sent".into()));
    };
    if values.iter().any(|value| !value.is_finite() || value.abs() > LARGEST_VIEWPORT) {
        return Err((Rule::State, format!("a viewport of {values:?}")));
    }
    // Several samples, numbers of primitives, positions on the screen, the buffer of w.
    if state.primitive & 0x9050 != 0 || state.primitive & 3 == 3 {
        return Err((Rule::NotBuilt, format!("PPP_CTRL {:#x}", state.primitive)));
    }
    if state.control & 3 << 16 != 0 || state.outputs & 0xff != 0 {
        return Err((Rule::NotBuilt, "scissors, depth biases and clip planes".into()));
    }
    if m0 <= 0.0 || m1 == 0.0 {
        return Err((Rule::NotBuilt, format!("a viewport of {m0} by {m1}")));
    }
    let viewport = Viewport {
        x: a0 - m0,
        y: a1 - m1.abs(),
        width: 2.0 * m0,
        height: 2.0 * m1.abs(),
        near: a2,
        far: a2 + m2,
    };
    let mut bounds = [0, 0, render.width, render.height];
    if let Some([across, down]) = state.region
        && across >> 31 == 1
    {
        // In units of 32 pixels, the last ones inside.
        bounds = [
            32 * field(across, 24, 16),
            32 * field(down, 24, 16),
            bounds[2].min(32 * (field(across, 8, 0) + 1)),
            bounds[3].min(32 * (field(down, 8, 0) + 1)),
        ];
    }
    Ok((Raster::new(viewport, bounds, true), m1 > 0.0))
}

fn word(vertex: &[Option<u32>], at: usize) -> Result<u32, Refused> {
    let word = vertex.get(at).copied().flatten();
    word.ok_or_else(|| (Rule::Undefined, format!("vertex output {at}")))
}

/// The width of a point: the last word of a vertex but for the numbers of viewport and layer, where it is there.
fn point_size(state: &State, vertex: &[Option<u32>]) -> Result<f32, Refused> {
    if state.outputs >> 18 & 1 == 0 {
        return Ok(1.0);
    }
    let behind = (state.outputs >> 19 & 1) + (state.outputs >> 20 & 1) + 1;
    let at = (state.outputs >> 24).checked_sub(behind);
    let at = at.ok_or_else(|| (Rule::State, "a vertex without room for a point's width".into()))?;
    Ok(f32::from_bits(word(vertex, at as usize)?))
}

/// A vertex's place in clip space, with y up.
fn position(vertex: &[Option<u32>], flipped: bool) -> Result<[f64; 4], Refused> {
    let mut position = [0.0; 4];
    for (at, value) in position.iter_mut().enumerate() {
        *value = f64::from(f32::from_bits(word(vertex, at)?));
    }
    if flipped {
        position[1] = -position[1];
    }
    Ok(position)
}

/// The corners of each primitive, by vertex. 5.3.
fn primitives(drawn: &Drawn) -> Result<Vec<Vec<usize>>, Refused> {
    let mut all = Vec::new();
    for run in &drawn.runs {
        let (base, count) = (run.start, run.len());
        let list = |size: usize| {
            (0..count / size).map(move |n| (0..size).map(|k| base + size * n + k).collect())
        };
        match drawn.topology {
            0 => all.extend(list(1)),
            1 => all.extend(list(2)),
            6 => all.extend(list(3)),
            3 => all.extend((1..count).map(|n| vec![base + n - 1, base + n])),
            9 => all.extend((2..count).map(|n| match n % 2 {
                0 => vec![base + n - 2, base + n - 1, base + n],
                _ => vec![base + n - 1, base + n - 2, base + n],
            })),
            11 => all.extend((2..count).map(|n| vec![base, base + n - 1, base + n])),
            other => return Err((Rule::NotBuilt, format!("topology {other}"))),
        }
    }
    Ok(all)
}

/// The rate of a program that runs for each sample. 5.1.
const FULL: u32 = 2;
/// Pixels that a viewport's numbers may reach.
const LARGEST_VIEWPORT: f32 = 65536.0;
/// Tasks of quads that are under way together.
const TOGETHER: usize = 64;

/// A quad of pixels whose varyings somebody else has interpolated.
#[derive(Clone, Debug, Default)]
pub struct Quad {
    /// Left column, even.
    pub x: u32,
    /// Upper row, even.
    pub y: u32,
    /// Bit i: pixel i is covered.
    pub covered: u8,
    /// The primitive faces away.
    pub back: bool,
    /// Depth and reciprocal of w at each pixel, or at its sample that the quad is of.
    pub places: [[f32; 2]; 4],
    /// The place in a point there.
    pub point: [[f32; 2]; 4],
    /// Of pixels of several samples.
    pub several: Option<Sampled>,
    /// The number of its primitive.
    pub primitive: u32,
    /// The words of a vertex at each pixel, by their number.
    pub words: Vec<[u32; 4]>,
}

/// The sample that a quad is of.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// Samples of a pixel.
    pub count: u32,
    /// Its number.
    pub own: u32,
    /// [`Quad::places`] in the middle of each pixel.
    pub places: [[f32; 2]; 4],
    /// [`Quad::point`] there.
    pub point: [[f32; 2]; 4],
    /// Where somebody else has interpolated each of [`Quad::words`].
    pub modes: Vec<Mode>,
}

/// What a pixel's program gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shaded {
    /// The output registers, as far as they were written.
    pub outputs: [Option<u32>; 8],
    /// It gave feedback.
    pub fed: bool,
    /// It survives, where it gave feedback.
    pub survives: bool,
    /// The depth that it gave.
    pub depth: Option<u32>,
    /// What its tiled stores have written: where, and what.
    pub tiled: Vec<(u64, u32)>,
}

/// Runs the fragment programs of a state on quads without a rasteriser. Coefficients themselves hold the constant of flat
/// varyings alone.
///
/// # Errors
/// As [`Gpu::quads`].
pub fn quads(
    gpu: &mut Gpu,
    state: &State,
    quads: &[Quad],
    run: &mut Run<'_>,
) -> Result<Vec<[Shaded; 4]>, Trap> {
    let count = quads.iter().filter_map(|quad| quad.several.as_ref()).map(|several| several.count);
    let count = count.max().unwrap_or(1);
    let mut programs = programs(gpu, state, count, run.steps).map_err(place)?;
    let pass = Pass::of(state.faces[0]).map_err(place)?;
    let varyings: Result<Vec<Varying>, Refused> =
        programs.varyings.iter().copied().map(Varying::read).collect();
    let varyings = varyings.map_err(place)?;
    let numbered = varyings.iter().any(|varying| varying.primitive);
    let flat = varyings.iter().filter(|varying| varying.flat.is_some() && !varying.primitive);
    let flat = flat.flat_map(|varying| (0..varying.count).map(|step| varying.first + step));
    let flat: Vec<Source> = flat.map(|at| source(state, at)).collect();
    // The face and the coefficients belong to a task: quads of one primitive share both.
    let alike = |a: &Quad, b: &Quad| {
        let equal = |source: &Source| match *source {
            Source::Output(at) => a.words.get(at) == b.words.get(at),
            Source::Reciprocal | Source::Depth => false,
        };
        let same = a.primitive == b.primitive || !numbered;
        a.back == b.back && same && flat.iter().all(equal)
    };
    let mut shaded = Vec::with_capacity(quads.len());
    let mut at = 0;
    while at < quads.len() {
        let mut tasks = Vec::new();
        let mut all = Vec::new();
        while at < quads.len() && tasks.len() < TOGETHER {
            let most = quads.len().min(at + INSTANCES / 4);
            let other = (at + 1..most).find(|other| !alike(&quads[at], &quads[*other]));
            let end = other.unwrap_or(most);
            let (mut task, own) =
                given_task(&programs, state, &varyings, &quads[at..end]).map_err(place)?;
            (task.coefficients, task.number) = (all.len(), all.len() as u32);
            all.push(own);
            tasks.push(task);
            at = end;
        }
        gpu.core(&mut programs.shared, all, |machine| machine.run(&mut tasks, run))?;
        for task in &tasks {
            pass.takes(&task.fragments, gpu.early).map_err(place)?;
            for quad in 0..task.valid.count_ones() as usize / 4 {
                shaded.push([0, 1, 2, 3].map(|pixel| shaded_pixel(task, 4 * quad + pixel)));
            }
        }
    }
    Ok(shaded)
}

fn shaded_pixel(task: &Task, lane: usize) -> Shaded {
    let mut outputs = [None; 8];
    for (index, output) in outputs.iter_mut().enumerate() {
        *output = task.outputs.peek(index, lane);
    }
    let fragments = &task.fragments;
    let tiled = fragments.tiled.iter().filter(|(of, ..)| *of == lane);
    Shaded {
        outputs,
        fed: fragments.fed >> lane & 1 == 1,
        survives: fragments.survive >> lane & 1 == 1,
        depth: fragments.depth[lane],
        tiled: tiled.map(|(_, at, word)| (*at, *word)).collect(),
    }
}

/// The task of up to eight quads with what iterators give, and its coefficients.
fn given_task(
    programs: &Programs,
    state: &State,
    varyings: &[Varying],
    quads: &[Quad],
) -> Result<(Task, Common), Refused> {
    let count = 4 * quads.len();
    let valid = if count == INSTANCES { u32::MAX } else { (1 << count) - 1 };
    let sizes = Sizes { temps: programs.temps, inputs: 0 };
    let mut task = Task::new(Stage::Fragment, programs.entry, sizes, valid, 0);
    let mut given = iterated(programs, varyings);
    let mut own = Common::new("cf", programs.coefficients);
    let fragments = &mut task.fragments;
    fragments.covered = 0;
    fragments.back = quads.iter().any(|quad| quad.back);
    for (lane, (quad, pixel)) in
        quads.iter().flat_map(|quad| (0..4).map(move |pixel| (quad, pixel))).enumerate()
    {
        let covered = u32::from(quad.covered) >> pixel & 1;
        let sample = quad.several.as_ref().map_or(0, |several| several.own);
        fragments.covered |= covered << lane;
        fragments.samples[lane] = covered << sample;
        fragments.sample[lane] = sample;
        fragments.count = quad.several.as_ref().map_or(1, |several| several.count);
        fragments.x[lane] = quad.x + (pixel as u32 & 1);
        fragments.y[lane] = quad.y + (pixel as u32 >> 1);
        fragments.places[lane] = [[0.5; 2]; 2];
        let middle = quad.several.as_ref().map_or(quad.places[pixel], |own| own.places[pixel]);
        given.reciprocals[0][lane] = middle[1];
        given.reciprocals[1][lane] = quad.places[pixel][1];
        for varying in varyings {
            for step in 0..varying.count {
                let set = varying.set + step as usize;
                if set >= given.sets.len() {
                    let what = format!("set {set} of {}", programs.coefficients / 4);
                    return Err((Rule::PdsTarget, what));
                }
                let from = source(state, varying.first + step);
                let placed = |place: [f32; 2], point: [f32; 2]| match from {
                    _ if varying.point => point[step as usize & 1],
                    Source::Depth => place[0],
                    Source::Reciprocal | Source::Output(_) => place[1],
                };
                let several = quad.several.as_ref();
                let value = match from {
                    _ if varying.primitive => quad.primitive,
                    Source::Output(at) if !varying.point => {
                        given.modes[set] = several.and_then(|own| own.modes.get(at).copied());
                        let words = quad.words.get(at);
                        let missing = || (Rule::Undefined, format!("vertex output {at}"));
                        words.ok_or_else(missing)?[pixel]
                    }
                    _ => {
                        if let Some(own) = several {
                            let middle = placed(own.places[pixel], own.point[pixel]);
                            let middles = given.middles[set].get_or_insert([0; INSTANCES]);
                            middles[lane] = middle.to_bits();
                        }
                        placed(quad.places[pixel], quad.point[pixel]).to_bits()
                    }
                };
                given.sets[set][lane] = value;
                if varying.flat.is_some() && pixel == 0 {
                    for (index, bits) in [0, 0, value, 0].into_iter().enumerate() {
                        own.set(4 * set + index, bits);
                    }
                }
            }
        }
    }
    task.fragments.given = Some(given);
    Ok((task, own))
}

/// One screen triangle with the vertices that it came from.
struct Shape<'a> {
    piece: &'a Piece,
    vertices: &'a [&'a [Option<u32>]],
    positions: &'a [[f64; 4]],
}

/// A comparison of depths. 5.4.
fn passes(compare: u32, new: f32, old: f32) -> bool {
    match compare {
        0 => false,
        1 => new < old,
        2 => new == old,
        3 => new <= old,
        4 => new > old,
        5 => new != old,
        6 => new >= old,
        _ => true,
    }
}

/// Shades one piece.
fn primitive(
    gpu: &mut Gpu,
    state: &State,
    programs: &mut Programs,
    varyings: &[Varying],
    shape: &Shape<'_>,
    (raster, render): (&Raster, &mut Render),
    run: &mut Run<'_>,
) -> Result<(), Trap> {
    let two_sided = state.control >> 19 & 1 == 1;
    let side = usize::from(two_sided && !shape.piece.front());
    let (face, stencil) = (state.faces[side], state.stencils[side]);
    let pass = Pass::of(face).map_err(place)?;
    let ruling = Ruling {
        pass,
        compare: field(face, 19, 17),
        writes: face >> 21 & 1 == 0,
        stencil: (state.control >> 18 & 1 == 1).then_some((stencil, face as u8)),
    };
    let mut quads = Vec::new();
    let mut cursor = shape.piece.quads();
    while let Some(mut found) = cursor.next(shape.piece) {
        if pass.tests_before() {
            for pixel in each(u32::from(found.covered)).take(4) {
                let [.., depth, _] = found.position[pixel];
                let at = (found.x + (pixel as u32 & 1), found.y + (pixel as u32 >> 1));
                let Some(old) = render.pixel(at.0, at.1) else { continue };
                let mut tested = *old;
                let visible = ruling.decide(depth, &mut tested);
                if !visible {
                    found.covered &= !(1 << pixel);
                }
                if !visible || pass.writes_before() {
                    *old = tested;
                }
            }
        }
        // An object may only change depths and stencils.
        if found.covered != 0 && state.control >> 21 & 1 == 0 {
            quads.push(found);
        }
    }
    let own = coefficients(programs.coefficients, state, varyings, shape, raster).map_err(place)?;
    for batch in quads.chunks(INSTANCES / 4 * TOGETHER) {
        let mut tasks = Vec::new();
        for chunk in batch.chunks(INSTANCES / 4) {
            let mut task = task(programs, state, varyings, shape, chunk, render).map_err(place)?;
            task.number = tasks.len() as u32;
            tasks.push(task);
        }
        let own = vec![own.clone()];
        gpu.core(&mut programs.shared, own, |machine| machine.run(&mut tasks, run))?;
        for task in &tasks {
            pass.takes(&task.fragments, gpu.early).map_err(place)?;
        }
        for (at, found) in batch.iter().enumerate() {
            let per_task = INSTANCES / 4;
            outputs(&tasks[at / per_task], at % per_task, found, &ruling, render);
        }
    }
    Ok(())
}

/// What decides over a pixel. 5.4.
struct Ruling {
    pass: Pass,
    compare: u32,
    writes: bool,
    /// ISPB and the reference, where stencils are tested.
    stencil: Option<(u32, u8)>,
}

impl Ruling {
    /// Tests a pixel, and updates its depth and stencil.
    fn decide(&self, depth: f32, old: &mut Pixel) -> bool {
        let near = passes(self.compare, depth, old.depth);
        let mut inside = true;
        if let Some((word, reference)) = self.stencil {
            let mask = (word >> 8) as u8;
            let (new, stored) = (f32::from(reference & mask), f32::from(old.stencil & mask));
            inside = passes(field(word, 27, 25), new, stored);
            // Where both pass, where the depth fails, and where the stencil does.
            let op = match (inside, near) {
                (true, true) => field(word, 24, 22),
                (true, false) => field(word, 21, 19),
                (false, _) => field(word, 18, 16),
            };
            let stencil = old.stencil;
            let result = match op {
                0 => stencil,
                1 => 0,
                2 => reference,
                3 => stencil.saturating_add(1),
                4 => stencil.saturating_sub(1),
                5 => !stencil,
                6 => stencil.wrapping_add(1),
                _ => stencil.wrapping_sub(1),
            };
            let written = word as u8;
            old.stencil = stencil & !written | result & written;
        }
        if inside && near && self.writes {
            old.depth = depth;
        }
        inside && near
    }
}

/// Takes the outputs of a quad's pixels.
fn outputs(task: &Task, number: usize, found: &Found, ruling: &Ruling, render: &mut Render) {
    for pixel in each(u32::from(found.covered)).take(4) {
        let lane = 4 * number + pixel;
        let at = (found.x + (pixel as u32 & 1), found.y + (pixel as u32 >> 1));
        let Some(old) = render.pixel(at.0, at.1) else { continue };
        if !ruling.pass.writes_before() {
            let survives = task.fragments.survive >> lane & 1 == 1;
            let given = task.fragments.depth[lane].map(f32::from_bits);
            let depth = match given {
                Some(depth) if !ruling.pass.tests_before() => depth,
                _ => found.position[pixel][2],
            };
            if !survives || !ruling.decide(depth, old) {
                continue;
            }
        }
        for (index, output) in old.outputs.iter_mut().enumerate() {
            *output = task.outputs.peek(index, lane).or(*output);
        }
    }
}

/// Which word of a vertex a word behind its position is: the reciprocal of w, the depth, or an output. 4.2.
enum Source {
    Reciprocal,
    Depth,
    Output(usize),
}

fn source(state: &State, at: u32) -> Source {
    let has_w = state.outputs >> 16 & 1;
    let has_z = state.outputs >> 21 & 1;
    match at {
        0 if has_w == 1 => Source::Reciprocal,
        at if has_z == 1 && at == has_w => Source::Depth,
        at => Source::Output((4 + at - has_w - has_z) as usize),
    }
}

/// The planes of a primitive's varyings.
fn coefficients(
    count: usize,
    state: &State,
    varyings: &[Varying],
    shape: &Shape<'_>,
    raster: &Raster,
) -> Result<Common, Refused> {
    let mut common = Common::new("cf", count);
    let viewport = &raster.viewport;
    let screen: Vec<[f64; 4]> = shape
        .positions
        .iter()
        .map(|[x, y, z, w]| {
            let across = f64::from(viewport.x) + (x / w + 1.0) * 0.5 * f64::from(viewport.width);
            let down = f64::from(viewport.y) + (1.0 - y / w) * 0.5 * f64::from(viewport.height);
            let depth = f64::from(viewport.near)
                + z / w * (f64::from(viewport.far) - f64::from(viewport.near));
            [across, down, depth, 1.0 / w]
        })
        .collect();
    for varying in varyings {
        if varying.point || varying.primitive {
            // The rasteriser here counts no primitives and keeps no places in points.
            return Err((Rule::NotBuilt, "places in points and numbers of primitives".into()));
        }
        for step in 0..varying.count {
            let base = 4 * (varying.set + step as usize);
            if base + 4 > count {
                let what = format!("coefficients {base} to {} of {count}", base + 3);
                return Err((Rule::PdsTarget, what));
            }
            let from = source(state, varying.first + step);
            if let (Some(vertex), Source::Output(at)) = (varying.flat, &from) {
                let vertex = shape.vertices[vertex.min(shape.vertices.len() - 1)];
                [0, 0, word(vertex, *at)?, 0].into_iter().enumerate().for_each(|(index, bits)| {
                    common.set(base + index, bits);
                });
                continue;
            }
            let mut values = Vec::new();
            for (vertex, place) in shape.vertices.iter().zip(&screen) {
                values.push(match from {
                    Source::Reciprocal => place[3],
                    Source::Depth => place[2],
                    Source::Output(at) => {
                        let value = f64::from(f32::from_bits(word(vertex, at)?));
                        if varying.perspective { value * place[3] } else { value }
                    }
                });
            }
            let [a, b, c] = plane(&screen, &values);
            for (index, value) in [a, b, c, 0.0].into_iter().enumerate() {
                common.set(base + index, (value as f32).to_bits());
            }
        }
    }
    Ok(common)
}

/// A x + B y + C through up to three values.
fn plane(screen: &[[f64; 4]], values: &[f64]) -> [f64; 3] {
    let constant = values.first().copied().unwrap_or(0.0);
    let ([p, q, r], [a, b, c]) = (screen, values) else { return [0.0, 0.0, constant] };
    let (x1, y1, x2, y2) = (q[0] - p[0], q[1] - p[1], r[0] - p[0], r[1] - p[1]);
    let area = x1 * y2 - x2 * y1;
    if area == 0.0 {
        return [0.0, 0.0, constant];
    }
    let across = ((b - a) * y2 - (c - a) * y1) / area;
    let down = ((c - a) * x1 - (b - a) * x2) / area;
    [across, down, a - across * p[0] - down * p[1]]
}

/// The task of up to eight quads.
fn task(
    programs: &Programs,
    state: &State,
    varyings: &[Varying],
    shape: &Shape<'_>,
    chunk: &[Found],
    render: &mut Render,
) -> Result<Task, Refused> {
    let count = 4 * chunk.len();
    let valid = if count == INSTANCES { u32::MAX } else { (1 << count) - 1 };
    let sizes = Sizes { temps: programs.temps, inputs: 0 };
    let mut task = Task::new(Stage::Fragment, programs.entry, sizes, valid, 0);
    let mut given = iterated(programs, varyings);
    task.fragments.covered = 0;
    task.fragments.back = !shape.piece.front();
    for (number, found) in chunk.iter().enumerate() {
        for pixel in 0..4 {
            let lane = 4 * number + pixel;
            let covered = u32::from(found.covered) >> pixel & 1;
            let fragments = &mut task.fragments;
            fragments.covered |= covered << lane;
            fragments.samples[lane] = covered;
            fragments.x[lane] = found.x + (pixel as u32 & 1);
            fragments.y[lane] = found.y + (pixel as u32 >> 1);
            fragments.places[lane] = [[0.5; 2]; 2];
            for reciprocals in &mut given.reciprocals {
                reciprocals[lane] = found.position[pixel][3];
            }
            if let Some(old) = render.pixel(fragments.x[lane], fragments.y[lane]) {
                for (index, word) in old.outputs.iter().enumerate() {
                    if let Some(word) = word {
                        task.outputs.set(index, lane, *word);
                    }
                }
            }
            for varying in varyings {
                for step in 0..varying.count {
                    let set = varying.set + step as usize;
                    let value = interpolated(state, varying, step, shape, found, pixel)?;
                    if let Some(row) = given.sets.get_mut(set) {
                        row[lane] = value;
                    }
                }
            }
        }
    }
    task.fragments.given = Some(given);
    Ok(task)
}

/// What iterators give, before anything is known of the pixels.
fn iterated(programs: &Programs, varyings: &[Varying]) -> Iterated {
    let mut given = Iterated::new(programs.coefficients / 4);
    for varying in varyings.iter().filter(|varying| varying.perspective) {
        let sets = given.perspective.iter_mut().skip(varying.set);
        sets.take(varying.count as usize).for_each(|set| *set = true);
    }
    given
}

/// What an iterator gives at a pixel.
fn interpolated(
    state: &State,
    varying: &Varying,
    step: u32,
    shape: &Shape<'_>,
    found: &Found,
    pixel: usize,
) -> Result<u32, Refused> {
    let [_, _, depth, reciprocal] = found.position[pixel];
    let at = match source(state, varying.first + step) {
        Source::Reciprocal => return Ok(reciprocal.to_bits()),
        Source::Depth => return Ok(depth.to_bits()),
        Source::Output(at) => at,
    };
    if let Some(vertex) = varying.flat {
        return word(shape.vertices[vertex.min(shape.vertices.len() - 1)], at);
    }
    let weights = if varying.perspective {
        shape.piece.perspective(found, pixel, false)
    } else {
        shape.piece.linear(found, pixel, false)
    };
    let mut total = 0.0;
    for (vertex, weight) in shape.vertices.iter().zip(weights) {
        total += weight * f64::from(f32::from_bits(word(vertex, at)?));
    }
    Ok((total as f32).to_bits())
}
