/* What a driver does with gpucc: a linked pair and a compute shader for the machine that is named, their state printed, run
 * on the emulated machine, and the results checked.
 *
 *     consumer TARGET
 *
 * A C11 and a C++17 program. */
#include "gpucc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char PAIR[] =
    "struct Corner { @builtin(position) position: vec4f, @location(0) colour: vec4f,\n"
    "                @location(1) unread: vec4f }\n"
    "@group(0) @binding(0) var<uniform> tint: vec4f;\n"
    "@vertex fn corner(@location(0) position: vec2f, @location(1) colour: vec4f) -> Corner {\n"
    "    return Corner(vec4f(position, 0.5, 1.0), colour, colour);\n"
    "}\n"
    "@fragment fn shade(corner: Corner) -> @location(0) vec4f { return corner.colour * tint; }\n";

static const char SUM[] =
    "override scale = 1u;\n"
    "@group(0) @binding(0) var<uniform> seed: vec4u;\n"
    "@group(0) @binding(1) var<storage, read_write> out: array<u32>;\n"
    "@compute @workgroup_size(32) fn sum(@builtin(global_invocation_id) id: vec3u) {\n"
    "    out[id.x] = id.x * scale + seed.y;\n"
    "}\n";

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, gpucc_last_message().data);
    return 1;
}

static void print_state(const gpucc_info *info) {
    size_t i, k;
    printf("%s %s '%s': %zu bytes of code, %" PRIu64 " instructions\n", info->target.data, info->chip.data,
           info->entry.data, info->code.size, info->stats->instructions);
    for (i = 0; i < info->program_count; i++) {
        printf("  program '%s': byte %" PRIu64 ", %zu bytes\n", info->programs[i]->name.data,
               info->programs[i]->offset, info->programs[i]->code.size);
    }
    for (i = 0; i < info->binding_count; i++) {
        const gpucc_binding *binding = info->bindings[i];
        for (k = 0; k < binding->slot_count; k++) {
            printf("  binding %u.%u: entry %" PRIu64 " of %s\n", binding->group, binding->binding,
                   binding->slots[k].value, binding->slots[k].name.data);
        }
    }
    for (i = 0; i < info->setting_count; i++) {
        const gpucc_setting *setting = info->settings[i];
        switch (setting->kind) {
        case GPUCC_SETTING_REGISTER:
            printf("  %s: %08x to %x, bits %08x\n", setting->name.data, setting->value, setting->address,
                   setting->mask);
            break;
        case GPUCC_SETTING_DESCRIPTOR:
            printf("  %s: %zu words, %zu fields\n", setting->name.data, setting->word_count,
                   setting->field_count);
            break;
        case GPUCC_SETTING_NUMBER:
            printf("  %s: %u\n", setting->name.data, setting->value);
            break;
        default:
            printf("  %s\n", setting->name.data);
        }
    }
}

static gpucc_source source_of(const char *text) {
    gpucc_source source;
    memset(&source, 0, sizeof source);
    source.struct_size = sizeof source;
    source.language = GPUCC_LANGUAGE_WGSL;
    source.name = gpucc_text_of("consumer.wgsl");
    source.data = gpucc_bytes_of(text, strlen(text));
    return source;
}

