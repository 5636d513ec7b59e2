//! The depth buffer of programs that compute depth: floats in Y tiles, every pixel of which passes the test and is written, so that what is
//! stored is what the program computed. Only the pixels of the quad at hand are mapped. isa/gen4-pipeline.md 1.4, 1.5.

use super::chip::Chip;
use super::draw::tiled;
use crate::emu::Model;
use gpucc_emu::device::{Stop, words_of};

/// Bytes and rows of a tile.
const TILE: [u32; 2] = [128, 32];
/// Bytes of a pixel.
const PIXEL: u32 = 4;
/// The words of a plane in Y tiles of floats: type, tiled, walk, format.
const KIND: u32 = 1 << 29 | 1 << 27 | 1 << 26 | 1 << 18;

/// A buffer by its base and bytes of a row.
pub struct DepthBuffer {
    base: u32,
    pitch: u32,
    size: [u32; 2],
}

impl DepthBuffer {
    /// Addresses for so many columns and rows.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub fn of(chip: &mut Chip, [width, height]: [u32; 2]) -> Result<DepthBuffer, Stop> {
        let pitch = (PIXEL * width).next_multiple_of(TILE[0]);
        let bytes = u64::from(pitch) * u64::from(height.next_multiple_of(TILE[1]));
        Ok(DepthBuffer { base: chip.reserve(bytes, 4096)?, pitch, size: [width, height] })
    }

    /// 3DSTATE_DEPTH_BUFFER; G45 has a doubleword of offsets more.
    pub fn send(&self, chip: &mut Chip) {
        let [width, height] = self.size;
        let size = (height - 1) << 19 | (width - 1) << 6;
        let words = [KIND | (self.pitch - 1), self.base, size, 0, 0];
        let words = if chip.model == Model::G45 { &words[..] } else { &words[..4] };
        chip.command(&[0x7905_0000 | (words.len() as u32 - 1)]);
        chip.command(words);
    }

    /// Where two pixels of a row begin, the first of an even column.
    fn pair(&self, x: u32, y: u32) -> u32 {
        self.base + tiled(self.pitch, x * PIXEL, y)
    }

    /// Maps a quad's pixels, with a depth that no test asks for.
    ///
    /// # Errors
    /// They are mapped already.
    pub fn map(&self, chip: &mut Chip, [x, y]: [u32; 2]) -> Result<(), Stop> {
        for row in [y, y + 1] {
            let at = self.pair(x, row);
            chip.map_at(at, 2 * PIXEL)?;
            chip.write(at, &[0; 2 * PIXEL as usize])?;
        }
        Ok(())
    }

    /// The depth of each of a quad's pixels, which are no longer mapped.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn take(&self, chip: &mut Chip, [x, y]: [u32; 2]) -> Result<[u32; 4], Stop> {
        let mut depths = [0; 4];
        for (row, pair) in depths.chunks_exact_mut(2).enumerate() {
            let at = self.pair(x, y + row as u32);
            let bytes = chip.read(at, 2 * PIXEL as usize)?;
            for (depth, word) in pair.iter_mut().zip(words_of(&bytes)) {
                *depth = word;
            }
            chip.gpu.memory().unmap(at);
        }
        Ok(depths)
    }
}
