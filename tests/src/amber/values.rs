//! Types of buffers and their values.

use half::f16;

/// A scalar type.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Component {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

/// How far a value may be off: in its own unit, or in percent.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Tolerance {
    Absolute(f64),
    Percent(f64),
}

impl Component {
    fn parse(name: &str) -> Option<Component> {
        Some(match name {
            "float16" => Component::Float(2),
            "float" => Component::Float(4),
            "double" => Component::Float(8),
            _ => {
                let unsigned = name.strip_prefix("uint");
                let bits: usize = unsigned.or_else(|| name.strip_prefix("int"))?.parse().ok()?;
                match unsigned {
                    Some(_) => Component::Unsigned(bits / 8),
                    None => Component::Signed(bits / 8),
                }
            }
        })
    }

    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            Component::Signed(bytes) | Component::Unsigned(bytes) | Component::Float(bytes) => {
                bytes
            }
        }
    }

    /// The bytes of a value; nothing for a word that is none.
    pub fn encode(self, word: &str) -> Option<Vec<u8>> {
        let hex = word.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
        let bytes = match (self, hex) {
            (_, Some(bits)) => bits.ok()?.to_le_bytes().to_vec(),
            // Bits of either sign are written for both.
            (Component::Signed(_) | Component::Unsigned(_), None) => match word.parse::<i128>() {
                Ok(value) => (value as u64).to_le_bytes().to_vec(),
                Err(_) => (word.parse::<f64>().ok()? as i64).to_le_bytes().to_vec(),
            },
            (Component::Float(2), None) => super::half(word.parse().ok()?).to_vec(),
            (Component::Float(4), None) => word.parse::<f32>().ok()?.to_le_bytes().to_vec(),
            (Component::Float(_), None) => word.parse::<f64>().ok()?.to_le_bytes().to_vec(),
        };
        bytes.get(..self.bytes()).map(<[u8]>::to_vec)
    }

    fn decode(self, bytes: &[u8]) -> Option<f64> {
        let bytes = bytes.get(..self.bytes())?;
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(wide);
        Some(match self {
            Component::Float(2) => f16::from_bits(word as u16).to_f64(),
            Component::Float(4) => f32::from_bits(word as u32).into(),
            Component::Float(_) => f64::from_bits(word),
            Component::Unsigned(_) => word as f64,
            Component::Signed(bytes) => {
                let unused = 64 - 8 * bytes as u32;
                ((word << unused) as i64 >> unused) as f64
            }
        })
    }

    /// Whether the value that the bytes begin with is the wanted one.
    pub fn holds(self, want: &str, tolerance: Option<Tolerance>, got: &[u8]) -> bool {
        let (Some(bytes), Some(found)) = (self.encode(want), self.decode(got)) else {
            return false;
        };
        let wanted = self.decode(&bytes).unwrap_or(f64::NAN);
        match tolerance {
            None if matches!(self, Component::Float(_)) => {
                wanted == found || wanted.is_nan() && found.is_nan()
            }
            None => got.starts_with(&bytes),
            Some(Tolerance::Absolute(most)) => (wanted - found).abs() <= most,
            Some(Tolerance::Percent(most)) => {
                (wanted - found).abs() <= (wanted * most / 100.0).abs()
            }
        }
    }
}

/// The type of a buffer's elements.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Type {
    pub component: Component,
    pub rows: usize,
    pub columns: usize,
    /// Rules of uniform buffers: vectors and columns are 16 bytes apart.
    pub std140: bool,
}

impl Type {
    /// `float`, `vec3<int32>`, `mat2x3<float16>` (columns by rows).
    pub fn parse(text: &str) -> Option<Type> {
        let (shape, component) = match text.split_once('<') {
            Some((shape, rest)) => (shape, rest.strip_suffix('>')?),
            None => ("", text),
        };
        let component = Component::parse(component)?;
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=4).contains(n));
        let (columns, rows) = if let Some(rows) = shape.strip_prefix("vec") {
            (1, number(rows)?)
        } else if let Some(sizes) = shape.strip_prefix("mat") {
            let (columns, rows) = sizes.split_once('x')?;
            (number(columns)?, number(rows)?)
        } else if shape.is_empty() {
            (1, 1)
        } else {
            return None;
        };
        Some(Type { component, rows, columns, std140: false })
    }

    /// Bytes from one column, or element, to the next.
    fn stride(&self) -> usize {
        let rows = if self.rows == 3 { 4 } else { self.rows };
        let bytes = rows * self.component.bytes();
        if self.std140 { bytes.next_multiple_of(16) } else { bytes }
    }

    /// Offsets of values in their order, without an end.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let (stride, bytes) = (self.stride(), self.component.bytes());
        (0..).flat_map(move |column| (0..self.rows).map(move |row| column * stride + row * bytes))
    }

    /// Values of an element.
    pub const fn values(self) -> usize {
        self.rows * self.columns
    }

    /// The bytes of values in their order.
    pub fn encode<'w>(self, words: impl IntoIterator<Item = &'w str>) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut count = 0;
        for (word, place) in words.into_iter().zip(self.places()) {
            bytes.resize(place, 0);
            bytes.extend(self.component.encode(word)?);
            count += 1;
        }
        let columns = usize::div_ceil(count, self.rows);
        bytes.resize(columns * self.stride(), 0);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_blocks_have_them() {
        let of = |text: &str| Type::parse(text).expect("a type");
        let places = |ty: Type| ty.places().take(4).collect::<Vec<_>>();
        assert_eq!(places(of("float")), [0, 4, 8, 12]);
        assert_eq!(places(of("vec3<int32>")), [0, 4, 8, 16]);
        assert_eq!(places(of("mat2x3<float16>")), [0, 2, 4, 8]);
        assert_eq!(places(Type { std140: true, ..of("float") }), [0, 16, 32, 48]);
        assert_eq!(of("int8").encode(["-1", "0x7f"]), Some(vec![255, 127]));
        assert_eq!(of("vec3<float>").encode(["1", "2", "3"]).map(|bytes| bytes.len()), Some(16));
        assert_eq!(of("float").encode(["one"]), None);
        assert_eq!(Type::parse("vec5<float>"), None);
    }

    #[test]
    fn a_value_holds_within_its_tolerance() {
        let float = Component::Float(4);
        let got = 1.5f32.to_le_bytes();
        assert!(float.holds("1.5", None, &got) && !float.holds("1.25", None, &got));
        assert!(float.holds("1.25", Some(Tolerance::Absolute(0.25)), &got));
        assert!(!float.holds("1.25", Some(Tolerance::Percent(10.0)), &got));
        assert!(Component::Signed(1).holds("-2", None, &[254]));
        assert!(!Component::Signed(2).holds("-2", None, &[254]));
    }
}
