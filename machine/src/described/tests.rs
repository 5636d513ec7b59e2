//! Every kind of place, setting and constant goes to text and comes back, by the names that the contract has.

use super::*;
use serde_json::{Value, json};

/// The text of a part is this, and reads back to the part.
fn both<T>(part: &T, text: Value)
where
    T: Serialize + for<'a> Deserialize<'a> + PartialEq + std::fmt::Debug,
{
    assert_eq!(serde_json::to_value(part).expect("plain data"), text);
    let back: T = serde_json::from_value(text).expect("it was written so");
    assert_eq!(back, *part);
}

fn input(place: InputPlace) -> StageInput {
    StageInput {
        which: Which::Location(2),
        name: "uv".into(),
        components: 2,
        place,
        vertex: None,
        interpolation: None,
        sampling: None,
        semantic: None,
        attribute: None,
        input: None,
    }
}

#[test]
fn inputs() {
    let at = |place: Value| {
        let mut text = json!({"location": 2, "name": "uv", "components": 2});
        let object = text.as_object_mut().expect("an object");
        object.extend(place.as_object().expect("an object").clone());
        text
    };
    both(
        &StageInput {
            interpolation: Some(Interpolation::Linear),
            semantic: Some(3),
            ..input(InputPlace::Channel { register: Some(1), channel: 2 })
        },
        at(json!({"register": 1, "channel": 2, "interpolation": "linear", "semantic": 3})),
    );
    let nowhere = InputPlace::Channel { register: None, channel: 0 };
    both(&input(nowhere), at(json!({"register": null, "channel": 0})));
    both(&input(InputPlace::Register { register: 60 }), at(json!({"register": 60})));
    both(
        &StageInput {
            sampling: Some(Sampling::Centroid),
            ..input(InputPlace::Record { varying: 32 })
        },
        at(json!({"varying": 32, "sampling": "centroid"})),
    );
    let attribute = |place| Attribute {
        place,
        offset: 4,
        format: "unorm8x4".into(),
        stride: 16,
        step: Step::Instance,
    };
    for (place, told) in [
        (
            AttributePlace::Resource { resource: 161 },
            json!({"resource": 161, "offset": 4, "format": "unorm8x4", "stride": 16, "step": "instance"}),
        ),
        (
            AttributePlace::Descriptors { index: 1, buffer: 2 },
            json!({"index": 1, "buffer": 2, "offset": 4, "format": "unorm8x4", "stride": 16, "step": "instance"}),
        ),
    ] {
        both(
            &StageInput { attribute: Some(attribute(place)), ..input(InputPlace::Elsewhere {}) },
            at(json!({"attribute": told})),
        );
    }
    let unknown = at(json!({"varying": 32, "interpolation": "cubic"}));
    assert!(serde_json::from_value::<StageInput>(unknown).is_err());
}

#[test]
fn outputs() {
    let of = |place| StageOutput {
        which: Which::Builtin("position".into()),
        name: String::new(),
        components: 4,
        place,
        output: None,
    };
    let places = [
        (
            OutputPlace::Export {
                export: Export::Parameter,
                index: 1,
                channel: 0,
                semantic: Some(2),
            },
            json!({"export": "parameter", "index": 1, "channel": 0, "semantic": 2}),
        ),
        (
            OutputPlace::Export { export: Export::Depth, index: 61, channel: 1, semantic: None },
            json!({"export": "depth", "index": 61, "channel": 1}),
        ),
        (
            OutputPlace::Blend { format: Handed::F16, source: 1, place: Memory::Blend, index: 3 },
            json!({"format": "f16", "source": 1, "place": "blend", "index": 3}),
        ),
        (
            OutputPlace::Stream { buffer: 2, place: Memory::TransformFeedback, index: 12 },
            json!({"buffer": 2, "place": "transform_feedback", "index": 12}),
        ),
        (
            OutputPlace::Indexed { place: Memory::Varying, index: 16 },
            json!({"place": "varying", "index": 16}),
        ),
        (OutputPlace::Single { place: Memory::PointSize }, json!({"place": "point_size"})),
        (OutputPlace::Register { register: 7 }, json!({"register": 7})),
    ];
    for (place, told) in places {
        let mut text = json!({"builtin": "position", "name": "", "components": 4});
        let object = text.as_object_mut().expect("an object");
        object.extend(told.as_object().expect("an object").clone());
        both(&of(place), text);
    }
}

