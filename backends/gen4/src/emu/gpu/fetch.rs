//! The vertex fetcher: buffers, elements, indices; 3DPRIMITIVE's vertices as URB entries. isa/gen4-pipeline.md 1.4, 9.2.

use super::super::Model;
use super::super::memory::{Memory, Refused, Through};
use super::super::rule::Rule;
use super::super::surface;
use std::collections::BTreeMap;

/// Vertices that an instance may have here.
const MOST: u32 = 1 << 20;

/// A vertex buffer.
#[derive(Copy, Clone, Debug)]
struct Buffer {
    instanced: bool,
    pitch: u32,
    address: u32,
    /// The greatest index; 0 where none is checked.
    last: u32,
    rate: u32,
}

/// A vertex element.
#[derive(Copy, Clone, Debug)]
struct Element {
    buffer: u32,
    code: u32,
    offset: u32,
    /// What is stored for each component.
    controls: [u32; 4],
    /// Where in the entry, in double words.
    place: u32,
}

/// Indices.
#[derive(Copy, Clone, Debug)]
struct Indices {
    bytes: u32,
    start: u32,
    end: u32,
}

/// What commands have told the fetcher.
#[derive(Clone, Debug, Default)]
pub struct Fetcher {
    buffers: BTreeMap<u32, Buffer>,
    elements: Vec<Element>,
    indices: Option<Indices>,
}

/// 3DPRIMITIVE.
#[derive(Copy, Clone, Debug)]
pub struct Primitive {
    pub topology: u32,
    indexed: bool,
    count: u32,
    start: u32,
    pub instances: u32,
    base: i32,
}

impl Primitive {
    /// The words of the command.
    ///
    /// # Errors
    /// A reserved bit is set, or the vertices are too many or indirect.
    pub fn of(model: Model, header: u32, words: &[u32]) -> Result<Primitive, Refused> {
        let [count, start, instances, first, base] = std::array::from_fn(|at| words[at]);
        // The 965 has neither indirect counts nor a first instance.
        let (bits, first_instance) = match model {
            Model::I965 | Model::Gm965 => (header & 0x300, first),
            Model::G45 => (header & 0x100, 0),
        };
        if bits != 0 || first_instance != 0 {
            let what = format!("3DPRIMITIVE {header:#010x} with first instance {first}");
            return Err((Rule::CommandReserved, what));
        }
        if header >> 9 & 1 == 1 || first != 0 || count > MOST {
            let what = format!("indirect, first instance {first}, or {count} vertices");
            return Err((Rule::NotBuilt, what));
        }
        Ok(Primitive {
            topology: header >> 10 & 31,
            indexed: header >> 15 & 1 == 1,
            count,
            start,
            instances,
            base: base as i32,
        })
    }
}

impl Fetcher {
    /// 3DSTATE_VERTEX_BUFFERS.
    ///
    /// # Errors
    /// The words are no whole buffers, or a reserved bit is set.
    pub fn buffers(&mut self, words: &[u32]) -> Result<(), Refused> {
        if !words.len().is_multiple_of(4) {
            return Err((Rule::CommandLength, "vertex buffers of 4 words".into()));
        }
        for buffer in words.chunks_exact(4) {
            if buffer[0] & 0x03ff_f800 != 0 {
                let what = format!("a vertex buffer begins with {:#010x}", buffer[0]);
                return Err((Rule::CommandReserved, what));
            }
            self.buffers.insert(
                buffer[0] >> 27,
                Buffer {
                    instanced: buffer[0] >> 26 & 1 == 1,
                    pitch: buffer[0] & 0x7ff,
                    address: buffer[1],
                    last: buffer[2],
                    rate: buffer[3],
                },
            );
        }
        Ok(())
    }

    /// 3DSTATE_VERTEX_ELEMENTS.
    ///
    /// # Errors
    /// The words are no whole elements, or a reserved bit is set.
    pub fn elements(&mut self, words: &[u32]) -> Result<(), Refused> {
        if !words.len().is_multiple_of(2) {
            return Err((Rule::CommandLength, "vertex elements of 2 words".into()));
        }
        for element in words.chunks_exact(2) {
            if element[0] & 0x0200_f800 != 0 || element[1] & 0x8888_ff00 != 0 {
                let what = format!("a vertex element is {:#010x} {:#010x}", element[0], element[1]);
                return Err((Rule::CommandReserved, what));
            }
        }
        let valid = words.chunks_exact(2).filter(|element| element[0] >> 26 & 1 == 1);
        self.elements = valid
            .map(|element| Element {
                buffer: element[0] >> 27,
                code: element[0] >> 16 & 0x1ff,
                offset: element[0] & 0x7ff,
                controls: [28, 24, 20, 16].map(|shift| element[1] >> shift & 7),
                place: element[1] & 0xff,
            })
            .collect();
        Ok(())
    }

