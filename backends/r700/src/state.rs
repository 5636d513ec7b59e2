//! The registers that a driver programs for one program, by the names and addresses of the R6xx/R7xx
//! register guide (isa/r700.md 4).

pub mod targets;

use crate::abi::{Abi, POINT};
use crate::api::{Chip, Family, Fetch, StateRegister};
use crate::emit::Emitted;
use gpucc_ir::ssa::{Builtin, Func, InputKind, Interpolation, OutputKind, Sampling, Stage};
use gpucc_machine::described::Export;
use gpucc_machine::named::Name;

/// A field: name, lowest bit, value.
type Field = (&'static str, u32, u32);

fn register(name: impl Into<Name>, address: u32, fields: &[Field]) -> StateRegister {
    let name = name.into();
    let mut value = 0;
    let mut mask = 0;
    for &(field, low, bits) in fields {
        // Fields that nobody sets lie between some of these, so this is the most that a field may have. Limits of the
        // calling convention keep values within; one that slips through must not turn up in its neighbour.
        let above = fields.iter().map(|&(_, other, _)| other);
        let end = above.filter(|&other| other > low).min().unwrap_or(32);
        assert!(end - low == 32 || bits >> (end - low) == 0, "{name}: {bits} does not fit {field}");
        value |= bits << low;
        mask |= u32::MAX >> (32 - width(&name, field)) << low;
    }
    debug_assert_eq!(value & !mask, 0, "{name} has fields wider than the guide's");
    StateRegister {
        name,
        address,
        value,
        mask,
        fields: fields.iter().map(|&(name, _, field)| (name.into(), field)).collect(),
    }
}

/// Bits of a register's field, by the guide.
fn width(register: &str, field: &str) -> u32 {
    match field {
        // Of colours, and of depth.
        "FORMAT" if register.starts_with("CB_COLOR") => 6,
        "FORMAT" => 3,
        "PGM_START" | "MAX_INDX" | "MIN_INDX" | "INDX_OFFSET" => 32,
        "PGM_CF_OFFSET" => 20,
        "ITEMSIZE" => 15,
        "COUNT" | "INIT" => 12,
        "STRIDE" | "PRIM_COUNT" => 10,
        "NUM_GPRS" | "STACK_SIZE" | "INC" | "SEMANTIC" | "RT_ENABLE" => 8,
        "TARGET_BLEND_ENABLE" | "ROP3" => 8,
        "PRIM_TYPE" | "NUM_INTERP" | "EVENT_TYPE" => 6,
        "VS_EXPORT_COUNT" | "EXPORT_MODE" => 5,
        "POSITION_ADDR" | "FRONT_FACE_ADDR" | "FIXED_PT_POSITION_ADDR" => 5,
        "COLOR_SRCBLEND" | "COLOR_DESTBLEND" | "ALPHA_SRCBLEND" | "ALPHA_DESTBLEND" => 5,
        "NUM_CLAUSE_TEMP_GPRS" => 4,
        "ALPHA_FUNC" | "NUMBER_TYPE" | "SPECIAL_OP" | "COLOR_COMB_FCN" | "ALPHA_COMB_FCN" => 3,
        "ENDIAN" | "COMP_SWAP" | "MSAA_NUM_SAMPLES" => 2,
        "DEFAULT_VAL" | "BARYC_SAMPLE_CNTL" | "FRONT_FACE_CHAN" | "PIXEL_FOG_FUNC" | "Z_ORDER" => 2,
        _ if field.starts_with("SEMANTIC_") => 8,
        _ if field.starts_with("OUTPUT") => 4,
        _ if field.starts_with("TARGET") => 4,
        _ if field.starts_with("ALPHA_TO_MASK_OFFSET") => 2,
        _ if field.starts_with("PNT_SPRITE_OVRD_") => 3,
        _ => 1,
    }
}

/// All registers of a program. `scratch` is its scratch vec4 per lane.
pub fn state(func: &Func, abi: &Abi, code: &Emitted, scratch: u32) -> Vec<StateRegister> {
    // Most programs have some twenty.
    let mut list = Vec::with_capacity(32);
    let pixel = func.stage == Stage::Fragment;
    let gprs = abi.registers(code.gprs);
    // The guide has no compute stage: compute is a vertex program (abi-r700).
    let [resources, start, offset, ring, loops] = match pixel {
        true => [
            ("SQ_PGM_RESOURCES_PS", 0x28850),
            ("SQ_PGM_START_PS", 0x28840),
            ("SQ_PGM_CF_OFFSET_PS", 0x288cc),
            ("SQ_PSTMP_RING_ITEMSIZE", 0x288bc),
            ("SQ_LOOP_CONST_0", 0x3e200),
        ],
        false => [
            ("SQ_PGM_RESOURCES_VS", 0x28868),
            ("SQ_PGM_START_VS", 0x28858),
            ("SQ_PGM_CF_OFFSET_VS", 0x288d0),
            ("SQ_VSTMP_RING_ITEMSIZE", 0x288b8),
            ("SQ_LOOP_CONST_32", 0x3e280),
        ],
    };
    list.push(register(
        resources.0,
        resources.1,
        &[
            ("NUM_GPRS", 0, gprs),
            ("STACK_SIZE", 8, if pixel { code.stack } else { code.stack.max(1) }),
            ("DX10_CLAMP", 21, 1),
            // "On R600 only: this bit MUST be set". Guide, SQ_PGM_RESOURCES_*.
            ("UNCACHED_FIRST_INST", 28, u32::from(abi.chip == Chip::R600)),
        ],
    ));
    list.push(register(start.0, start.1, &[("PGM_START", 0, 0)]));
    list.push(register(offset.0, offset.1, &[("PGM_CF_OFFSET", 0, 0)]));
    list.push(register(ring.0, ring.1, &[("ITEMSIZE", 0, 4 * scratch)]));
    // A DX10 loop counts down from all 32 bits of loop constant 0. isa/r700.md 1.2.
    list.push(register(
        loops.0,
        loops.1,
        &[("COUNT", 0, 0xfff), ("INIT", 12, 0xfff), ("INC", 24, 0xff)],
    ));
    list.push(register(
        "SQ_CONFIG",
        0x8c00,
        &[
            ("VC_ENABLE", 0, u32::from(abi.chip.has_vertex_cache())),
            ("DX9_CONSTS", 2, 0),
            ("ALU_INST_PREFER_VECTOR", 3, 1),
            // Derivatives of R600 have it in SQ_PGM_RESOURCES_*.
            ("DX10_CLAMP", 4, u32::from(abi.chip == Chip::R600)),
        ],
    ));
    if func.stage == Stage::Vertex && abi.pipeline.vertex.fetch == Fetch::Separate {
        // The vertex program counts the fetch program's registers as its own. Guide, SQ_PGM_RESOURCES_FS.
        list.push(register(
            "SQ_PGM_RESOURCES_FS",
            0x288a4,
            &[("NUM_GPRS", 0, 0), ("STACK_SIZE", 8, 0), ("DX10_CLAMP", 21, 1)],
        ));
        list.push(register("SQ_PGM_START_FS", 0x28894, &[("PGM_START", 0, 0)]));
        list.push(register("SQ_PGM_CF_OFFSET_FS", 0x288dc, &[("PGM_CF_OFFSET", 0, 0)]));
    }
    // The four clause temporaries that the register file of the compiler leaves out. NUM_*_GPRS are the driver's.
    list.push(register("SQ_GPR_RESOURCE_MGMT_1", 0x8c04, &[("NUM_CLAUSE_TEMP_GPRS", 28, 4)]));
    if func.stage == Stage::Compute {
        points(abi, &mut list);
    }
    match func.stage {
        Stage::Fragment => fragment(func, abi, code, &mut list),
        Stage::Vertex | Stage::Geometry | Stage::Compute => vertex(func, abi, &mut list),
    }
    list
}

/// What makes a draw of points a dispatch: the thread's number is the count of vertices (abi-r700: Compute).
fn points(abi: &Abi, list: &mut Vec<StateRegister>) {
    list.push(register("VGT_PRIMITIVE_TYPE", 0x8958, &[("PRIM_TYPE", 0, 1)]));
    list.push(register("VGT_VTX_CNT_EN", 0x28ab8, &[("VTX_CNT_EN", 0, 1)]));
    // Every draw counts from 0: RESET_VTX_CNT. Otherwise the count goes on where the last one ended. The kernel forbids
    // the register, so that a driver sends the packet EVENT_WRITE in its place (abi-r700: Compute).
    list.push(register("VGT_EVENT_INITIATOR", 0x28a90, &[("EVENT_TYPE", 0, 33)]));
    // The count arrives as it is: no bounds that another client left.
    list.push(register("VGT_MAX_VTX_INDX", 0x28400, &[("MAX_INDX", 0, u32::MAX)]));
    list.push(register("VGT_MIN_VTX_INDX", 0x28404, &[("MIN_INDX", 0, 0)]));
    list.push(register("VGT_INDX_OFFSET", 0x28408, &[("INDX_OFFSET", 0, 0)]));
    // Wavefronts are full of consecutive points.
    list.push(register("VGT_REUSE_OFF", 0x28ab4, &[("REUSE_OFF", 0, 1)]));
    list.push(register("VGT_VTX_VECT_EJECT_REG", 0x88b0, &[("PRIM_COUNT", 0, 0x3ff)]));
    // Nothing is rasterised. The guide has the bit of R600 alone.
    list.push(match abi.chip.family() {
        Family::R700 => register("PA_CL_CLIP_CNTL", 0x28810, &[("DX_RASTERIZATION_KILL", 22, 1)]),
        Family::R600 => register("SX_MISC", 0x28350, &[("MULTIPASS", 0, 1)]),
    });
    // On R700 the kernel does not see that bit, and takes what nobody wrote for targets that are written and depth that is
    // tested: docs/errata.md 82.
    list.push(register(
        "DB_DEPTH_CONTROL",
        0x28800,
        &[("STENCIL_ENABLE", 0, 0), ("Z_ENABLE", 1, 0), ("Z_WRITE_ENABLE", 2, 0)],
    ));
    let off: Vec<Field> =
        (0u32..).zip(targets::ENABLES).map(|(target, name)| (name, 4 * target, 0)).collect();
    list.push(register("CB_TARGET_MASK", 0x28238, &off));
}

fn vertex(func: &Func, abi: &Abi, list: &mut Vec<StateRegister>) {
    let parameters = abi.parameters.max(1);
    list.push(register(
        "SPI_VS_OUT_CONFIG",
        0x286c4,
        &[("VS_PER_COMPONENT", 0, 0), ("VS_EXPORT_COUNT", 1, parameters - 1)],
    ));
    let mut semantics = [0; 40];
    for slot in &abi.outputs {
        if slot.export == Export::Parameter {
            semantics[slot.index as usize] = slot.semantic.unwrap_or(0);
        }
    }
    for (number, four) in semantics.chunks(4).take(parameters.div_ceil(4) as usize).enumerate() {
        list.push(register(
            format!("SPI_VS_OUT_ID_{number}"),
            0x28614 + 4 * number as u32,
            &[
                ("SEMANTIC_0", 0, four[0]),
                ("SEMANTIC_1", 8, four[1]),
                ("SEMANTIC_2", 16, four[2]),
                ("SEMANTIC_3", 24, four[3]),
            ],
        ));
    }
    let streams = &abi.pipeline.vertex.stream;
    if !streams.outputs.is_empty() {
        let written = |n: u32| u32::from(streams.outputs.iter().any(|stream| stream.buffer == n));
        list.push(register("VGT_STRMOUT_EN", 0x28ab0, &[("STREAMOUT", 0, 1)]));
        list.push(register(
            "VGT_STRMOUT_BUFFER_EN",
            0x28b20,
            &[
                ("BUFFER_0_EN", 0, written(0)),
                ("BUFFER_1_EN", 1, written(1)),
                ("BUFFER_2_EN", 2, written(2)),
                ("BUFFER_3_EN", 3, written(3)),
            ],
        ));
        for n in 0..4 {
            list.push(register(
                format!("VGT_STRMOUT_VTX_STRIDE_{n}"),
                0x28ad4 + 16 * n,
                &[("STRIDE", 0, streams.stride(n) / 4)],
            ));
        }
    }
    let (mut clip, mut cull) = (0, 0);
    let mut size = 0;
    for output in func.outputs.values() {
        match output.kind {
            OutputKind::Builtin(Builtin::ClipDistance(first)) => {
                for component in 0..output.components {
                    clip |= 1 << (first + component);
                }
            }
            OutputKind::Builtin(Builtin::CullDistance(first)) => {
                for component in 0..output.components {
                    cull |= 1 << (first + component);
                }
            }
            OutputKind::Builtin(Builtin::PointSize) => size = 1,
            _ => {}
        }
    }
    list.push(register(
        "PA_CL_VS_OUT_CNTL",
        0x2881c,
        &[
            ("CLIP_DIST_ENA_0", 0, clip & 1),
            ("CLIP_DIST_ENA_1", 1, clip >> 1 & 1),
            ("CLIP_DIST_ENA_2", 2, clip >> 2 & 1),
            ("CLIP_DIST_ENA_3", 3, clip >> 3 & 1),
            ("CLIP_DIST_ENA_4", 4, clip >> 4 & 1),
            ("CLIP_DIST_ENA_5", 5, clip >> 5 & 1),
            ("CLIP_DIST_ENA_6", 6, clip >> 6 & 1),
            ("CLIP_DIST_ENA_7", 7, clip >> 7 & 1),
            ("CULL_DIST_ENA_0", 8, cull & 1),
            ("CULL_DIST_ENA_1", 9, cull >> 1 & 1),
            ("CULL_DIST_ENA_2", 10, cull >> 2 & 1),
            ("CULL_DIST_ENA_3", 11, cull >> 3 & 1),
            ("CULL_DIST_ENA_4", 12, cull >> 4 & 1),
            ("CULL_DIST_ENA_5", 13, cull >> 5 & 1),
            ("CULL_DIST_ENA_6", 14, cull >> 6 & 1),
            ("CULL_DIST_ENA_7", 15, cull >> 7 & 1),
            ("USE_VTX_POINT_SIZE", 16, size),
            ("VS_OUT_MISC_VEC_ENA", 21, size),
            ("VS_OUT_CCDIST0_VEC_ENA", 22, u32::from((clip | cull) & 0x0f != 0)),
            ("VS_OUT_CCDIST1_VEC_ENA", 23, u32::from((clip | cull) & 0xf0 != 0)),
        ],
    ));
}

fn fragment(func: &Func, abi: &Abi, code: &Emitted, list: &mut Vec<StateRegister>) {
    let mut linear = u32::from(abi.position.is_some());
    let mut registers = 0;
    let mut sampled = [false; 3];
    let mut last = None;
    for slot in &abi.inputs {
        let InputKind::Location { interpolation, sampling, .. } = func.inputs[slot.input].kind
        else {
            continue;
        };
        let number = slot.register.unwrap_or(0);
        if last == Some(number) {
            continue;
        }
        last = Some(number);
        registers = registers.max(number + 1);
        linear |= u32::from(interpolation == Interpolation::Linear);
        if interpolation != Interpolation::Flat {
            sampled[match sampling {
                Sampling::Center => 0,
                Sampling::Centroid => 1,
                Sampling::Sample => 2,
            }] = true;
        }
        list.push(register(
            format!("SPI_PS_INPUT_CNTL_{number}"),
            0x28644 + 4 * number,
            &[
                ("SEMANTIC", 0, slot.semantic.unwrap_or(0)),
                ("DEFAULT_VAL", 8, 0),
                ("FLAT_SHADE", 10, u32::from(interpolation == Interpolation::Flat)),
                ("SEL_CENTROID", 11, u32::from(sampling == Sampling::Centroid)),
                ("SEL_LINEAR", 12, u32::from(interpolation == Interpolation::Linear)),
                ("SEL_SAMPLE", 18, u32::from(sampling == Sampling::Sample)),
            ],
        ));
    }
    // Their entries count too. Position, face and sample are no parameters to interpolate: peers make them flat, and
    // position linear.
    let others = [
        (abi.point, POINT, false),
        (abi.position, 0, true),
        (abi.face, 0, true),
        (abi.sample, 0, true),
    ];
    let mut interpolated = registers;
    for (number, semantic, flat) in others {
        let Some(number) = number else { continue };
        interpolated = interpolated.max(number + 1);
        list.push(register(
            format!("SPI_PS_INPUT_CNTL_{number}"),
            0x28644 + 4 * number,
            &[
                ("SEMANTIC", 0, semantic),
                ("DEFAULT_VAL", 8, 0),
                ("FLAT_SHADE", 10, u32::from(flat)),
                ("SEL_LINEAR", 12, u32::from(abi.position == Some(number))),
                ("PT_SPRITE_TEX", 17, u32::from(!flat)),
            ],
        ));
    }
    // Which places of a pixel parameters are found at: CENTROIDS_ONLY, CENTERS_ONLY or both.
    let [centers, centroids, samples] = sampled;
    let places = match (centers, centroids) {
        (true, true) => 2,
        (false, true) => 0,
        (_, false) => 1,
    };
    let placed = InputKind::Builtin(Builtin::SamplePosition);
    let placed = func.inputs.values().any(|data| data.kind == placed);
    let per_sample = samples || abi.sample.is_some() || placed;
    list.push(register(
        "SPI_PS_IN_CONTROL_0",
        0x286cc,
        &[
            ("NUM_INTERP", 0, interpolated),
            ("POSITION_ENA", 8, u32::from(abi.position.is_some())),
            ("POSITION_ADDR", 10, abi.position.unwrap_or(0)),
            ("BARYC_SAMPLE_CNTL", 26, places),
            // Peers set it whatever is interpolated, and the other where position is read.
            ("PERSP_GRADIENT_ENA", 28, 1),
            ("LINEAR_GRADIENT_ENA", 29, linear),
            ("POSITION_SAMPLE", 30, u32::from(per_sample && abi.position.is_some())),
            ("BARYC_AT_SAMPLE_ENA", 31, u32::from(samples)),
        ],
    ));
    list.push(register(
        "SPI_PS_IN_CONTROL_1",
        0x286d0,
        &[
            ("FRONT_FACE_ENA", 8, u32::from(abi.face.is_some())),
            ("FRONT_FACE_CHAN", 9, 0),
            // 1.0 and -1.0 in place of 1 and 0, as public drivers have it.
            ("FRONT_FACE_ALL_BITS", 11, 0),
            ("FRONT_FACE_ADDR", 12, abi.face.unwrap_or(0)),
            ("FIXED_PT_POSITION_ENA", 24, u32::from(abi.sample.is_some())),
            ("FIXED_PT_POSITION_ADDR", 25, abi.sample.unwrap_or(0)),
        ],
    ));
    list.push(register(
        "SPI_INTERP_CONTROL_0",
        0x286d4,
        &[
            ("FLAT_SHADE_ENA", 0, 1),
            ("PNT_SPRITE_ENA", 1, u32::from(abi.point.is_some())),
            // s, t, 0, 1; t is 1 at the bottom.
            ("PNT_SPRITE_OVRD_X", 2, 2),
            ("PNT_SPRITE_OVRD_Y", 5, 3),
            ("PNT_SPRITE_OVRD_Z", 8, 0),
            ("PNT_SPRITE_OVRD_W", 11, 1),
            ("PNT_SPRITE_TOP_1", 14, 0),
        ],
    ));
    let pipeline = abi.pipeline.fragment.as_ref();
    let facts = targets::Facts::of(pipeline);
    let mut modes: Vec<Field> = Vec::new();
    if let Some(samples) = facts.samples {
        modes.push(("MSAA_ENABLE", 0, u32::from(samples > 1)));
    }
    if per_sample {
        modes.push(("PS_ITER_SAMPLE", 17, 1));
    }
    if !modes.is_empty() {
        list.push(register("PA_SC_MODE_CNTL", 0x28a4c, &modes));
    }
    list.push(register(
        "SPI_FOG_CNTL",
        0x286dc,
        &[("PASS_FOG_THROUGH_PS", 0, 0), ("PIXEL_FOG_FUNC", 1, 0)],
    ));
    // Shaders test alpha themselves.
    list.push(register(
        "SX_ALPHA_TEST_CONTROL",
        0x28410,
        &[("ALPHA_FUNC", 0, 0), ("ALPHA_TEST_ENABLE", 3, 0), ("ALPHA_TEST_BYPASS", 8, 1)],
    ));
    list.push(register(
        "SPI_INPUT_Z",
        0x286d8,
        &[("PROVIDE_Z_TO_SPI", 0, u32::from(abi.position.is_some()))],
    ));
    let mut colors = 0;
    let mut targets = [0; 8];
    let (mut depth, mut stencil, mut coverage) = (0, 0, 0);
    for slot in &abi.outputs {
        match slot.export {
            Export::Pixel => {
                colors = colors.max(slot.index + 1);
                for component in 0..slot.components {
                    targets[slot.index as usize] |= 1 << (slot.channel + component);
                }
            }
            Export::Depth => match slot.channel {
                0 => depth = 1,
                1 => stencil = 1,
                _ => coverage = 1,
            },
            Export::Position | Export::Parameter => {}
        }
    }
    // Without colours too the program exports one, masked.
    let exported = colors.max(1);
    let mode = exported << 1 | depth | stencil | coverage;
    list.push(register("SQ_PGM_EXPORTS_PS", 0x28854, &[("EXPORT_MODE", 0, mode)]));
    if let Some(pipeline) = pipeline {
        targets::registers(pipeline, abi.chip, &targets, list);
    }
    // A target without a component below one that has some hangs the chip; peers give such ones one, the first all.
    for (target, mask) in targets.iter_mut().take(exported as usize).enumerate() {
        if *mask == 0 {
            *mask = if target == 0 { 15 } else { 1 };
        }
    }
    list.push(register(
        "CB_SHADER_MASK",
        0x2823c,
        &[
            ("OUTPUT0_ENABLE", 0, targets[0]),
            ("OUTPUT1_ENABLE", 4, targets[1]),
            ("OUTPUT2_ENABLE", 8, targets[2]),
            ("OUTPUT3_ENABLE", 12, targets[3]),
            ("OUTPUT4_ENABLE", 16, targets[4]),
            ("OUTPUT5_ENABLE", 20, targets[5]),
            ("OUTPUT6_ENABLE", 24, targets[6]),
            ("OUTPUT7_ENABLE", 28, targets[7]),
        ],
    ));
    // Not in the guide; peers enable every target that the program exports here too, the masked one included.
    list.push(register("CB_SHADER_CONTROL", 0x287a0, &[("RT_ENABLE", 0, (1 << exported) - 1)]));
    // 0 tests behind the program, 1 before it where nothing that the program does forbids it. The other two lock the
    // chips up.
    let early = func.early_fragment_tests;
    let order = u32::from(early || (depth | stencil == 0 && !code.writes_memory));
    // A pixel of one sample has no mask, though the program exports one: docs/errata.md 40.
    let masks = if facts.samples == Some(1) { 0 } else { coverage };
    let stores = |early_ones: bool| u32::from(code.writes_memory && early == early_ones);
    let mut control = vec![
        ("Z_EXPORT_ENABLE", 0, depth),
        ("STENCIL_REF_EXPORT_ENABLE", 1, stencil),
        ("Z_ORDER", 4, order),
        ("KILL_ENABLE", 6, u32::from(code.kills)),
        ("MASK_EXPORT_ENABLE", 8, masks),
        // Hidden pixels store too, unless the tests come before the program.
        ("EXEC_ON_HIER_FAIL", 10, stores(false)),
        ("EXEC_ON_NOOP", 11, stores(true)),
    ];
    if let Some(short) = facts.short_exports {
        control.push((
            "DUAL_EXPORT_ENABLE",
            9,
            u32::from(short && depth | stencil | coverage == 0),
        ));
    }
    list.push(register("DB_SHADER_CONTROL", 0x2880c, &control));
}
