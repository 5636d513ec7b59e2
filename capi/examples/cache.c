/* A driver's cache of shaders: keys, blobs, and what a stale blob is. docs/embedding.md shows it. */
#include "gpucc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SHADER[] =
    "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
    "    out[id.x] = id.x * 3u;\n"
    "}\n";

/* page */
/* A cache of one entry. A driver's has VkPipelineCache's data, or files, under the keys. */
struct cache {
    gpucc_key key;
    uint8_t *blob;
    size_t size;
};

/* The result of a request: out of the cache, or compiled and put there. */
static gpucc_result *result_of(const gpucc_compiler *compiler, const gpucc_request *request,
                               struct cache *cache, int *compiled) {
    gpucc_result *result = NULL;
    gpucc_key key;
    *compiled = 0;
    if (gpucc_request_key(compiler, request, &key) != GPUCC_OK) return NULL;
    if (cache->blob && memcmp(&cache->key, &key, sizeof key) == 0) {
        gpucc_bytes blob = gpucc_bytes_of(cache->blob, cache->size);
        if (gpucc_result_load(compiler, request, &key, blob, &result) == GPUCC_OK) return result;
        /* "the blob is not taken: ...": another build's, or damaged. Compile, and replace it. */
    }
    *compiled = 1;
    if (gpucc_compile(compiler, request, &result) == GPUCC_OK) {
        /* The bytes live as long as the result. The interpreter's results have none. */
        gpucc_bytes blob = gpucc_result_blob(result, &key);
        uint8_t *copy = blob.size ? malloc(blob.size) : NULL;
        if (copy) {
            free(cache->blob);
            memcpy(copy, blob.data, blob.size);
            cache->key = key;
            cache->blob = copy;
            cache->size = blob.size;
        }
    }
    return result;
}
/* end */

int main(void) {
    gpucc_config config = {.struct_size = sizeof config, .target = gpucc_text_of("valhall")};
    gpucc_source source = {.struct_size = sizeof source,
                           .language = GPUCC_LANGUAGE_WGSL,
                           .data = gpucc_bytes_of(SHADER, sizeof SHADER - 1)};
    gpucc_request request = {.struct_size = sizeof request, .source = &source};
    struct cache cache = {.blob = NULL};
    gpucc_compiler *compiler = NULL;
    gpucc_result *results[4];
    /* Not there; there; damaged; there again. */
    const int expected[4] = {1, 0, 1, 0};
    int i, compiled, bad = 0;
    if (gpucc_compiler_create(&config, &compiler) != GPUCC_OK) return 1;
    for (i = 0; i < 4; i++) {
        if (i == 2 && cache.size) cache.blob[cache.size - 1] ^= 1;
        results[i] = result_of(compiler, &request, &cache, &compiled);
        if (!results[i] || !gpucc_result_info(results[i])) return 1;
        bad |= compiled != expected[i];
    }
    if (strncmp(gpucc_last_message().data, "the blob is not taken", 21) != 0) bad = 1;
    for (i = 0; i < 4; i++) {
        gpucc_bytes code = gpucc_result_info(results[i])->code, first = gpucc_result_info(results[0])->code;
        bad |= code.size != first.size || memcmp(code.data, first.data, code.size) != 0;
    }
    for (i = 0; i < 4; i++) gpucc_result_destroy(results[i]);
    free(cache.blob);
    gpucc_compiler_destroy(compiler);
    if (bad) fprintf(stderr, "%s\n", gpucc_last_message().data);
    return bad;
}
