//! State of primitives and pixels. 5.4.

use super::super::memory::Memory;
use super::super::rule::{Refused, Rule};

/// What the last state updates have set. Words that were never sent are zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// ISPCTL.
    pub control: u32,
    /// ISPA of front and back faces.
    pub faces: [u32; 2],
    /// ISPB of front and back faces.
    pub stencils: [u32; 2],
    /// The program that starts pixels, and those that fetch uniforms and set up varyings: addresses.
    pub shader: u32,
    /// Code of the uniform program.
    pub uniform_code: u32,
    /// Sizes of programs and of what they fill.
    pub sizes: [u32; 2],
    /// The program of varyings.
    pub varyings: u32,
    /// Data of the program that fetches texture states.
    pub textures: u32,
    /// Data of the uniform program.
    pub uniforms: u32,
    /// The region clip.
    pub region: Option<[u32; 2]>,
    /// a0, m0, a1, m1, a2, m2.
    pub viewport: Option<[f32; 6]>,
    /// OUTPUT_SEL.
    pub outputs: u32,
    /// How many varyings of each class.
    pub counts: [u32; 3],
    /// PPP_CTRL.
    pub primitive: u32,
}

/// Bits that nothing names: of a header, of ISPCTL, of ISPA, of the second size, of OUTPUT_SEL, of a count of varyings.
const RESERVED: u32 = 0xfc00_0000;
const CONTROL: u32 = 0xfc10_0000;
const FACE: u32 = 0x08d1_0000;
const SIZE: u32 = 0x007f_bfff;
const OUTPUTS: u32 = 0x00c0_0000;
const COUNTS: u32 = 0xff00_0000;
/// Programs of the data sequencer are at multiples of 16 bytes.
const PLACE: u32 = 15;
/// Pass types end here.
const PASSES: u32 = 6;

impl State {
    /// Reads an update of so many words.
    ///
    /// # Errors
    /// Its words are not as many as its header says, or something that is not built.
    pub fn update(&mut self, memory: &Memory, address: u64, count: u32) -> Result<(), Refused> {
        let mut at = 0u32;
        let mut next = || {
            let word = memory.word(address + 4 * u64::from(at))?;
            at += 1;
            Ok::<u32, Refused>(word)
        };
        let header = next()?;
        let has = |bit: u32| header >> bit & 1 == 1;
        if header & RESERVED != 0 {
            return Err((Rule::StreamReserved, format!("header {header:#x}")));
        }
        let mut set = |present: bool, word: &mut u32| {
            if present {
                *word = next()?;
            }
            Ok::<(), Refused>(())
        };
        set(has(0), &mut self.control)?;
        set(has(1), &mut self.faces[0])?;
        set(has(2), &mut self.stencils[0])?;
        set(has(3), &mut self.faces[1])?;
        set(has(4), &mut self.stencils[1])?;
        let mut ignored = 0;
        set(has(5), &mut ignored)?;
        set(has(6), &mut self.shader)?;
        set(has(6), &mut self.uniform_code)?;
        set(has(6), &mut self.sizes[0])?;
        set(has(6), &mut self.sizes[1])?;
        set(has(7), &mut self.varyings)?;
        set(has(8), &mut self.textures)?;
        set(has(9), &mut self.uniforms)?;
        if has(10) {
            let mut region = [0; 2];
            set(true, &mut region[0])?;
            set(true, &mut region[1])?;
            self.region = Some(region);
        }
        if has(11) {
            if header >> 12 & 15 != 0 {
                return Err((Rule::NotBuilt, "several viewports".into()));
            }
            let mut viewport = [0.0; 6];
            for value in &mut viewport {
                let mut word = 0;
                set(true, &mut word)?;
                *value = f32::from_bits(word);
            }
            self.viewport = Some(viewport);
        }
        set(has(16), &mut ignored)?;
        set(has(17), &mut self.outputs)?;
        for (at, count) in self.counts.iter_mut().enumerate() {
            set(has(18 + at as u32), count)?;
        }
        set(has(21), &mut self.primitive)?;
        if has(22) || has(23) {
            return Err((Rule::NotBuilt, "captured outputs".into()));
        }
        if has(24) || has(25) {
            return Err((Rule::NotBuilt, "the end of a render target".into()));
        }
        if at != count {
            return Err((Rule::State, format!("{count} words of an update of {at}")));
        }
        self.admit()
    }

    /// Refuses bits and values that no word has.
    fn admit(&self) -> Result<(), Refused> {
        let words = [
            ("ISPCTL", self.control, CONTROL),
            ("ISPA of the front", self.faces[0], FACE),
            ("ISPA of the back", self.faces[1], FACE),
            ("SIZEINFO2", self.sizes[1], SIZE),
            ("OUTPUT_SEL", self.outputs, OUTPUTS),
            ("VARYING0", self.counts[0], COUNTS),
            ("VARYING1", self.counts[1], COUNTS),
            ("SHADERBASE", self.shader, PLACE),
            ("TEXUNICODEBASE", self.uniform_code, PLACE),
            ("VARYINGBASE", self.varyings, PLACE),
            ("UNIFORMDATABASE", self.uniforms, PLACE),
        ];
        for (name, word, reserved) in words {
            if word & reserved != 0 {
                return Err((Rule::StreamReserved, format!("{name} {word:#x}")));
            }
        }
        match self.faces.iter().find(|face| **face >> 24 & 7 > PASSES) {
            None => Ok(()),
            Some(face) => Err((Rule::State, format!("the pass type of ISPA {face:#x}"))),
        }
    }
}