/* A compute shader with a specialised constant, from a parsed source. */
static int compute(const gpucc_compiler *compiler) {
    gpucc_source source = source_of(SUM);
    gpucc_parsed *parsed = NULL;
    gpucc_override scale;
    gpucc_options options;
    gpucc_request request;
    gpucc_result *result = NULL;
    gpucc_device *device = NULL;
    gpucc_place place;
    gpucc_verification proof;
    const uint32_t seed[4] = {0, 5, 0, 0};
    uint32_t out[64];
    size_t size = 0, i;
    memset(&scale, 0, sizeof scale);
    scale.struct_size = sizeof scale;
    scale.name = gpucc_text_of("scale");
    scale.value = 3.0;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.keep_steps = 1;
    options.overrides = &scale;
    options.override_count = 1;
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.stage = GPUCC_STAGE_COMPUTE;
    request.options = &options;
    if (gpucc_parse(compiler, &source, NULL, &parsed) != GPUCC_OK) return failed("parse");
    request.parsed = parsed;
    if (gpucc_compile(compiler, &request, &result) == GPUCC_REFUSED) {
        /* Silicon without stores to memory: the manual's section says so. */
        const gpucc_outcome *outcome = gpucc_result_outcome(result);
        printf("refused: %s (%s)\n", outcome->subject.data, outcome->reason.data);
        gpucc_parsed_destroy(parsed);
        gpucc_result_destroy(result);
        return 0;
    }
    if (!gpucc_result_info(result)) return failed("compile");
    gpucc_parsed_destroy(parsed);
    print_state(gpucc_result_info(result));
    if (gpucc_verify(result, 4, 1, &proof) != GPUCC_OK) return failed("verify");
    /* What a cache keeps of it, and makes of that again. The interpreter has no code to keep. */
    if (strcmp(gpucc_result_info(result)->target.data, "interp") != 0) {
        gpucc_result *loaded = NULL;
        gpucc_bytes blob;
        gpucc_key key;
        request.parsed = NULL;
        request.source = &source;
        if (gpucc_request_key(compiler, &request, &key) != GPUCC_OK) return failed("key");
        blob = gpucc_result_blob(result, &key);
        if (!blob.data) return failed("blob");
        if (gpucc_result_load(compiler, &request, &key, blob, &loaded) != GPUCC_OK) return failed("load");
        gpucc_result_destroy(result);
        result = loaded;
    }
    if (gpucc_device_create(result, NULL, &device) != GPUCC_OK) return failed("device");
    memset(&place, 0, sizeof place);
    place.struct_size = sizeof place;
    if (gpucc_device_bind_buffer(device, &place, gpucc_bytes_of(seed, sizeof seed)) != GPUCC_OK)
        return failed("bind");
    place.binding = 1;
    memset(out, 0, sizeof out);
    if (gpucc_device_bind_buffer(device, &place, gpucc_bytes_of(out, sizeof out)) != GPUCC_OK)
        return failed("bind");
    if (gpucc_device_dispatch(device, 2, 1, 1) != GPUCC_OK) return failed("dispatch");
    if (gpucc_device_read(device, &place, (uint8_t *)out, sizeof out, &size) != GPUCC_OK) return failed("read");
    for (i = 0; i < 64; i++) {
        if (size != sizeof out || out[i] != 3 * i + 5) {
            fprintf(stderr, "out[%zu] is %u\n", i, out[i]);
            return 1;
        }
    }
    gpucc_device_destroy(device);
    gpucc_result_destroy(result);
    return 0;
}

