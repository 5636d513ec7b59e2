/* What a driver's caches gain: COMPILES compilations of up to 50 entry points, without a cache, with a map of keys to blobs,
 * and with a folder of blobs. Each way is a process of its own that begins anew, so that its memory is its own.
 *
 *     bench TARGET COMPILES FILE.wgsl...
 *     bench --constants TARGET COMPILES FILE CONSTANT
 *
 * The second compiles one source that often, each time with another value of a constant: read again, and from a kept parse. A line for each: microseconds of the median and of the 95th percentile, the peak of memory in KiB, hits. It is for Linux. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "gpucc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 50, MODE_NONE = 0, MODE_MAP = 1, MODE_FOLDER = 2 };

static gpucc_source sources[MOST];
static gpucc_request requests[MOST];
static char *texts[MOST], *names[MOST], *paths[MOST];
static gpucc_key map_keys[MOST];
static char *map_blobs[MOST];
static size_t map_sizes[MOST];
static size_t shader_count, map_count;
static char folder[] = "/tmp/gpucc-bench-XXXXXX";

static int failed(const char *what) {
    fprintf(stderr, "bench: %s: %s\n", what, gpucc_last_message().data);
    return 1;
}

/* All of a file with a zero byte behind it, or null. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long length;
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes = malloc((size_t)length + 1);
        if (bytes) {
            *size = fread(bytes, 1, (size_t)length, file);
            bytes[*size] = 0;
        }
    }
    fclose(file);
    return bytes;
}

/* The entry points of a file that the machine takes. */
static void add(const gpucc_compiler *compiler, char *path, const char *text) {
    gpucc_source source = {.struct_size = sizeof source,
                           .language = GPUCC_LANGUAGE_WGSL,
                           .data = gpucc_bytes_of(text, strlen(text))};
    gpucc_parsed *parsed = NULL;
    size_t i;
    if (gpucc_parse(compiler, &source, NULL, &parsed) == GPUCC_OK) {
        for (i = 0; i < gpucc_parsed_entry_count(parsed) && shader_count < MOST; i++) {
            gpucc_text name = gpucc_parsed_entry(parsed, i, NULL);
            gpucc_request request = {.struct_size = sizeof request, .entry = name, .parsed = parsed};
            gpucc_result *result = NULL;
            if (gpucc_compile(compiler, &request, &result) == GPUCC_OK) {
                texts[shader_count] = strdup(text);
                names[shader_count] = strdup(name.data);
                paths[shader_count] = path;
                shader_count++;
            }
            gpucc_result_destroy(result);
        }
    }
    gpucc_parsed_destroy(parsed);
}

static const char *path_of(const gpucc_key *key) {
    static char path[sizeof folder + 2 * sizeof key->bytes + 1];
    int at = sprintf(path, "%s/", folder);
    size_t i;
    for (i = 0; i < sizeof key->bytes; i++) at += sprintf(path + at, "%02x", key->bytes[i]);
    return path;
}

/* The blob of a key, or none. What comes from the folder is the caller's to free. */
static gpucc_bytes find(int mode, const gpucc_key *key, char **owned) {
    size_t i, size = 0;
    if (mode == MODE_MAP) {
        for (i = 0; i < map_count; i++)
            if (memcmp(&map_keys[i], key, sizeof *key) == 0) return gpucc_bytes_of(map_blobs[i], map_sizes[i]);
        return gpucc_bytes_of(NULL, 0);
    }
    *owned = read_file(path_of(key), &size);
    return gpucc_bytes_of(*owned, size);
}

static int keep(int mode, const gpucc_key *key, gpucc_bytes blob) {
    if (mode == MODE_MAP) {
        if (map_count == MOST) return 1;
        map_keys[map_count] = *key;
        map_sizes[map_count] = blob.size;
        map_blobs[map_count] = malloc(blob.size);
        if (!map_blobs[map_count]) return 1;
        memcpy(map_blobs[map_count++], blob.data, blob.size);
    } else {
        FILE *file = fopen(path_of(key), "wb");
        if (!file) return 1;
        if (fwrite(blob.data, 1, blob.size, file) != blob.size) return fclose(file), 1;
        return fclose(file) != 0;
    }
    return 0;
}

