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

impl Tolerance {
    /// The two are as close as they must be.
    pub fn allows(self, wanted: f64, found: f64) -> bool {
        let most = match self {
            Tolerance::Absolute(most) => most,
            Tolerance::Percent(most) => (wanted * most / 100.0).abs(),
        };
        (wanted - found).abs() <= most
    }

    /// `0.5`, or `0.5%`.
    pub fn parse(word: &str) -> Option<Tolerance> {
        match word.strip_suffix('%') {
            Some(percent) => percent.parse().ok().map(Tolerance::Percent),
            None => word.parse().ok().map(Tolerance::Absolute),
        }
    }
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
            (Component::Float(2), None) => half(word.parse().ok()?).to_vec(),
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
            Some(tolerance) => tolerance.allows(wanted, found),
        }
    }

    /// How the value that the bytes begin with stands to another one.
    pub fn order(self, other: &str, got: &[u8]) -> Option<std::cmp::Ordering> {
        let other = self.decode(&self.encode(other)?)?;
        self.decode(got)?.partial_cmp(&other)
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
    /// Of matrices the rows stand together.
    pub row_major: bool,
    /// Three components take three places, as attributes have it.
    pub tight: bool,
}

impl Type {
    /// A vector.
    pub const fn vector(component: Component, rows: usize) -> Type {
        Type { component, rows, columns: 1, std140: false, row_major: false, tight: false }
    }

    /// Amber's names: `float`, `vec3<int32>`, `mat2x3<float16>` (columns by rows); `[]` behind it says nothing new.
    pub fn parse(text: &str) -> Option<Type> {
        let text = text.strip_suffix("[]").unwrap_or(text);
        let (shape, component) = match text.split_once('<') {
            Some((shape, rest)) => (shape, rest.strip_suffix('>')?),
            None => ("", text),
        };
        Type::shaped(shape, Component::parse(component)?)
    }

    /// Names of GLSL: `float`, `ivec3`, `dmat2x3` (columns by rows), `mat3`.
    pub fn glsl(text: &str) -> Option<Type> {
        let scalar = match text {
            "int" => Some(Component::Signed(4)),
            "uint" => Some(Component::Unsigned(4)),
            "float" => Some(Component::Float(4)),
            "double" => Some(Component::Float(8)),
            _ => {
                let bits = text.strip_suffix("_t");
                bits.and_then(Component::parse)
            }
        };
        if let Some(component) = scalar {
            return Some(Type::vector(component, 1));
        }
        let at = text.find("vec").or_else(|| text.find("mat"))?;
        let component = match &text[..at] {
            "" => Component::Float(4),
            "d" => Component::Float(8),
            "i" => Component::Signed(4),
            "u" => Component::Unsigned(4),
            "i64" => Component::Signed(8),
            "u64" => Component::Unsigned(8),
            "f16" => Component::Float(2),
            _ => return None,
        };
        let shape = &text[at..];
        match shape.strip_prefix("mat") {
            Some(size) if !size.contains('x') => {
                Type::shaped(&format!("mat{size}x{size}"), component)
            }
            _ => Type::shaped(shape, component),
        }
    }

    /// `vec3`, `mat2x3` or nothing around a scalar.
    fn shaped(shape: &str, component: Component) -> Option<Type> {
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
        Some(Type { columns, ..Type::vector(component, rows) })
    }

    /// Bytes from one vector to the next: a column, a row of a matrix whose rows stand together, or an element.
    pub const fn stride(&self) -> usize {
        let count = if self.row_major { self.columns } else { self.rows };
        let count = if count == 3 && !self.tight { 4 } else { count };
        let bytes = count * self.component.bytes();
        if self.std140 { bytes.next_multiple_of(16) } else { bytes }
    }

    /// Offsets of values in their order, column by column, without an end.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let (stride, bytes) = (self.stride(), self.component.bytes());
        let element = stride * if self.row_major { self.rows } else { self.columns };
        (0..).map(move |number| {
            let within = number % self.values();
            let (column, row) = (within / self.rows, within % self.rows);
            let (vector, place) = if self.row_major { (row, column) } else { (column, row) };
            number / self.values() * element + vector * stride + place * bytes
        })
    }

    /// Values of an element.
    pub const fn values(self) -> usize {
        self.rows * self.columns
    }

    /// The bytes of values in their order. What none of them fills is 0, up to the end of the last vector.
    pub fn encode<'w>(self, words: impl IntoIterator<Item = &'w str>) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (word, place) in words.into_iter().zip(self.places()) {
            let value = self.component.encode(word)?;
            if bytes.len() < place + value.len() {
                bytes.resize(place + value.len(), 0);
            }
            bytes[place..place + value.len()].copy_from_slice(&value);
        }
        bytes.resize(bytes.len().next_multiple_of(self.stride()), 0);
        Some(bytes)
    }
}

/// Half floats as Amber makes them of its texts: towards zero, where the nearest one is farther from it.
fn half(value: f64) -> [u8; 2] {
    let nearest = f16::from_f64(value);
    let away = nearest.to_f64().abs() > value.abs();
    f16::from_bits(nearest.to_bits() - u16::from(away)).to_le_bytes()
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
        let matrix = Type::glsl("mat3x4").expect("a type");
        let rows = Type { row_major: true, ..matrix };
        assert_eq!(matrix.places().take(13).last(), Some(48));
        assert_eq!(rows.places().take(13).collect::<Vec<_>>()[..5], [0, 16, 32, 48, 4]);
        assert_eq!(rows.encode(["1"; 12]).map(|bytes| bytes.len()), Some(64));
        assert_eq!(Type::glsl("dvec2").map(|ty| ty.stride()), Some(16));
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
