//! Valhall's graphics and bindings: each program is compiled, its bytes run on the strict emulator, and
//! the results compared with the interpreter's, with uniforms loaded and pushed.

use gpucc::pipeline::Uniforms;
use gpucc::{Options, Source, Stage, Target};

/// Verifies every entry point of a source on Valhall.
fn verified(name: &str, source: Source<'_>, uniforms: Uniforms) {
    let mut options = Options::default();
    options.pipeline.uniforms = uniforms;
    crate::common::verified(Target::Valhall, options, name, source);
}

macro_rules! holds {
    ($($(#[$doc:meta])* $name:ident $file:literal;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let text = include_str!(concat!("valhall/", $file));
            verified($file, Source::Wgsl(text), Uniforms::Loaded);
            verified($file, Source::Wgsl(text), Uniforms::Pushed);
        }
    )*};
}

holds! {
    both_sources_of_a_blend_reach_their_registers "dual_source.wgsl";
    several_targets_depth_and_mask_leave_with_every_input_read "outputs.wgsl";
    textures_of_every_kind_are_sampled_gathered_loaded_and_asked "textures.wgsl";
    storage_textures_are_loaded_and_stored_in_their_formats "images.wgsl";
    bindings_by_elements_known_at_run_time_and_texel_atomics "arrays.wgsl";
    words_of_64_bits_and_floats_change_atomically "atomics.wgsl";
    programs_change_memory_where_a_pixel_or_vertex_does "effects.wgsl";
    a_direction_of_zeroes_is_a_corner_of_a_face "no_direction.wgsl";
    outputs_written_on_some_paths_are_zero_on_the_others "flow.wgsl";
    position_and_varying_programs_agree_with_the_whole "vertex.wgsl";
    half_precision_attributes_varyings_and_colours "half.wgsl";
    both_vertex_programs_find_their_tables_of_constants "tables.wgsl";
    lanes_of_a_warp_exchange_values_also_where_some_have_parted "subgroups.wgsl";
}

#[test]
fn a_pixel_knows_its_place_in_a_point() {
    let text = "#version 450
layout(location = 0) out vec4 color;
void main() {
    vec2 from_center = gl_PointCoord - vec2(0.5);
    color = vec4(gl_PointCoord, dot(from_center, from_center), gl_FragCoord.z);
}";
    verified(
        "point.frag",
        Source::Glsl(text, Stage::Fragment),
        Uniforms::Loaded,
    );
}