#[test]
fn settings() {
    let fields: Named<u32> = [("NUM_GPRS", 3)].into_iter().collect();
    both(
        &Setting::Register { address: 0x28850, value: 3, mask: 255, fields: fields.clone() },
        json!({"address": 0x28850, "value": 3, "mask": 255, "fields": {"NUM_GPRS": 3}}),
    );
    both(
        &Setting::Descriptor { words: vec![3, 0], mask: vec![255, 0], fields },
        json!({"words": [3, 0], "mask": [255, 0], "fields": {"NUM_GPRS": 3}}),
    );
    both(
        &Setting::Programs(vec![ProgramState {
            offset: 0,
            bytes: 64,
            preload: 3,
            registers: 5,
            work_registers: 32,
        }]),
        json!([{"offset": 0, "bytes": 64, "preload": 3, "registers": 5, "work_registers": 32}]),
    );
    both(
        &Setting::Tables(vec![TableUse { table: 6, entries: 2 }]),
        json!([{"table": 6, "entries": 2}]),
    );
    both(
        &Setting::ConstantBuffers(vec![ConstantBuffer { index: 1, words: vec![7] }]),
        json!([{"index": 1, "words": [7]}]),
    );
    both(&Setting::Number(48), json!(48));
}

#[test]
fn driver_constants() {
    let binding = BindingName { group: 0, binding: 1, element: None, resource: None };
    let told = json!({"group": 0, "binding": 1});
    let words = [
        (Driven::NumWorkgroups { axis: Some(2) }, json!({"what": "num_workgroups", "axis": 2})),
        (Driven::NumWorkgroups { axis: None }, json!({"what": "num_workgroups"})),
        (Driven::Draw, json!({"what": "draw"})),
        (
            Driven::StorageBuffer { aperture_index: 1 },
            json!({"what": "storage_buffer", "aperture_index": 1}),
        ),
        (Driven::WorkgroupMemory, json!({"what": "workgroup_memory"})),
        (Driven::Image { binding }, json!({"what": "image", "binding": told})),
        (Driven::Constant { bits: 9 }, json!({"what": "constant", "bits": 9})),
        (
            Driven::Uniform { binding, offset: 8 },
            json!({"what": "uniform", "binding": told, "offset": 8}),
        ),
        (Driven::FirstVertex, json!({"what": "first_vertex"})),
        (Driven::FirstInstance, json!({"what": "first_instance"})),
        (Driven::VertexCount, json!({"what": "vertex_count"})),
        (
            Driven::StreamAddress { buffer: 3, high: true },
            json!({"what": "stream_address", "buffer": 3, "high": true}),
        ),
        (Driven::ViewportScale { axis: 1 }, json!({"what": "viewport_scale", "axis": 1})),
        (Driven::ViewportOffset { axis: 1 }, json!({"what": "viewport_offset", "axis": 1})),
        (
            Driven::BufferSize { binding, element: 4 },
            json!({"what": "buffer_size", "binding": told, "element": 4}),
        ),
        (
            Driven::Pitch { binding, element: 0 },
            json!({"what": "pitch", "binding": told, "element": 0}),
        ),
        (
            Driven::Rows { binding, element: 1 },
            json!({"what": "rows", "binding": told, "element": 1}),
        ),
        (
            Driven::Sampler { binding, element: 2, number: 3 },
            json!({"what": "sampler", "binding": told, "element": 2, "number": 3}),
        ),
        (Driven::DrawIndex, json!({"what": "draw_index"})),
        (Driven::ViewIndex, json!({"what": "view_index"})),
        (Driven::Unused, json!({"what": "unused"})),
    ];
    for (word, text) in words {
        both(&DriverConstant { constant: None, word: DriverWord::Other(word) }, text);
    }
    both(
        &DriverConstant {
            constant: Some(5),
            word: DriverWord::OfImage {
                what: ImageWord::EdgeHighX,
                binding: BindingName { element: Some(1), ..binding },
                element: 1,
            },
        },
        json!({"constant": 5, "what": "edge_high_x", "binding": {"group": 0, "binding": 1, "element": 1}, "element": 1}),
    );
}

#[test]
fn tables_and_dispatches() {
    let memory = Code::of(&[1, 0xab]);
    assert_eq!(memory.hex, "01ab");
    assert_eq!(memory.to_bytes(), [1, 0xab]);
    both(
        &Tables { resource: 15, stride: 16, memory },
        json!({"resource": 15, "stride": 16, "bytes": 2, "hex": "01ab"}),
    );
    both(
        &Dispatch {
            workgroup_size: [8, 8, 1],
            takes: Takes::Threads { threads_per_workgroup: 64, workgroup_dwords: 3 },
        },
        json!({"workgroup_size": [8, 8, 1], "threads_per_workgroup": 64, "workgroup_dwords": 3}),
    );
    both(
        &Dispatch { workgroup_size: [8, 8, 1], takes: Takes::Memory { workgroup_bytes: 4 } },
        json!({"workgroup_size": [8, 8, 1], "workgroup_bytes": 4}),
    );
}
