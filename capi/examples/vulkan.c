/* A Vulkan driver's calls: modules, a pipeline with a specialised constant, and a draw on the emulated machine to test it.
 * docs/embedding.md shows the first part. */
#include "gpucc.h"

#include <stdio.h>
#include <string.h>

/* page */
/* vkCreateShaderModule: the words are read once, and are not needed any more. */
static gpucc_parsed *module_of(const gpucc_compiler *compiler, const uint32_t *words, size_t size) {
    gpucc_source source = {.struct_size = sizeof source,
                           .language = GPUCC_LANGUAGE_SPIRV,
                           .name = gpucc_text_of("module"),
                           .data = gpucc_bytes_of(words, size)};
    gpucc_parsed *module = NULL;
    gpucc_parse(compiler, &source, NULL, &module);
    return module;
}

/* vkCreateGraphicsPipelines: the state of the pipeline, the constants of a stage's
 * VkSpecializationInfo by number, and the two stages, which are linked. */
static gpucc_status pipeline_of(const gpucc_compiler *compiler, const gpucc_parsed *vertex_module,
                                const gpucc_parsed *fragment_module, gpucc_result **vertex,
                                gpucc_result **fragment) {
    gpucc_attribute attribute = {.struct_size = sizeof attribute,
                                 .location = 0,
                                 .format = gpucc_text_of("float32x2")};
    gpucc_vertex_buffer buffer = {.struct_size = sizeof buffer, .stride = 8};
    gpucc_vertex_state input = {.struct_size = sizeof input,
                                .without_points = 1,
                                .attributes = &attribute,
                                .attribute_count = 1,
                                .buffers = &buffer,
                                .buffer_count = 1};
    gpucc_blend_component over = {GPUCC_BLEND_ADD, GPUCC_FACTOR_ONE,
                                  GPUCC_FACTOR_ONE_MINUS_SRC_ALPHA};
    gpucc_color_target target = {.struct_size = sizeof target,
                                 .write_mask = 15,
                                 .format = gpucc_text_of("rgba8unorm"),
                                 .blends = 1,
                                 .color = over,
                                 .alpha = over};
    gpucc_fragment_state output = {.struct_size = sizeof output,
                                   .samples = 1,
                                   .targets = &target,
                                   .target_count = 1};
    gpucc_pipeline state = {.struct_size = sizeof state, .vertex = &input, .fragment = &output};
    gpucc_override depth = {.struct_size = sizeof depth,
                            .name = gpucc_text_of("0"),
                            .value = 0.25};
    gpucc_options plain = {.struct_size = sizeof plain, .robust = GPUCC_ROBUST_ZERO};
    gpucc_options special = plain;
    special.overrides = &depth;
    special.override_count = 1;
    gpucc_request vs = {.struct_size = sizeof vs,
                        .entry = gpucc_text_of("main"),
                        .parsed = vertex_module,
                        .options = &special,
                        .pipeline = &state};
    gpucc_request fs = vs;
    fs.parsed = fragment_module;
    fs.options = &plain;
    return gpucc_compile_pair(compiler, &vs, &fs, vertex, fragment);
}

/* What the driver keeps of a stage: code to upload, registers to write, words to fill. */
static size_t registers_of(const gpucc_result *result, uint32_t (*writes)[2], size_t room) {
    const gpucc_info *info = gpucc_result_info(result);
    size_t count = 0;
    for (size_t i = 0; i < info->setting_count && count < room; i++) {
        const gpucc_setting *setting = info->settings[i];
        if (setting->kind == GPUCC_SETTING_REGISTER) {
            writes[count][0] = setting->address;
            writes[count++][1] = setting->value; /* the bits of setting->mask are the shader's */
        }
    }
    return count;
}
/* end */

static const uint32_t VERTEX[] = {
    0x7230203, 0x10000, 0x8000b, 0x1e, 0, 0x20011, 1, 0x6000b, 1, 0x4c534c47, 0x6474732e,
    0x3035342e, 0, 0x3000e, 0, 1, 0x8000f, 0, 4, 0x6e69616d, 0, 0xd, 0x12, 0x1c, 0x50048, 0xb, 0,
    0xb, 0, 0x50048, 0xb, 1, 0xb, 1, 0x50048, 0xb, 2, 0xb, 3, 0x50048, 0xb, 3, 0xb, 4, 0x30047,
    0xb, 2, 0x40047, 0x12, 0x1e, 0, 0x40047, 0x14, 1, 0, 0x40047, 0x1c, 0x1e, 0, 0x20013, 2,
    0x30021, 3, 2, 0x30016, 6, 0x20, 0x40017, 7, 6, 4, 0x40015, 8, 0x20, 0, 0x4002b, 8, 9, 1,
    0x4001c, 0xa, 6, 9, 0x6001e, 0xb, 7, 6, 0xa, 0xa, 0x40020, 0xc, 3, 0xb, 0x4003b, 0xc, 0xd, 3,
    0x40015, 0xe, 0x20, 1, 0x4002b, 0xe, 0xf, 0, 0x40017, 0x10, 6, 2, 0x40020, 0x11, 1, 0x10,
    0x4003b, 0x11, 0x12, 1, 0x40032, 6, 0x14, 0, 0x4002b, 6, 0x15, 0x3f800000, 0x40020, 0x19, 3,
    7, 0x40020, 0x1b, 3, 0x10, 0x4003b, 0x1b, 0x1c, 3, 0x50036, 2, 4, 0, 3, 0x200f8, 5, 0x4003d,
    0x10, 0x13, 0x12, 0x50051, 6, 0x16, 0x13, 0, 0x50051, 6, 0x17, 0x13, 1, 0x70050, 7, 0x18,
    0x16, 0x17, 0x14, 0x15, 0x50041, 0x19, 0x1a, 0xd, 0xf, 0x3003e, 0x1a, 0x18, 0x4003d, 0x10,
    0x1d, 0x12, 0x3003e, 0x1c, 0x1d, 0x100fd, 0x10038,
};

