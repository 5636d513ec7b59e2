//! Regions of registers: which elements a source takes, directly or by indices. G45 vol. 4, 11.3.6, 11.3.7, 11.3.10 rule
//! 13.

use super::decode::{File, Instruction, Opcode, Place, Rows, Source};
use super::execute::each;
use super::register::{BYTES, Fault, Registers};
use super::rule::Rule;
use super::value::Raw;

/// Elements of 16 channels.
pub type Elements = [Raw; 16];

/// The first and last byte of a direct source, counted from its register.
pub fn extent(inst: &Instruction, source: &Source) -> Option<(u32, u32)> {
    let Place::Direct { byte, .. } = source.place else { return None };
    let size = source.ty.bytes();
    let mut most = 0;
    for channel in 0..inst.channels.min(16) {
        most = most.max(distance(source, channel)?);
    }
    let first = u32::from(byte);
    Some((first, first + most + size - 1))
}

/// How a region goes from channel to channel, in bytes.
#[derive(Copy, Clone)]
enum Walk {
    Plain { shift: u32, row: u32, column: u32 },
    Swizzled { row: u32, columns: [u32; 4] },
}

impl Walk {
    /// `None` where each row has an index.
    fn of(source: &Source) -> Option<Walk> {
        let size = source.ty.bytes();
        match source.rows {
            Rows::Plain { vertical, width, horizontal } => Some(Walk::Plain {
                shift: width.trailing_zeros(),
                row: u32::from(vertical?) * size,
                column: u32::from(horizontal) * size,
            }),
            Rows::Swizzled { vertical, select } => Some(Walk::Swizzled {
                row: u32::from(vertical) * size,
                columns: select.map(|column| u32::from(column) * size),
            }),
        }
    }

    fn at(self, channel: u32) -> u32 {
        match self {
            Walk::Plain { shift, row, column } => {
                (channel >> shift) * row + (channel & ((1 << shift) - 1)) * column
            }
            Walk::Swizzled { row, columns } => channel / 4 * row + columns[channel as usize & 3],
        }
    }
}

/// Bytes from the first element of a region to that of a channel; `None` where each row has an index.
pub fn distance(source: &Source, channel: u32) -> Option<u32> {
    Walk::of(source).map(|walk| walk.at(channel))
}

/// Bytes from `base` as an address of general registers.
pub fn indexed(registers: &Registers, index: u32, offset: i32) -> Result<u32, Fault> {
    let base = registers.index(index)?;
    let address = base as i32 + offset;
    u32::try_from(address).map_err(|_| {
        (Rule::RegisterCount, format!("a0.{index} of {base} and {offset} is before r0"))
    })
}

/// The elements of a register source. Channels outside of `needed` may stand for nothing.
///
/// # Errors
/// A register does not exist, an index is undefined.
pub fn gather(
    registers: &mut Registers,
    inst: &Instruction,
    source: &Source,
    needed: u16,
) -> Result<Elements, Fault> {
    let mut elements = [Raw::unknown(source.ty); 16];
    if source.is_null() {
        return Ok(elements);
    }
    let count = inst.channels.min(16);
    match source.place {
        Place::Direct { register, byte } if source.file == File::Architecture => {
            for channel in 0..count {
                let offset = u32::from(byte) + distance(source, channel).unwrap_or(0);
                if offset >= BYTES {
                    return Err((Rule::Crosses, "an architecture register is left".into()));
                }
                elements[channel as usize] = registers.architecture(register, offset, source.ty);
            }
        }
        Place::Direct { register, byte } => {
            let base = BYTES * u32::from(register) + u32::from(byte);
            let Some(walk) = Walk::of(source) else { return Ok(elements) };
            let mut open = u32::MAX;
            for channel in 0..count {
                let address = base + walk.at(channel);
                if address / BYTES != open {
                    open = address / BYTES;
                    registers.open(open)?;
                }
                elements[channel as usize] = registers.element(address, source.ty);
            }
        }
        Place::Indirect { index, offset } => {
            let (index, offset) = (u32::from(index), i32::from(offset));
            // No channel, no address.
            for channel in each(needed).take_while(|channel| *channel < count as usize) {
                let channel = channel as u32;
                let address = if inst.opcode == Opcode::Movi {
                    let base = indexed(registers, 0, offset)? & !(BYTES - 1);
                    base | indexed(registers, channel, offset)? & (BYTES - 1)
                } else if let Some(distance) = distance(source, channel) {
                    let base = indexed(registers, index, offset)?;
                    same_register(source, base, inst)?;
                    base + distance
                } else {
                    let Rows::Plain { width, horizontal, .. } = source.rows else {
                        return Err((Rule::Operand, "an index a row in Align16".into()));
                    };
                    let (row, column) = (channel / u32::from(width), channel % u32::from(width));
                    if index + row > 7 {
                        return Err((Rule::IndexRows, format!("the index a0.{}", index + row)));
                    }
                    let base = indexed(registers, index + row, offset)?;
                    let last = u32::from(width - 1) * u32::from(horizontal) * source.ty.bytes();
                    crosses(base, last)?;
                    base + column * u32::from(horizontal) * source.ty.bytes()
                };
                elements[channel as usize] = registers.general(address, source.ty)?;
            }
        }
    }
    Ok(elements)
}

/// 11.3.10 rule 13.4: what one index names does not cross a register.
fn same_register(source: &Source, base: u32, inst: &Instruction) -> Result<(), Fault> {
    let most = (0..inst.channels.min(16)).filter_map(|channel| distance(source, channel)).max();
    crosses(base, most.unwrap_or(0))
}

pub fn crosses(base: u32, last: u32) -> Result<(), Fault> {
    if base / BYTES == (base + last) / BYTES {
        return Ok(());
    }
    let register = base / BYTES;
    Err((Rule::Crosses, format!("the elements of one index begin in r{register} and leave it")))
}
