//! The fragment side of a pipeline by the names of WebGPU: colour targets, blending, depth and stencil, samples.

use super::is_default;
use serde::{Deserialize, Serialize};

/// Fragment stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FragmentState {
    /// Colour targets by location; `null` where none is bound.
    pub targets: Vec<Option<ColorTarget>>,
    /// WebGPU format of the depth and stencil target; none is bound when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_stencil: Option<String>,
    /// Samples of a pixel; the driver knows when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// The alpha of target 0 covers samples.
    #[serde(skip_serializing_if = "is_default")]
    pub alpha_to_coverage: bool,
    /// Depths may lie beyond 0 and 1.
    #[serde(skip_serializing_if = "is_default")]
    pub unrestricted_depth: bool,
}

/// One colour target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColorTarget {
    /// WebGPU texture format.
    pub format: String,
    /// Components that are written: bit 0 red.
    #[serde(default = "all_components")]
    pub write_mask: u8,
    /// Equations; the colour replaces what is stored when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blend: Option<Blend>,
}

const fn all_components() -> u8 {
    ColorTarget::ALL
}

impl ColorTarget {
    /// The mask that writes every component.
    pub const ALL: u8 = 15;
}

impl FragmentState {
    /// Whether anything takes what a program writes to a location.
    pub fn takes(&self, location: u32) -> bool {
        let target = self.targets.get(location as usize).and_then(Option::as_ref);
        target.is_some_and(|target| target.write_mask != 0)
            || self.alpha_to_coverage && location == 0
    }

    /// Whether a component of what a program writes to a location is of any use: its target takes it, covers samples by it
    /// or blends by it.
    pub fn takes_component(&self, location: u32, component: u8) -> bool {
        let target = self.targets.get(location as usize).and_then(Option::as_ref);
        let alpha = component == 3;
        target.is_some_and(|target| {
            target.write_mask != 0
                && (target.write_mask >> component & 1 == 1
                    || alpha && target.blend.is_some_and(|blend| blend.color.reads_alpha()))
        }) || alpha && self.alpha_to_coverage && location == 0
    }
}

/// What a source or destination is multiplied by.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// 0
    Zero,
    /// 1
    One,
    /// Source colour.
    Src,
    /// 1 - source colour.
    OneMinusSrc,
    /// Source alpha.
    SrcAlpha,
    /// 1 - source alpha.
    OneMinusSrcAlpha,
    /// Destination colour.
    Dst,
    /// 1 - destination colour.
    OneMinusDst,
    /// Destination alpha.
    DstAlpha,
    /// 1 - destination alpha.
    OneMinusDstAlpha,
    /// min(source alpha, 1 - destination alpha); 1 for alpha.
    SrcAlphaSaturated,
    /// Constant.
    Constant,
    /// 1 - constant.
    OneMinusConstant,
    /// Second source's colour.
    Src1,
    /// 1 - second source's colour.
    OneMinusSrc1,
    /// Second source's alpha.
    Src1Alpha,
    /// 1 - second source's alpha.
    OneMinusSrc1Alpha,
}

impl Factor {
    /// 1 - this one, where that has a name.
    pub const fn inverse(self) -> Option<Factor> {
        Some(match self {
            Factor::Zero => Factor::One,
            Factor::One => Factor::Zero,
            Factor::Src => Factor::OneMinusSrc,
            Factor::OneMinusSrc => Factor::Src,
            Factor::SrcAlpha => Factor::OneMinusSrcAlpha,
            Factor::OneMinusSrcAlpha => Factor::SrcAlpha,
            Factor::Dst => Factor::OneMinusDst,
            Factor::OneMinusDst => Factor::Dst,
            Factor::DstAlpha => Factor::OneMinusDstAlpha,
            Factor::OneMinusDstAlpha => Factor::DstAlpha,
            Factor::SrcAlphaSaturated => return None,
            Factor::Constant => Factor::OneMinusConstant,
            Factor::OneMinusConstant => Factor::Constant,
            Factor::Src1 => Factor::OneMinusSrc1,
            Factor::OneMinusSrc1 => Factor::Src1,
            Factor::Src1Alpha => Factor::OneMinusSrc1Alpha,
            Factor::OneMinusSrc1Alpha => Factor::Src1Alpha,
        })
    }
}

/// How source and destination are combined.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlendOp {
    /// `s * fs + d * fd`
    #[default]
    Add,
    /// `s * fs - d * fd`
    Subtract,
    /// `d * fd - s * fs`
    ReverseSubtract,
    /// `min(s, d)`, factors ignored.
    Min,
    /// `max(s, d)`, factors ignored.
    Max,
}

/// One equation. By default the source replaces the destination.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BlendComponent {
    /// Combination.
    #[serde(rename = "operation")]
    pub op: BlendOp,
    /// Factor of the source.
    #[serde(rename = "src_factor")]
    pub src: Factor,
    /// Factor of the destination.
    #[serde(rename = "dst_factor")]
    pub dst: Factor,
}

impl BlendComponent {
    /// The alpha of the source takes part in what becomes of another component.
    pub fn reads_alpha(&self) -> bool {
        use Factor::{OneMinusSrcAlpha, SrcAlpha, SrcAlphaSaturated};
        let alpha = |factor| matches!(factor, SrcAlpha | OneMinusSrcAlpha | SrcAlphaSaturated);
        !matches!(self.op, BlendOp::Min | BlendOp::Max) && (alpha(self.src) || alpha(self.dst))
    }
}

impl Default for BlendComponent {
    fn default() -> BlendComponent {
        BlendComponent { op: BlendOp::Add, src: Factor::One, dst: Factor::Zero }
    }
}

/// Equations of a target.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Blend {
    /// Red, green, blue.
    pub color: BlendComponent,
    /// Alpha.
    pub alpha: BlendComponent,
}

impl Blend {
    /// `source over destination` with the source not multiplied by its alpha.
    pub const ALPHA: Blend = Blend {
        color: BlendComponent {
            op: BlendOp::Add,
            src: Factor::SrcAlpha,
            dst: Factor::OneMinusSrcAlpha,
        },
        alpha: BlendComponent { op: BlendOp::Add, src: Factor::One, dst: Factor::OneMinusSrcAlpha },
    };
}
