//! Which values a specialization constant may have.

use crate::stop::Stop;

/// The type of a constant.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Kind {
    Bool,
    /// Of so many bits.
    Int(u32),
    /// Of so many bits.
    Float(u32),
}

impl Kind {
    /// Whether a constant can have this value. A negative value of an unsigned constant is its bits.
    pub fn admits(self, value: f64) -> bool {
        let power = |bits: u32| 2f64.powi(bits as i32);
        match self {
            Kind::Bool => value == 0.0 || value == 1.0,
            Kind::Int(bits) => {
                let fits = value >= -power(bits.saturating_sub(1)) && value < power(bits);
                fits && value.fract() == 0.0
            }
            // What rounds to a finite half.
            Kind::Float(16) => value.abs() < 65520.0,
            Kind::Float(32) => (value as f32).is_finite(),
            Kind::Float(_) => value.is_finite(),
        }
    }

    /// The error of a constant that is given a value which it cannot have.
    pub fn wrong(self, name: &str, value: f64) -> Stop {
        let kind = match self {
            Kind::Bool => "a bool".to_owned(),
            Kind::Int(bits) => format!("an integer of {bits} bits"),
            Kind::Float(bits) => format!("a float of {bits} bits"),
        };
        Stop::invalid(format!(
            "the specialization constant `{name}` is {kind}, and {value} is none"
        ))
    }
}