    /// 3DSTATE_INDEX_BUFFER.
    ///
    /// # Errors
    /// The size of an index is none.
    pub fn index_buffer(&mut self, header: u32, words: &[u32]) -> Result<(), Refused> {
        let code = header >> 8 & 3;
        if code == 3 || header >> 10 & 1 == 1 {
            return Err((Rule::NotBuilt, "cut indices, or indices of another size".into()));
        }
        self.indices = Some(Indices { bytes: 1 << code, start: words[0], end: words[1] });
        Ok(())
    }

    /// The URB entries of an instance's vertices.
    ///
    /// # Errors
    /// What is read is not mapped, not written, or of no format.
    pub fn instance(
        &self,
        memory: &Memory,
        primitive: &Primitive,
        instance: u32,
    ) -> Result<Vec<Vec<u8>>, Refused> {
        if self.elements.is_empty() {
            return Err((Rule::ThreadState, "no vertex elements were sent".into()));
        }
        let vertices = (0..primitive.count).map(|number| {
            // Without indices the number counts from 0, whatever comes first in the buffer.
            let (index, id) = if primitive.indexed {
                let index = self.index(memory, primitive.start.wrapping_add(number))?;
                (index.wrapping_add_signed(primitive.base), index)
            } else {
                (primitive.start.wrapping_add(number), number)
            };
            self.vertex(memory, index, id, instance)
        });
        vertices.collect()
    }

    fn index(&self, memory: &Memory, number: u32) -> Result<u32, Refused> {
        let Some(Indices { bytes, start, end }) = self.indices else {
            return Err((Rule::ThreadState, "no 3DSTATE_INDEX_BUFFER was sent".into()));
        };
        let at = u64::from(start) + u64::from(bytes) * u64::from(number);
        if at + u64::from(bytes) > u64::from(end) + 1 {
            return Err((Rule::PortBounds, format!("index {number} is beyond its buffer")));
        }
        let found = memory.load(at as u32, bytes as usize, Through::Other)?;
        if found.undefined.contains(&true) {
            return Err((Rule::Undefined, format!("index {number}")));
        }
        Ok(found.bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte)))
    }

    fn vertex(
        &self,
        memory: &Memory,
        index: u32,
        id: u32,
        instance: u32,
    ) -> Result<Vec<u8>, Refused> {
        let end = self.elements.iter().map(|element| element.place + 4).max().unwrap_or(0);
        let mut words: Vec<Option<u32>> = vec![None; end.next_multiple_of(4) as usize];
        for element in &self.elements {
            let stored = match element.controls.contains(&1) {
                true => self.source(memory, element, index, instance)?,
                false => [0; 4],
            };
            for (component, control) in element.controls.into_iter().enumerate() {
                let value = match control {
                    0 => continue,
                    1 => stored[component],
                    2 => 0,
                    3 => 1f32.to_bits(),
                    4 => 1,
                    5 => id,
                    6 => instance,
                    _ => return Err((Rule::NotBuilt, "the number of a primitive".into())),
                };
                words[element.place as usize + component] = Some(value);
            }
        }
        let missing = words.iter().position(Option::is_none);
        if let Some(word) = missing {
            return Err((Rule::Undefined, format!("word {word} of a vertex is not stored")));
        }
        Ok(words.into_iter().flatten().flat_map(u32::to_le_bytes).collect())
    }

    fn source(
        &self,
        memory: &Memory,
        element: &Element,
        index: u32,
        instance: u32,
    ) -> Result<[u32; 4], Refused> {
        let Some(buffer) = self.buffers.get(&element.buffer) else {
            let what = format!("vertex buffer {} was not sent", element.buffer);
            return Err((Rule::ThreadState, what));
        };
        let index = match buffer.instanced {
            true => instance.checked_div(buffer.rate).unwrap_or(0),
            false => index,
        };
        if buffer.last != 0 && index > buffer.last {
            let what = format!("vertex {index} of buffer {}", element.buffer);
            return Err((Rule::PortBounds, what));
        }
        let at = buffer.address.wrapping_add(index.wrapping_mul(buffer.pitch));
        let at = at.wrapping_add(element.offset);
        // Three floats or integers of 32 bits are no texel format.
        let triple = matches!(element.code, 0x040..=0x042);
        let format = surface::format(element.code);
        let bytes = match format {
            Some(format) => format.bytes(),
            None if triple => 12,
            None => {
                let what = format!("vertex format {:#05x}", element.code);
                return Err((Rule::NotBuilt, what));
            }
        };
        let found = memory.load(at, bytes as usize, Through::Other)?;
        if found.undefined.contains(&true) {
            return Err((Rule::Undefined, format!("an attribute at {at:#x}")));
        }
        if let Some(format) = format {
            return Ok(format.decode(&found.bytes));
        }
        let mut words = [0, 0, 0, if element.code == 0x040 { 1f32.to_bits() } else { 1 }];
        for (word, bytes) in words.iter_mut().zip(found.bytes.chunks_exact(4)) {
            *word = bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        }
        Ok(words)
    }
}
