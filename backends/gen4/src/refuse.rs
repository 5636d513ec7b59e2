//! What the silicon cannot do, with the manual's section: the one source of exit code 3, once code is made. Everything
//! else that we do not compile is our own gap.

/// What no member has.
macro_rules! both {
    ($($more:expr),*) => {
        &[
            (
                "atomic operations",
                "G45 vol. 4, 5.10.1: a data port message reads or writes, and none does both",
            ),
            ("16-bit floats", "G45 vol. 4, 13.2.3: no type of 16-bit floats"),
            ("double precision", "G45 vol. 4, 13.2.3: no type of 64 bits"),
            (
                "multisampled textures",
                "G45 vol. 4, 4.7.2: SURFACE_STATE counts no samples",
            ),
            (
                "cube array textures",
                "G45 vol. 4, 4.7.2: the Depth of a SURFTYPE_CUBE must be zero",
            ),
            (
                "task and mesh shaders",
                "G45 vol. 4, 2.4: threads are of VS, GS, CLIP, SF, WM and TS",
            ),
            ("ray tracing", "G45 vol. 4, 2.5: no shared function meets rays"),
            ("cooperative matrices", "G45 vol. 4, 14.2: no instruction multiplies matrices"),
            ("sparse residency", "G45 vol. 4, 4.8.2: a reply holds texels alone"),
            (
                "fragment shader interlock",
                "G45 vol. 4, 14.2: no instruction orders the threads of a pixel",
            ),
            ("shading rates", "G45 vol. 4, 5.10.6: a target write is for one pixel a channel"),
            $($more),*
        ]
    };
}

/// The 965's table: feature and the manual's section.
pub const GEN4: &[(&str, &str)] =
    both![("two colours for one target", "G45 vol. 4, 5.7.2: dual source is of CL-B and CTG on")];

/// G45's table.
pub const G45: &[(&str, &str)] = both![];

#[cfg(test)]
mod tests {
    #[test]
    fn no_feature_stands_twice_and_each_has_a_section() {
        for table in [super::GEN4, super::G45] {
            for (i, (feature, manual)) in table.iter().enumerate() {
                assert!(table[..i].iter().all(|(other, _)| other != feature), "{feature}");
                assert!(manual.starts_with("G45 vol. 4, "), "{feature}: {manual}");
            }
        }
    }
}