/* A pair with its whole pipeline, which covers a target of 8 by 8 pixels. */
static int draw(const gpucc_compiler *compiler) {
    gpucc_source source = source_of(PAIR);
    gpucc_attribute attributes[2];
    gpucc_vertex_buffer buffer;
    gpucc_vertex_state vertex;
    gpucc_color_target target;
    gpucc_fragment_state fragment;
    gpucc_pipeline pipeline;
    gpucc_request request;
    gpucc_result *vs = NULL, *fs = NULL, *kernels[8];
    gpucc_device *device = NULL;
    gpucc_place place;
    gpucc_image image;
    gpucc_draw call;
    const float tint[4] = {1.0f, 0.0f, 1.0f, 1.0f};
    const float corners[3][6] = {
        {-1, -1, 1, 1, 0, 1}, {3, -1, 1, 1, 0, 1}, {-1, 3, 1, 1, 0, 1}};
    uint8_t pixels[8 * 8 * 4];
    size_t size = 0, count = 0, i;
    memset(attributes, 0, sizeof attributes);
    attributes[0].struct_size = attributes[1].struct_size = sizeof attributes[0];
    attributes[0].format = gpucc_text_of("float32x2");
    attributes[1].location = 1;
    attributes[1].format = gpucc_text_of("float32x4");
    attributes[1].offset = 8;
    memset(&buffer, 0, sizeof buffer);
    buffer.struct_size = sizeof buffer;
    buffer.stride = sizeof corners[0];
    memset(&vertex, 0, sizeof vertex);
    vertex.struct_size = sizeof vertex;
    vertex.attributes = attributes;
    vertex.attribute_count = 2;
    vertex.buffers = &buffer;
    vertex.buffer_count = 1;
    memset(&target, 0, sizeof target);
    target.struct_size = sizeof target;
    target.format = gpucc_text_of("rgba8unorm");
    target.write_mask = 15;
    memset(&fragment, 0, sizeof fragment);
    fragment.struct_size = sizeof fragment;
    fragment.samples = 1;
    fragment.targets = &target;
    fragment.target_count = 1;
    memset(&pipeline, 0, sizeof pipeline);
    pipeline.struct_size = sizeof pipeline;
    pipeline.vertex = &vertex;
    pipeline.fragment = &fragment;
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.source = &source;
    request.pipeline = &pipeline;
    if (gpucc_compile_pair(compiler, &request, &request, &vs, &fs) != GPUCC_OK) return failed("pair");
    print_state(gpucc_result_info(vs));
    print_state(gpucc_result_info(fs));
    if (gpucc_compile_kernels(compiler, vs, fs, kernels, 8, &count) != GPUCC_OK) return failed("kernels");
    for (i = 0; i < count; i++) {
        print_state(gpucc_result_info(kernels[i]));
        gpucc_result_destroy(kernels[i]);
    }
    if (gpucc_device_create(vs, fs, &device) != GPUCC_OK) return failed("device");
    memset(&place, 0, sizeof place);
    place.struct_size = sizeof place;
    memset(&image, 0, sizeof image);
    image.struct_size = sizeof image;
    image.width = image.height = 8;
    image.depth = image.layers = image.levels = image.samples = 1;
    image.format = target.format;
    memset(&call, 0, sizeof call);
    call.struct_size = sizeof call;
    call.vertices = 3;
    call.instances = 1;
    if (gpucc_device_bind_buffer(device, &place, gpucc_bytes_of(tint, sizeof tint)) != GPUCC_OK ||
        gpucc_device_vertex_buffer(device, 0, gpucc_bytes_of(corners, sizeof corners)) != GPUCC_OK ||
        gpucc_device_set_target(device, 0, &image, gpucc_bytes_of(NULL, 0)) != GPUCC_OK ||
        gpucc_device_draw(device, &call) != GPUCC_OK ||
        gpucc_device_read_target(device, 0, pixels, sizeof pixels, &size) != GPUCC_OK)
        return failed("draw");
    for (i = 0; i < sizeof pixels; i += 4) {
        if (size != sizeof pixels || memcmp(&pixels[i], "\xff\0\0\xff", 4) != 0) {
            fprintf(stderr, "pixel %zu is %02x%02x%02x%02x\n", i / 4, pixels[i], pixels[i + 1], pixels[i + 2],
                    pixels[i + 3]);
            return 1;
        }
    }
    gpucc_device_destroy(device);
    gpucc_result_destroy(vs);
    gpucc_result_destroy(fs);
    return 0;
}

int main(int argc, char **argv) {
    gpucc_config config;
    gpucc_compiler *compiler = NULL;
    int bad;
    if (argc != 2 || gpucc_abi_version() != GPUCC_ABI_VERSION) {
        fprintf(stderr, "usage: consumer TARGET, with the library of this header\n");
        return 2;
    }
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.target = gpucc_text_of(argv[1]);
    if (gpucc_compiler_create(&config, &compiler) != GPUCC_OK) return failed("compiler");
    bad = compute(compiler) | draw(compiler);
    gpucc_compiler_destroy(compiler);
    if (!bad) printf("%s: right\n", argv[1]);
    return bad;
}
