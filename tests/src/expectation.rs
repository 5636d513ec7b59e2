//! What a foreign test expects of a buffer: exact bytes, intervals, alternatives. Reads the form
//! that the corpus README gives for the expression cases.

use serde_json::Value;

/// The type that a case yields, as far as comparing needs it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ResultType {
    /// Bytes of an element: 2 for f16, else 4.
    element: usize,
    /// Elements are floats.
    float: bool,
    /// Elements from one matrix column to the next; 0 for scalars and vectors.
    column: usize,
}

impl ResultType {
    /// Reads `f32`, `vec3<i32>`, `mat2x3<f16>`, `array<bool, 1>`.
    pub fn parse(text: &str) -> ResultType {
        let rows = text.strip_prefix("mat").and_then(|rest| rest.as_bytes().get(2).copied());
        ResultType {
            element: if text.contains("f16") { 2 } else { 4 },
            float: text.contains("f16") || text.contains("f32"),
            column: match rows {
                Some(b'2') => 2,
                Some(_) => 4,
                None => 0,
            },
        }
    }

    fn read(self, bytes: &[u8]) -> Option<f64> {
        match (self.element, bytes) {
            (2, &[a, b, ..]) => Some(half_to_f64(u16::from_le_bytes([a, b]))),
            (4, &[a, b, c, d, ..]) => Some(f32::from_le_bytes([a, b, c, d]).into()),
            _ => None,
        }
    }
}

/// f16 bits as f64; every f16 is exact.
fn half_to_f64(bits: u16) -> f64 {
    let magnitude = i32::from(bits & 0x7fff);
    let (exponent, fraction) = (magnitude >> 10, f64::from(magnitude & 0x3ff));
    let value = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 != 0 { -value } else { value }
}

/// Bytes from hexadecimal digits; `None` when they are not pairs of digits.
pub fn bytes_from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|p| p[0] << 4 | p[1]).collect())
}

/// True when `got` (from the start of the value on) meets the expectation. An expectation that
/// cannot be read is never met.
pub fn meets(expected: &Value, ty: ResultType, got: &[u8]) -> bool {
    meets_at(expected, ty, got, ty.column > 0)
}

fn meets_at(expected: &Value, ty: ResultType, got: &[u8], matrix: bool) -> bool {
    if expected.get("any").is_some() {
        return true;
    }
    if let Some(hex) = expected.get("b").and_then(Value::as_str) {
        return bytes_from_hex(hex).is_some_and(|want| exact(&want, ty, got));
    }
    if let Some(ends) = expected.get("i").and_then(Value::as_array) {
        let [lo, hi] = &ends[..] else { return false };
        let (Some(lo), Some(hi), Some(got)) = (end(lo), end(hi), ty.read(got)) else {
            return false;
        };
        return lo <= got && got <= hi
            || got.is_nan() && lo == f64::NEG_INFINITY && hi == f64::INFINITY;
    }
    if let Some(parts) = expected.get("v").and_then(Value::as_array) {
        let step = ty.element * if matrix { ty.column } else { 1 };
        return parts.iter().enumerate().all(|(index, part)| {
            got.get(index * step..).is_some_and(|got| meets_at(part, ty, got, false))
        });
    }
    expected
        .get("or")
        .and_then(Value::as_array)
        .is_some_and(|any| any.iter().any(|one| meets_at(one, ty, got, matrix)))
}

fn end(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("-0") => Some(-0.0),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

fn exact(want: &[u8], ty: ResultType, got: &[u8]) -> bool {
    let Some(got) = got.get(..want.len()) else {
        return false;
    };
    want == got
        || ty.float
            && want.chunks(ty.element).zip(got.chunks(ty.element)).all(|(want, got)| {
                want == got || (ty.read(want) == Some(0.0) && ty.read(got) == Some(0.0))
            })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn intervals_take_their_ends_and_nothing_beyond() {
        let ty = ResultType::parse("f32");
        let expected = json!({"i": [-1.0, 2.0]});
        for (value, ok) in [(-1.0f32, true), (2.0, true), (2.0000002, false), (f32::NAN, false)] {
            assert_eq!(meets(&expected, ty, &value.to_le_bytes()), ok, "{value}");
        }
        let all = json!({"i": ["-Infinity", "Infinity"]});
        assert!(meets(&all, ty, &f32::NAN.to_le_bytes()));
    }

    #[test]
    fn exact_zeros_compare_equal_whatever_their_sign_only_for_floats() {
        let minus = json!({"b": "00000080"});
        assert!(meets(&minus, ResultType::parse("f32"), &[0; 4]));
        assert!(!meets(&minus, ResultType::parse("u32"), &[0; 4]));
    }

    #[test]
    fn matrix_columns_of_three_rows_stand_four_elements_apart() {
        let ty = ResultType::parse("mat2x3<f32>");
        let column = |x: f32| json!({"v": [{"i": [x, x]}, {"i": [x, x]}, {"i": [x, x]}]});
        let bytes =
            |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        let expected = json!({"v": [column(1.0), column(2.0)]});
        assert!(meets(&expected, ty, &bytes(&[1.0, 1.0, 1.0, 9.0, 2.0, 2.0, 2.0, 9.0])));
        assert!(!meets(&expected, ty, &bytes(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 9.0, 9.0])));
    }

    #[test]
    fn half_values_are_exact() {
        assert_eq!(half_to_f64(0x3c00), 1.0);
        assert_eq!(half_to_f64(0x0001), 2f64.powi(-24));
        assert_eq!(half_to_f64(0xfbff), -65504.0);
        assert!(half_to_f64(0x7e00).is_nan());
    }

    #[test]
    fn alternatives_and_anything_and_unreadable_text() {
        let ty = ResultType::parse("u32");
        assert!(meets(&json!({"or": [{"b": "01000000"}, {"b": "02000000"}]}), ty, &[2, 0, 0, 0]));
        assert!(meets(&json!({"any": 1}), ty, &[7, 0, 0, 0]));
        assert!(!meets(&json!({"b": "0g"}), ty, &[0; 4]));
        assert!(!meets(&json!({}), ty, &[0; 4]));
    }
}