/* One request as a driver with this cache answers it. */
static int answer(const gpucc_compiler *compiler, int mode, const gpucc_request *request, size_t *hits) {
    gpucc_result *result = NULL;
    gpucc_key key;
    if (mode != MODE_NONE) {
        char *owned = NULL;
        gpucc_bytes blob;
        if (gpucc_request_key(compiler, request, &key) != GPUCC_OK) return failed("key");
        blob = find(mode, &key, &owned);
        if (blob.data && gpucc_result_load(compiler, request, &key, blob, &result) == GPUCC_OK) ++*hits;
        free(owned);
    }
    if (!result) {
        if (gpucc_compile(compiler, request, &result) != GPUCC_OK) return failed("compile");
        if (mode != MODE_NONE) {
            gpucc_bytes blob = gpucc_result_blob(result, &key);
            if (!blob.data || keep(mode, &key, blob)) return failed("blob");
        }
    }
    if (!gpucc_result_info(result)->code.size) return failed("code");
    gpucc_result_destroy(result);
    return 0;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* The most memory that this process has had, in KiB. getrusage has that of the process that was forked, too. */
static long peak(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long found = 0;
    if (!file) return 0;
    while (fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %ld", &found) != 1) continue;
    fclose(file);
    return found;
}

static int measure(const gpucc_compiler *compiler, int mode, size_t compiles) {
    static const char *const modes[] = {"no cache", "map", "folder"};
    double *times = calloc(compiles, sizeof *times);
    size_t i, hits = 0;
    if (!times) return 1;
    for (i = 0; i < compiles; i++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        if (answer(compiler, mode, &requests[i % shader_count], &hits)) return 1;
        clock_gettime(CLOCK_MONOTONIC, &end);
        times[i] = (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) * 1e-3;
    }
    qsort(times, compiles, sizeof *times, ascending);
    printf("%-8s  p50 %8.1f us  p95 %8.1f us  peak %ld KiB  %zu hits\n", modes[mode], times[compiles / 2],
           times[compiles * 95 / 100], peak(), hits);
    free(times);
    return fflush(stdout);
}

/* A request for each shader. */
static void ask(void) {
    size_t i;
    for (i = 0; i < shader_count; i++) {
        sources[i].struct_size = sizeof sources[i];
        sources[i].language = GPUCC_LANGUAGE_WGSL;
        sources[i].data = gpucc_bytes_of(texts[i], strlen(texts[i]));
        requests[i].struct_size = sizeof requests[i];
        requests[i].entry = gpucc_text_of(names[i]);
        requests[i].source = &sources[i];
    }
}

static int ends(const char *text, const char *with) {
    size_t length = strlen(text), most = strlen(with);
    return length >= most && strcmp(text + length - most, with) == 0;
}

/* What a file holds, by the end of its name. */
static gpucc_source source_of(const char *path, const char *text, size_t size) {
    gpucc_source source = {.struct_size = sizeof source, .language = GPUCC_LANGUAGE_WGSL};
    if (ends(path, ".spv")) source.language = GPUCC_LANGUAGE_SPIRV;
    if (ends(path, ".vert") || ends(path, ".frag") || ends(path, ".comp")) source.language = GPUCC_LANGUAGE_GLSL;
    if (ends(path, ".vert")) source.stage = GPUCC_STAGE_VERTEX;
    if (ends(path, ".frag")) source.stage = GPUCC_STAGE_FRAGMENT;
    if (ends(path, ".comp")) source.stage = GPUCC_STAGE_COMPUTE;
    source.data = gpucc_bytes_of(text, size);
    return source;
}

/* A source with COMPILES values of a constant: read again for each, and from a kept parse.
 * Processor time, of all threads. */
static int constants(char **argv) {
    gpucc_config config = {.struct_size = sizeof config, .target = gpucc_text_of(argv[2])};
    gpucc_override one = {.struct_size = sizeof one, .name = gpucc_text_of(argv[5]), .value = 1.0};
    gpucc_options options = {.struct_size = sizeof options, .overrides = &one, .override_count = 1};
    gpucc_request request = {.struct_size = sizeof request, .options = &options};
    size_t size = 0, i, compiles = strtoul(argv[3], NULL, 10);
    double *times = calloc(compiles + 1, sizeof *times);
    char *text = read_file(argv[4], &size);
    gpucc_source source;
    gpucc_compiler *compiler = NULL;
    gpucc_parsed *parsed = NULL;
    int kept;
    if (!text || !times || !compiles) return failed("file");
    source = source_of(argv[4], text, size);
    if (gpucc_compiler_create(&config, &compiler) != GPUCC_OK) return failed("compiler");
    if (gpucc_parse(compiler, &source, &options, &parsed) != GPUCC_OK) return failed("parse");
    request.entry = gpucc_parsed_entry(parsed, 0, NULL);
    for (kept = 0; kept < 2; kept++) {
        request.source = kept ? NULL : &source;
        request.parsed = kept ? parsed : NULL;
        for (i = 0; i < compiles; i++) {
            struct timespec start, end;
            gpucc_result *result = NULL;
            one.value = (double)(i + 2);
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
            if (gpucc_compile(compiler, &request, &result) != GPUCC_OK) return failed("compile");
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
            gpucc_result_destroy(result);
            times[i] = (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) * 1e-3;
        }
        qsort(times, compiles, sizeof *times, ascending);
        printf("%-10s p50 %8.1f us  p95 %8.1f us  peak %ld KiB\n", kept ? "kept" : "read again", times[compiles / 2],
               times[compiles * 95 / 100], peak());
    }
    gpucc_parsed_destroy(parsed);
    gpucc_compiler_destroy(compiler);
    free(times);
    free(text);
    return 0;
}

/* What a process of one way does: bench --way MODE FOLDER TARGET COMPILES (FILE ENTRY)... */
static int way(int argc, char **argv) {
    gpucc_config config = {.struct_size = sizeof config};
    gpucc_compiler *compiler = NULL;
    int at, bad;
    if (argc < 6 || strlen(argv[3]) >= sizeof folder) return 2;
    strcpy(folder, argv[3]);
    config.target = gpucc_text_of(argv[4]);
    if (gpucc_compiler_create(&config, &compiler) != GPUCC_OK) return failed("compiler");
    for (at = 6; at + 1 < argc && shader_count < MOST; at += 2) {
        size_t size = 0;
        texts[shader_count] = read_file(argv[at], &size);
        if (!texts[shader_count]) return failed("file");
        names[shader_count++] = argv[at + 1];
    }
    ask();
    bad = measure(compiler, atoi(argv[2]), strtoul(argv[5], NULL, 10));
    gpucc_compiler_destroy(compiler);
    return bad ? 1 : 0;
}

/* Starts this program anew for one way. */
static int start(int mode, char **argv) {
    static char *args[6 + 2 * MOST + 1];
    char number[2] = {(char)('0' + mode), 0};
    char *head[] = {argv[0], "--way", number, folder, argv[1], argv[2]};
    int status = 0;
    size_t i;
    pid_t child;
    memcpy(args, head, sizeof head);
    for (i = 0; i < shader_count; i++) {
        args[6 + 2 * i] = paths[i];
        args[7 + 2 * i] = names[i];
    }
    child = fork();
    if (child == 0) {
        execv("/proc/self/exe", args);
        _exit(127);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

int main(int argc, char **argv) {
    gpucc_config config = {.struct_size = sizeof config};
    gpucc_compiler *compiler = NULL;
    size_t compiles = argc < 4 ? 0 : strtoul(argv[2], NULL, 10), i;
    int mode, bad = 0, at;
    if (argc > 1 && strcmp(argv[1], "--way") == 0) return way(argc, argv);
    if (argc == 6 && strcmp(argv[1], "--constants") == 0) return constants(argv);
    if (!compiles) {
        fprintf(stderr, "usage: bench TARGET COMPILES FILE.wgsl...\n       bench --constants TARGET COMPILES FILE CONSTANT\n");
        return 2;
    }
    config.target = gpucc_text_of(argv[1]);
    if (gpucc_compiler_create(&config, &compiler) != GPUCC_OK) return failed("compiler");
    for (at = 3; at < argc && shader_count < MOST; at++) {
        size_t size = 0;
        char *text = read_file(argv[at], &size);
        if (text) add(compiler, argv[at], text);
        free(text);
    }
    if (!shader_count || !mkdtemp(folder)) return failed("no file has an entry point that the machine takes");
    ask();
    printf("%s: %zu compiles of %zu shaders\n", argv[1], compiles, shader_count);
    fflush(stdout);
    for (mode = MODE_NONE; mode <= MODE_FOLDER; mode++) bad |= start(mode, argv);
    for (i = 0; i < shader_count; i++) {
        gpucc_key key;
        if (gpucc_request_key(compiler, &requests[i], &key) == GPUCC_OK) unlink(path_of(&key));
        free(texts[i]);
        free(names[i]);
    }
    rmdir(folder);
    gpucc_compiler_destroy(compiler);
    return bad;
}
