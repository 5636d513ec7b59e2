//! The size of every structure on hosts of 64 bits: the header asserts the same. It changes only by growing at the end.
//! `from` is [`Input::OLDEST`], the size in version 1 of the interface: it is what it was whatever the structure becomes.

use crate::abi::{Input, gpucc_bytes, gpucc_text};
use crate::input::{
    gpucc_config, gpucc_define, gpucc_options, gpucc_override, gpucc_request, gpucc_source,
};
use crate::outcome::{Structure, gpucc_diagnostic, gpucc_label, gpucc_outcome};
use crate::state::{
    gpucc_attribute, gpucc_binding_slot, gpucc_blend_component, gpucc_color_target,
    gpucc_fragment_state, gpucc_pipeline, gpucc_stream_output, gpucc_vertex_buffer,
    gpucc_vertex_state,
};
use crate::store::gpucc_key;
use crate::typed::{
    gpucc_binding, gpucc_constant_buffer, gpucc_driver_constant, gpucc_figure, gpucc_ground,
    gpucc_info, gpucc_input, gpucc_line, gpucc_named, gpucc_output, gpucc_program,
    gpucc_program_state, gpucc_setting, gpucc_stats, gpucc_table_use,
};

/// Asserts sizes and makes the table of them; what callers fill is an [`Input`], with its reserved fields.
macro_rules! structures {
    (
        callers { $($input:ident $bytes:literal from $oldest:literal $([$($reserved:ident),*])?;)* }
        others { $($other:ident $length:literal;)* }
    ) => {
        /// Names and sizes.
        pub const SIZES: &[(&str, usize)] = &[
            $((stringify!($input), $bytes),)*
            $((stringify!($other), $length),)*
        ];
        $(const _: () = assert!(size_of::<$input>() == $bytes && $bytes % 8 == 0 && $oldest <= $bytes);)*
        $(const _: () = assert!(size_of::<$other>() == $length);)*
        $(
            // SAFETY: it is of numbers, and of pointers into an arena or into what was made, which nobody changes.
            unsafe impl Structure for $other {}
        )*
        $(
            // SAFETY: it is `repr(C)` of numbers, pointers and functions that may be null, so every pattern of bits is one
            // that can be copied; `-Wpadded` and the header's test see that there is no padding; the first field is its size.
            unsafe impl Input for $input {
                const NAME: &'static str = stringify!($input);
                const OLDEST: usize = $oldest;
                fn reserved(&self) -> Option<&'static str> {
                    $($(if self.$reserved != 0 {
                        return Some(stringify!($reserved));
                    })*)?
                    None
                }
            }
        )*
    };
}

structures! {
    callers {
        gpucc_config 56 from 56 [reserved];
        gpucc_define 40 from 40 [reserved];
        gpucc_source 80 from 80 [reserved];
        gpucc_override 32 from 32 [reserved];
        gpucc_options 88 from 88;
        gpucc_request 56 from 56;
        gpucc_attribute 32 from 32;
        gpucc_vertex_buffer 16 from 16 [reserved];
        gpucc_stream_output 24 from 24 [reserved];
        gpucc_vertex_state 104 from 104 [reserved];
        gpucc_color_target 56 from 56 [reserved];
        gpucc_fragment_state 48 from 48 [reserved];
        gpucc_binding_slot 16 from 16;
        gpucc_pipeline 48 from 48 [reserved];
    }
    others {
        gpucc_text 16;
        gpucc_bytes 16;
        gpucc_key 32;
        gpucc_label 40;
        gpucc_diagnostic 72;
        gpucc_outcome 72;
        gpucc_blend_component 12;
        gpucc_named 24;
        gpucc_figure 24;
        gpucc_program 56;
        gpucc_binding 64;
        gpucc_input 120;
        gpucc_output 88;
        gpucc_program_state 20;
        gpucc_table_use 8;
        gpucc_constant_buffer 24;
        gpucc_setting 128;
        gpucc_driver_constant 40;
        gpucc_line 16;
        gpucc_ground 40;
        gpucc_stats 136;
        gpucc_info 296;
    }
}

/// The same of what the emulated machines need.
#[cfg(feature = "emulator")]
pub mod emulator {
    use crate::abi::Input;
    use crate::device::{gpucc_image, gpucc_place, gpucc_sampler, gpucc_verification};
    use crate::draw::gpucc_draw;
    use crate::outcome::Structure;

    structures! {
        callers {
            gpucc_place 24 from 24;
            gpucc_image 48 from 48 [reserved];
            gpucc_sampler 64 from 64 [reserved];
            gpucc_draw 104 from 104;
        }
        others {
            gpucc_verification 24;
        }
    }
}
