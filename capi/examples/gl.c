/* A GL driver's calls: glShaderSource and glLinkProgram, then a draw on the emulated machine to test it. docs/embedding.md
 * shows the first part. */
#include "gpucc.h"

#include <stdio.h>

/* page */
/* glCompileShader: the text of one stage. The info log is the outcome's diagnostics. */
static gpucc_parsed *shader_of(const gpucc_compiler *compiler, uint32_t stage, const char *text) {
    gpucc_source source = {.struct_size = sizeof source,
                           .language = GPUCC_LANGUAGE_GLSL,
                           .stage = stage,
                           .name = gpucc_text_of("shader"),
                           .data = gpucc_bytes_of(text, gpucc_text_of(text).size)};
    gpucc_parsed *shader = NULL;
    if (gpucc_parse(compiler, &source, NULL, &shader) != GPUCC_OK && shader) {
        const gpucc_outcome *outcome = gpucc_parsed_outcome(shader);
        for (size_t i = 0; i < outcome->diagnostic_count; i++) {
            const gpucc_diagnostic *one = outcome->diagnostics[i];
            fprintf(stderr, "0:%u: %s\n", one->line, one->message.data);
        }
    }
    return shader;
}

/* glLinkProgram: a location of one stage is fed by the same location of the other. GL links by
 * name: a driver writes `location` into the texts, or sets it in what it makes of them. */
static gpucc_status program_of(const gpucc_compiler *compiler, const gpucc_parsed *vertex,
                               const gpucc_parsed *fragment, gpucc_result *program[2]) {
    gpucc_request vs = {.struct_size = sizeof vs, .parsed = vertex};
    gpucc_request fs = {.struct_size = sizeof fs, .parsed = fragment};
    return gpucc_compile_pair(compiler, &vs, &fs, &program[0], &program[1]);
}

/* glGetUniformLocation and where a uniform goes: the constants that the driver fills. */
static void print_uniforms(const gpucc_result *result) {
    const gpucc_info *info = gpucc_result_info(result);
    for (size_t i = 0; i < info->binding_count; i++) {
        const gpucc_binding *binding = info->bindings[i];
        for (size_t k = 0; k < binding->slot_count; k++) {
            printf("%s: entry %u of %s\n", binding->name.data, (unsigned)binding->slots[k].value,
                   binding->slots[k].name.data);
        }
    }
}
/* end */

#define TRY(call) if ((call) != GPUCC_OK) return fprintf(stderr, "%s: %s\n", #call, gpucc_last_message().data), 1

int main(void) {
    gpucc_config config = {.struct_size = sizeof config, .target = gpucc_text_of("g45")};
    gpucc_compiler *compiler = NULL;
    gpucc_result *program[2] = {NULL, NULL};
    gpucc_device *device = NULL;
    const float corners[] = {-1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1}, tint[] = {1, 0, 1, 1};
    gpucc_place place = {.struct_size = sizeof place};
    gpucc_image image = {.struct_size = sizeof image, .width = 4, .height = 4, .depth = 1, .layers = 1,
                         .levels = 1, .samples = 1, .format = gpucc_text_of("rgba8unorm")};
    gpucc_draw draw = {.struct_size = sizeof draw, .vertices = 3, .instances = 1};
    uint8_t pixels[4 * 4 * 4];
    size_t size = 0;
    TRY(gpucc_compiler_create(&config, &compiler));
    gpucc_parsed *vertex = shader_of(compiler, GPUCC_STAGE_VERTEX,
        "#version 130\nin vec4 position;\nvoid main() { gl_Position = position; }\n");
    gpucc_parsed *fragment = shader_of(compiler, GPUCC_STAGE_FRAGMENT,
        "#version 130\nuniform vec4 tint;\nout vec4 colour;\nvoid main() { colour = tint; }\n");
    TRY(program_of(compiler, vertex, fragment, program));
    gpucc_parsed_destroy(vertex);
    gpucc_parsed_destroy(fragment);
    print_uniforms(program[1]);
    TRY(gpucc_device_create(program[0], program[1], &device));
    const gpucc_info *info = gpucc_result_info(program[1]);
    if (info->binding_count != 1) return fprintf(stderr, "%zu bindings\n", info->binding_count), 1;
    place.group = info->bindings[0]->group;
    place.binding = info->bindings[0]->binding;
    TRY(gpucc_device_bind_buffer(device, &place, gpucc_bytes_of(tint, sizeof tint)));
    TRY(gpucc_device_vertex_buffer(device, 0, gpucc_bytes_of(corners, sizeof corners)));
    TRY(gpucc_device_set_target(device, 0, &image, gpucc_bytes_of(NULL, 0)));
    TRY(gpucc_device_draw(device, &draw));
    TRY(gpucc_device_read_target(device, 0, pixels, sizeof pixels, &size));
    for (size_t i = 0; i < sizeof pixels; i++) {
        if (pixels[i] != (i % 4 == 1 ? 0 : 0xff)) return fprintf(stderr, "byte %zu is %u\n", i, pixels[i]), 1;
    }
    gpucc_device_destroy(device);
    gpucc_result_destroy(program[0]);
    gpucc_result_destroy(program[1]);
    gpucc_compiler_destroy(compiler);
    return 0;
}