static const uint32_t FRAGMENT[] = {
    0x7230203, 0x10000, 0x8000b, 0x1c, 0, 0x20011, 1, 0x6000b, 1, 0x4c534c47, 0x6474732e,
    0x3035342e, 0, 0x3000e, 0, 1, 0x7000f, 4, 4, 0x6e69616d, 0, 9, 0x15, 0x30010, 4, 7, 0x40047,
    9, 0x1e, 0, 0x50048, 0xa, 0, 0x23, 0, 0x30047, 0xa, 2, 0x40047, 0x15, 0x1e, 0, 0x20013, 2,
    0x30021, 3, 2, 0x30016, 6, 0x20, 0x40017, 7, 6, 4, 0x40020, 8, 3, 7, 0x4003b, 8, 9, 3,
    0x3001e, 0xa, 7, 0x40020, 0xb, 9, 0xa, 0x4003b, 0xb, 0xc, 9, 0x40015, 0xd, 0x20, 1, 0x4002b,
    0xd, 0xe, 0, 0x40020, 0xf, 9, 7, 0x4002b, 6, 0x12, 0, 0x40017, 0x13, 6, 2, 0x40020, 0x14, 1,
    0x13, 0x4003b, 0x14, 0x15, 1, 0x50036, 2, 4, 0, 3, 0x200f8, 5, 0x50041, 0xf, 0x10, 0xc, 0xe,
    0x4003d, 7, 0x11, 0x10, 0x4003d, 0x13, 0x16, 0x15, 0x5008e, 0x13, 0x17, 0x16, 0x12, 0x50051,
    6, 0x18, 0x17, 0, 0x50051, 6, 0x19, 0x17, 1, 0x70050, 7, 0x1a, 0x18, 0x19, 0x12, 0x12,
    0x50081, 7, 0x1b, 0x11, 0x1a, 0x3003e, 9, 0x1b, 0x100fd, 0x10038,
};

#define TRY(call) if ((call) != GPUCC_OK) return fprintf(stderr, "%s: %s\n", #call, gpucc_last_message().data), 1

int main(void) {
    gpucc_config config = {.struct_size = sizeof config,
                           .target = gpucc_text_of("r700"),
                           .chip = gpucc_text_of("rv730")};
    gpucc_compiler *compiler = NULL;
    gpucc_result *vertex = NULL, *fragment = NULL;
    gpucc_device *device = NULL;
    const float corners[] = {-1, -1, 3, -1, -1, 3}, tint[] = {0, 0.5, 0, 0.5};
    gpucc_place push = {.struct_size = sizeof push, .is_immediate = 1};
    gpucc_image image = {.struct_size = sizeof image, .width = 4, .height = 4, .depth = 1, .layers = 1,
                         .levels = 1, .samples = 1, .format = gpucc_text_of("rgba8unorm")};
    gpucc_draw draw = {.struct_size = sizeof draw, .vertices = 3, .instances = 1};
    uint8_t pixels[4 * 4 * 4];
    uint32_t writes[64][2];
    size_t size = 0;
    TRY(gpucc_compiler_create(&config, &compiler));
    gpucc_parsed *vertex_module = module_of(compiler, VERTEX, sizeof VERTEX);
    gpucc_parsed *fragment_module = module_of(compiler, FRAGMENT, sizeof FRAGMENT);
    TRY(pipeline_of(compiler, vertex_module, fragment_module, &vertex, &fragment));
    gpucc_parsed_destroy(vertex_module);
    gpucc_parsed_destroy(fragment_module);
    if (registers_of(vertex, writes, 64) == 0 || registers_of(fragment, writes, 64) == 0) return 1;
    memset(pixels, 0xff, sizeof pixels);
    TRY(gpucc_device_create(vertex, fragment, &device));
    TRY(gpucc_device_bind_buffer(device, &push, gpucc_bytes_of(tint, sizeof tint)));
    TRY(gpucc_device_vertex_buffer(device, 0, gpucc_bytes_of(corners, sizeof corners)));
    TRY(gpucc_device_set_target(device, 0, &image, gpucc_bytes_of(pixels, sizeof pixels)));
    TRY(gpucc_device_draw(device, &draw));
    TRY(gpucc_device_read_target(device, 0, pixels, sizeof pixels, &size));
    /* Half of white, and half of green over it. */
    for (size_t i = 0; i < sizeof pixels; i += 4) {
        if (pixels[i] != 0x7f && pixels[i] != 0x80) return fprintf(stderr, "red %u\n", pixels[i]), 1;
        if (pixels[i + 1] != 0xff) return fprintf(stderr, "green %u\n", pixels[i + 1]), 1;
    }
    gpucc_device_destroy(device);
    gpucc_result_destroy(vertex);
    gpucc_result_destroy(fragment);
    gpucc_compiler_destroy(compiler);
    return 0;
}
