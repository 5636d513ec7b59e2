//! What is known of the silicon behind generated code.

use crate::named::Name;
use serde::{Deserialize, Serialize};

/// Who vouches for a feature of generated code, the surest first.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceClass {
    /// A public driver uses it on hardware.
    #[default]
    Proven,
    /// The manual alone describes it.
    Manual,
    /// Neither does in full: it is our assumption.
    Assumption,
}

impl EvidenceClass {
    /// As messages say it.
    pub const fn words(self) -> &'static str {
        match self {
            EvidenceClass::Proven => "proven on hardware by a public driver",
            EvidenceClass::Manual => "described by the manual alone",
            EvidenceClass::Assumption => "our assumption",
        }
    }
}

/// A feature that no public driver has proven on hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// What the program does.
    pub feature: Name,
    /// Who vouches for it.
    pub class: EvidenceClass,
    /// What speaks for it.
    pub reason: Name,
}

impl Ground {
    /// A feature that the manual alone describes.
    pub const fn manual(feature: &'static str, reason: &'static str) -> Ground {
        Ground::of(feature, EvidenceClass::Manual, reason)
    }
    /// A feature that is our assumption.
    pub const fn assumption(feature: &'static str, reason: &'static str) -> Ground {
        Ground::of(feature, EvidenceClass::Assumption, reason)
    }
    const fn of(feature: &'static str, class: EvidenceClass, reason: &'static str) -> Ground {
        Ground { feature: Name::Borrowed(feature), class, reason: Name::Borrowed(reason) }
    }
}

/// What a program rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The weakest class of all its features.
    pub class: EvidenceClass,
    /// The features that are not proven.
    pub rests_on: Vec<Ground>,
}

impl FromIterator<Ground> for Evidence {
    fn from_iter<I: IntoIterator<Item = Ground>>(grounds: I) -> Evidence {
        let rests_on: Vec<Ground> = grounds.into_iter().collect();
        let class = rests_on.iter().map(|ground| ground.class).max().unwrap_or_default();
        Evidence { class, rests_on }
    }
}
