/* gpucc: shaders in, machine code out, for GPUs whose instruction sets are documented.
 *
 * Made by cbindgen from capi/src; `BLESS=1 cargo test -p gpucc-capi header` writes it.
 * docs/embedding.md explains it by two walk-throughs.
 *
 * Structures that a caller fills begin with `struct_size`, which is their `sizeof`. All bytes that
 * the caller does not set must be zero: zero is each field's default. A structure that is shorter
 * than this header's is an older header's, and takes the defaults for what it lacks. A longer one
 * is a later header's: what it has beyond this header must be zero, else the call is GPUCC_USAGE.
 * Elements of one array have one size. Structures that gpucc fills begin with `struct_size` as well,
 * and grow at the end only: a field of this header is there if struct_size reaches behind it.
 * Structures without struct_size never change.
 *
 * A null pointer where one is needed, a value that no enum has, a text that is not UTF-8 and a
 * reserved field that is not zero are GPUCC_USAGE with a message (gpucc_last_message).
 *
 * Ownership: a handle belongs to the caller from the call that makes it to its gpucc_*_destroy.
 * Handles do not need one another: a result outlives its compiler and its source, a device its
 * result. Whatever a handle gives (texts, bytes, structures, what these point to) lives as long as
 * the handle, is not the caller's to change or free, and does not move. What gpucc_version and
 * gpucc_targets_json give lives as long as the process; what gpucc_last_message gives, until the
 * next call of the same thread that fails. Whatever a caller gives is read before the call returns,
 * and is not needed then. A call writes a null pointer to the place of a handle that it does not
 * make.
 *
 * Limits: a text that is no source has at most 65,536 bytes, an array of structures at most 16,384
 * elements, gpucc_draw.indices at most 4,194,304; gpucc_vertex_state has at most 64 outputs and 4 strides of streams; a structure
 * has at most 4,096 bytes. Beyond these a call is GPUCC_USAGE. A source that is longer than any that
 * is read is GPUCC_LIMIT: the outcome of its result says how many bytes are taken. Buffers and images
 * of devices have at most 1 GiB, a draw at most 4,194,304 vertices of all instances.
 *
 * Threads: compilers, results and parsed sources are immutable: any threads may use them at the same
 * time. A device belongs to one thread at a time. gpucc_*_destroy needs the handle for itself.
 *
 * Options: a parse takes constants, budget and cancel of them (gpucc_parse); a request takes all.
 *
 * Blobs: gpucc_result_load is GPUCC_USAGE for a blob that is stale or damaged, and gpucc_last_message
 * begins with "the blob is not taken" then: compile, and replace it. Any other message of it is a
 * mistake of the call.
 */

#ifndef GPUCC_H
#define GPUCC_H



#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


// The version of this interface; the shared library is named by it.
#define GPUCC_ABI_VERSION 1

// The number of the depth target, beside the locations of colour targets.
#define GPUCC_DEPTH_TARGET 4294967295

// How a call ended: the exit codes of the command.
enum gpucc_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done.
    GPUCC_OK = 0,
    // The shader is wrong.
    GPUCC_INVALID = 1,
    // The call is wrong.
    GPUCC_USAGE = 2,
    // The machine cannot do it, or only by means that gpucc_options.evidence forbids.
    GPUCC_REFUSED = 3,
    // A limit of the machine or of the budget.
    GPUCC_LIMIT = 4,
    // What ran and what should come out differ.
    GPUCC_MISMATCH = 5,
    // gpucc does not do it yet.
    GPUCC_NOT_YET = 6,
    // gpucc_options.cancel said so.
    GPUCC_CANCELLED = 7,
    // A bug of gpucc.
    GPUCC_INTERNAL = 101,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_status gpucc_status;
#else
typedef uint32_t gpucc_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How source and destination are combined.
enum gpucc_blend_op
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // s * fs + d * fd
    GPUCC_BLEND_ADD = 0,
    // s * fs - d * fd
    GPUCC_BLEND_SUBTRACT = 1,
    // d * fd - s * fs
    GPUCC_BLEND_REVERSE_SUBTRACT = 2,
    // min(s, d); both factors must be one
    GPUCC_BLEND_MIN = 3,
    // max(s, d); both factors must be one
    GPUCC_BLEND_MAX = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_blend_op gpucc_blend_op;
#else
typedef uint32_t gpucc_blend_op;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A comparison.
enum gpucc_compare
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // None: nothing is compared.
    GPUCC_COMPARE_NONE = 0,
    // False.
    GPUCC_COMPARE_NEVER = 1,
    // <
    GPUCC_COMPARE_LESS = 2,
    // ==
    GPUCC_COMPARE_EQUAL = 3,
    // <=
    GPUCC_COMPARE_LESS_EQUAL = 4,
    // >
    GPUCC_COMPARE_GREATER = 5,
    // !=
    GPUCC_COMPARE_NOT_EQUAL = 6,
    // >=
    GPUCC_COMPARE_GREATER_EQUAL = 7,
    // True.
    GPUCC_COMPARE_ALWAYS = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_compare gpucc_compare;
#else
typedef uint32_t gpucc_compare;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which triangles are dropped.
enum gpucc_cull
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // None.
    GPUCC_CULL_NONE = 0,
    // Front faces.
    GPUCC_CULL_FRONT = 1,
    // Back faces.
    GPUCC_CULL_BACK = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_cull gpucc_cull;
#else
typedef uint32_t gpucc_cull;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What stands in a word that the driver fills.
enum gpucc_driven
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Padding.
    GPUCC_DRIVEN_UNUSED = 0,
    // The bits `value`.
    GPUCC_DRIVEN_CONSTANT = 1,
    // Workgroups of the dispatch on axis `number`.
    GPUCC_DRIVEN_NUM_WORKGROUPS = 2,
    // Workgroups on all axes.
    GPUCC_DRIVEN_NUM_WORKGROUPS_ALL = 3,
    // First vertex, first instance, draw index, 0.
    GPUCC_DRIVEN_DRAW = 4,
    // A storage buffer's base in dwords and size in bytes within the aperture, of its number `value`; of a stored texture
    // pitch and rows too.
    GPUCC_DRIVEN_STORAGE_BUFFER = 5,
    // Workgroup memory's base in dwords within the aperture, and dwords of one workgroup.
    GPUCC_DRIVEN_WORKGROUP_MEMORY = 6,
    // Width, height, layers (cubes, depth), levels of the binding.
    GPUCC_DRIVEN_IMAGE = 7,
    // One number about the binding: a gpucc_image_word in `number`.
    GPUCC_DRIVEN_IMAGE_WORD = 8,
    // The word at byte `value` of the binding, a uniform buffer or the immediates.
    GPUCC_DRIVEN_UNIFORM = 9,
    // The first vertex.
    GPUCC_DRIVEN_FIRST_VERTEX = 10,
    // The first instance.
    GPUCC_DRIVEN_FIRST_INSTANCE = 11,
    // The draw's number among those of one command.
    GPUCC_DRIVEN_DRAW_INDEX = 12,
    // The number of the view.
    GPUCC_DRIVEN_VIEW_INDEX = 13,
    // Vertices of an instance.
    GPUCC_DRIVEN_VERTEX_COUNT = 14,
    // The low word of the address of transform feedback buffer `number`.
    GPUCC_DRIVEN_STREAM_ADDRESS_LOW = 15,
    // The high word.
    GPUCC_DRIVEN_STREAM_ADDRESS_HIGH = 16,
    // f32 on axis `number`: screen = device coordinate * scale + offset.
    GPUCC_DRIVEN_VIEWPORT_SCALE = 17,
    // f32 on axis `number`.
    GPUCC_DRIVEN_VIEWPORT_OFFSET = 18,
    // Bytes of the binding.
    GPUCC_DRIVEN_BUFFER_SIZE = 19,
    // Texels from one row of the binding, a linear surface, to the next.
    GPUCC_DRIVEN_PITCH = 20,
    // Rows from one slice to the next.
    GPUCC_DRIVEN_ROWS = 21,
    // Word `number` of the binding, a sampler, for programs that compare or gather by arithmetic (docs/abi-gen4.md).
    GPUCC_DRIVEN_SAMPLER = 22,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_driven gpucc_driven;
#else
typedef uint32_t gpucc_driven;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How hard to try.
enum gpucc_effort
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // GPUCC_EFFORT_FULL.
    GPUCC_EFFORT_DEFAULT = 0,
    // Nothing.
    GPUCC_EFFORT_NONE = 1,
    // What is cheap.
    GPUCC_EFFORT_SOME = 2,
    // What pays.
    GPUCC_EFFORT_FULL = 3,
    // Searches.
    GPUCC_EFFORT_MAX = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_effort gpucc_effort;
#else
typedef uint32_t gpucc_effort;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Who vouches for what code does to the silicon.
enum gpucc_evidence
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // In options: any. Nothing is of this class.
    GPUCC_EVIDENCE_ANY = 0,
    // A public driver uses it on hardware.
    GPUCC_EVIDENCE_PROVEN = 1,
    // The manual alone describes it.
    GPUCC_EVIDENCE_MANUAL = 2,
    // An assumption of gpucc.
    GPUCC_EVIDENCE_ASSUMPTION = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_evidence gpucc_evidence;
#else
typedef uint32_t gpucc_evidence;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What an export is for.
enum gpucc_export
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Colour target.
    GPUCC_EXPORT_PIXEL = 0,
    // Position and its companions.
    GPUCC_EXPORT_POSITION = 1,
    // Parameter to the fragment stage.
    GPUCC_EXPORT_PARAMETER = 2,
    // Depth, stencil and mask.
    GPUCC_EXPORT_DEPTH = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_export gpucc_export;
#else
typedef uint32_t gpucc_export;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a source or destination is multiplied by.
enum gpucc_factor
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // 0
    GPUCC_FACTOR_ZERO = 0,
    // 1
    GPUCC_FACTOR_ONE = 1,
    // Source colour.
    GPUCC_FACTOR_SRC = 2,
    // 1 - source colour.
    GPUCC_FACTOR_ONE_MINUS_SRC = 3,
    // Source alpha.
    GPUCC_FACTOR_SRC_ALPHA = 4,
    // 1 - source alpha.
    GPUCC_FACTOR_ONE_MINUS_SRC_ALPHA = 5,
    // Destination colour.
    GPUCC_FACTOR_DST = 6,
    // 1 - destination colour.
    GPUCC_FACTOR_ONE_MINUS_DST = 7,
    // Destination alpha.
    GPUCC_FACTOR_DST_ALPHA = 8,
    // 1 - destination alpha.
    GPUCC_FACTOR_ONE_MINUS_DST_ALPHA = 9,
    // min(source alpha, 1 - destination alpha); 1 for alpha.
    GPUCC_FACTOR_SRC_ALPHA_SATURATED = 10,
    // Constant.
    GPUCC_FACTOR_CONSTANT = 11,
    // 1 - constant.
    GPUCC_FACTOR_ONE_MINUS_CONSTANT = 12,
    // Second source's colour.
    GPUCC_FACTOR_SRC1 = 13,
    // 1 - second source's colour.
    GPUCC_FACTOR_ONE_MINUS_SRC1 = 14,
    // Second source's alpha.
    GPUCC_FACTOR_SRC1_ALPHA = 15,
    // 1 - second source's alpha.
    GPUCC_FACTOR_ONE_MINUS_SRC1_ALPHA = 16,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_factor gpucc_factor;
#else
typedef uint32_t gpucc_factor;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Who brings attributes into registers, on machines that have a choice.
enum gpucc_fetch
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The program itself.
    GPUCC_FETCH_INLINE = 0,
    // The result's fetch program.
    GPUCC_FETCH_SEPARATE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_fetch gpucc_fetch;
#else
typedef uint32_t gpucc_fetch;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How texels of one level are combined.
enum gpucc_filter
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The nearest.
    GPUCC_FILTER_NEAREST = 0,
    // The surrounding ones.
    GPUCC_FILTER_LINEAR = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_filter gpucc_filter;
#else
typedef uint32_t gpucc_filter;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What blending is handed.
enum gpucc_handed
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Floats of 32 bits.
    GPUCC_HANDED_F32 = 0,
    // Floats of 16 bits.
    GPUCC_HANDED_F16 = 1,
    // Signed integers.
    GPUCC_HANDED_S32 = 2,
    // Unsigned integers.
    GPUCC_HANDED_U32 = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_handed gpucc_handed;
#else
typedef uint32_t gpucc_handed;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A number about an image.
enum gpucc_image_word
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Texels of level 0 on the first axis.
    GPUCC_IMAGE_WIDTH = 0,
    // On the second.
    GPUCC_IMAGE_HEIGHT = 1,
    // On the third.
    GPUCC_IMAGE_DEPTH = 2,
    // Layers; cubes of a cube array.
    GPUCC_IMAGE_LAYERS = 3,
    // Mip levels.
    GPUCC_IMAGE_LEVELS = 4,
    // Samples of a texel.
    GPUCC_IMAGE_SAMPLES = 5,
    // f32: 0.5 / width.
    GPUCC_IMAGE_EDGE_LOW_X = 6,
    // f32: 0.5 / height.
    GPUCC_IMAGE_EDGE_LOW_Y = 7,
    // f32: 1 - EDGE_LOW_X.
    GPUCC_IMAGE_EDGE_HIGH_X = 8,
    // f32: 1 - EDGE_LOW_Y.
    GPUCC_IMAGE_EDGE_HIGH_Y = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_image_word gpucc_image_word;
#else
typedef uint32_t gpucc_image_word;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where an input is when the program starts.
enum gpucc_input_place
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Computed, or fetched as an attribute.
    GPUCC_INPUT_ELSEWHERE = 0,
    // A register.
    GPUCC_INPUT_REGISTER = 1,
    // From `channel` of a register on.
    GPUCC_INPUT_CHANNEL = 2,
    // From a channel on, of no register: the program never has it in one.
    GPUCC_INPUT_UNUSED = 3,
    // A varying record, from byte `offset` on.
    GPUCC_INPUT_RECORD = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_input_place gpucc_input_place;
#else
typedef uint32_t gpucc_input_place;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How an input varies over a primitive.
enum gpucc_interpolation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It is no varying, or the machine asks nothing.
    GPUCC_INTERPOLATION_NONE = 0,
    // With perspective.
    GPUCC_INTERPOLATION_PERSPECTIVE = 1,
    // Without.
    GPUCC_INTERPOLATION_LINEAR = 2,
    // Not at all.
    GPUCC_INTERPOLATION_FLAT = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_interpolation gpucc_interpolation;
#else
typedef uint32_t gpucc_interpolation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What stands behind a binding.
enum gpucc_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A uniform buffer.
    GPUCC_KIND_UNIFORM = 0,
    // A storage buffer.
    GPUCC_KIND_STORAGE = 1,
    // Immediates, push constants.
    GPUCC_KIND_IMMEDIATE = 2,
    // A sampled texture.
    GPUCC_KIND_TEXTURE = 3,
    // A storage texture.
    GPUCC_KIND_STORAGE_TEXTURE = 4,
    // A sampler.
    GPUCC_KIND_SAMPLER = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_kind gpucc_kind;
#else
typedef uint32_t gpucc_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a source is written in.
enum gpucc_language
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // SPIR-V of Vulkan or OpenGL, either byte order.
    GPUCC_LANGUAGE_SPIRV = 0,
    // WGSL.
    GPUCC_LANGUAGE_WGSL = 1,
    // GLSL of one stage.
    GPUCC_LANGUAGE_GLSL = 2,
    // The text of gpucc's own IR.
    GPUCC_LANGUAGE_IR = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_language gpucc_language;
#else
typedef uint32_t gpucc_language;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What takes an output that is not exported.
enum gpucc_memory
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The position's packet.
    GPUCC_MEMORY_POSITION = 0,
    // The point size's packet.
    GPUCC_MEMORY_POINT_SIZE = 1,
    // The layer, beside the point size.
    GPUCC_MEMORY_LAYER = 2,
    // The varying record.
    GPUCC_MEMORY_VARYING = 3,
    // An attribute's buffer.
    GPUCC_MEMORY_ATTRIBUTE = 4,
    // A transform feedback buffer.
    GPUCC_MEMORY_TRANSFORM_FEEDBACK = 5,
    // Blending.
    GPUCC_MEMORY_BLEND = 6,
    // The depth test.
    GPUCC_MEMORY_DEPTH = 7,
    // The stencil test.
    GPUCC_MEMORY_STENCIL = 8,
    // The coverage.
    GPUCC_MEMORY_COVERAGE = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_memory gpucc_memory;
#else
typedef uint32_t gpucc_memory;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How levels are combined.
enum gpucc_mip_filter
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The nearest.
    GPUCC_MIP_FILTER_NEAREST = 0,
    // The two around.
    GPUCC_MIP_FILTER_LINEAR = 1,
    // Level 0 alone.
    GPUCC_MIP_FILTER_NONE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_mip_filter gpucc_mip_filter;
#else
typedef uint32_t gpucc_mip_filter;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where an output leaves the program.
enum gpucc_output_place
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // `export_kind` number `index`, from `channel` on.
    GPUCC_OUTPUT_EXPORT = 0,
    // Blending of colour target `index`: `handed` and `source`.
    GPUCC_OUTPUT_BLEND = 1,
    // Buffer `source` of transform feedback, byte `index` of a vertex.
    GPUCC_OUTPUT_STREAM = 2,
    // `memory` number or byte `index`.
    GPUCC_OUTPUT_INDEXED = 3,
    // `memory`, of which there is one.
    GPUCC_OUTPUT_SINGLE = 4,
    // Register `index`.
    GPUCC_OUTPUT_REGISTER = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_output_place gpucc_output_place;
#else
typedef uint32_t gpucc_output_place;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What an access out of bounds does.
enum gpucc_robust
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The index is clamped.
    GPUCC_ROBUST_RESTRICT = 0,
    // Reads give 0, writes are dropped.
    GPUCC_ROBUST_ZERO = 1,
    // Nothing is checked.
    GPUCC_ROBUST_OFF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_robust gpucc_robust;
#else
typedef uint32_t gpucc_robust;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where a varying is taken.
enum gpucc_sampling
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It is no varying, or the machine asks nothing.
    GPUCC_SAMPLING_NONE = 0,
    // The pixel's centre.
    GPUCC_SAMPLING_CENTER = 1,
    // Within the covered part.
    GPUCC_SAMPLING_CENTROID = 2,
    // Each sample.
    GPUCC_SAMPLING_SAMPLE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_sampling gpucc_sampling;
#else
typedef uint32_t gpucc_sampling;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What kind of thing a driver programs.
enum gpucc_setting_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // `value` to the register at `address`, the bits of `mask`.
    GPUCC_SETTING_REGISTER = 0,
    // `words` with `masks`.
    GPUCC_SETTING_DESCRIPTOR = 1,
    // `programs`.
    GPUCC_SETTING_PROGRAMS = 2,
    // `tables`.
    GPUCC_SETTING_TABLES = 3,
    // `constant_buffers`.
    GPUCC_SETTING_CONSTANT_BUFFERS = 4,
    // `value`.
    GPUCC_SETTING_NUMBER = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_setting_kind gpucc_setting_kind;
#else
typedef uint32_t gpucc_setting_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How grave a diagnostic is.
enum gpucc_severity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Nothing was made.
    GPUCC_SEVERITY_ERROR = 0,
    // Made, but look at this.
    GPUCC_SEVERITY_WARNING = 1,
    // Made; this was assumed.
    GPUCC_SEVERITY_NOTE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_severity gpucc_severity;
#else
typedef uint32_t gpucc_severity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a shader is for.
enum gpucc_stage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The only one there is.
    GPUCC_STAGE_ANY = 0,
    // Vertices.
    GPUCC_STAGE_VERTEX = 1,
    // Pixels.
    GPUCC_STAGE_FRAGMENT = 2,
    // Workgroups.
    GPUCC_STAGE_COMPUTE = 3,
    // Primitives.
    GPUCC_STAGE_GEOMETRY = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_stage gpucc_stage;
#else
typedef uint32_t gpucc_stage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What advances a vertex buffer.
enum gpucc_step
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Each vertex.
    GPUCC_STEP_VERTEX = 0,
    // Each instance.
    GPUCC_STEP_INSTANCE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_step gpucc_step;
#else
typedef uint32_t gpucc_step;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How vertices make primitives.
enum gpucc_topology
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Every three.
    GPUCC_TOPOLOGY_TRIANGLE_LIST = 0,
    // Every one with the two before it.
    GPUCC_TOPOLOGY_TRIANGLE_STRIP = 1,
    // Every two.
    GPUCC_TOPOLOGY_LINE_LIST = 2,
    // Every one.
    GPUCC_TOPOLOGY_POINT_LIST = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_topology gpucc_topology;
#else
typedef uint32_t gpucc_topology;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where uniform words at constant offsets are read from, on machines that have a choice.
enum gpucc_uniforms
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Their buffer.
    GPUCC_UNIFORMS_LOADED = 0,
    // The machine's constant words, which the driver fills.
    GPUCC_UNIFORMS_PUSHED = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_uniforms gpucc_uniforms;
#else
typedef uint32_t gpucc_uniforms;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a vertex program is cut, on machines that have a choice.
enum gpucc_vertex_form
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A program for the position and one for the rest.
    GPUCC_VERTEX_FORM_IDVS = 0,
    // One program.
    GPUCC_VERTEX_FORM_PLAIN = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_vertex_form gpucc_vertex_form;
#else
typedef uint32_t gpucc_vertex_form;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happens to texels outside of a level.
enum gpucc_wrap
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The nearest texel inside.
    GPUCC_WRAP_CLAMP = 0,
    // Start again.
    GPUCC_WRAP_REPEAT = 1,
    // Go back and forth.
    GPUCC_WRAP_MIRROR = 2,
    // Mirrored once at 0, then the nearest inside.
    GPUCC_WRAP_MIRROR_ONCE = 3,
    // The border colour.
    GPUCC_WRAP_BORDER = 4,
    // Mirrored once at 0, then the border colour.
    GPUCC_WRAP_MIRROR_ONCE_BORDER = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gpucc_wrap gpucc_wrap;
#else
typedef uint32_t gpucc_wrap;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A compiler for one chip.
typedef struct gpucc_compiler gpucc_compiler;

// An emulated machine with one program, or with a vertex and a fragment program.
typedef struct gpucc_device gpucc_device;

// A source that was read: its entry points, or why there are none.
typedef struct gpucc_parsed gpucc_parsed;

// What a compilation made.
typedef struct gpucc_result gpucc_result;

// Text in UTF-8. Texts that gpucc gives have a zero byte behind them.
typedef struct {
    // Its bytes; null where there are none.
    const char *data;
    // How many, without a zero byte behind them.
    size_t size;
} gpucc_text;

// Is told each message about a source before the call returns that compiles or reads it, on that call's thread: threads
// that share a compiler call it at the same time. `severity` is a gpucc_severity. The message lives until the function
// returns.
typedef void (*gpucc_log_fn)(void *user, uint32_t severity, gpucc_text message);

// A compiler's machine.
typedef struct {
    // sizeof(gpucc_config).
    uint32_t struct_size;
    // Zero.
    uint32_t reserved;
    // A target's name, as in gpucc_targets_json.
    gpucc_text target;
    // A chip of it; the target's usual one where this is empty.
    gpucc_text chip;
    // Is told every message of every call; null tells nobody.
    gpucc_log_fn log;
    // What `log` gets back.
    void *log_user;
} gpucc_config;

// Bytes.
typedef struct {
    // The bytes; null where there are none.
    const uint8_t *data;
    // How many.
    size_t size;
} gpucc_bytes;

// A macro of GLSL. Parameters stand behind the name: "f(x)".
typedef struct {
    // sizeof(gpucc_define).
    uint32_t struct_size;
    // Zero.
    uint32_t reserved;
    // Its name.
    gpucc_text name;
    // What it stands for.
    gpucc_text value;
} gpucc_define;

// Gives a text that GLSL includes, on another thread than the caller's, which waits. `name` stands between the quotes or,
// if `angled` is 1, the brackets; `from` is the name of the text that includes it. Returns 0 where there is none, and then
// `text` may say why. `found` is what messages call the text. Both live until the next call of the function, or until the
// call returns that the caller waits for. Equal requests must give equal texts.
typedef uint32_t (*gpucc_include_fn)(void *user,
                                     gpucc_text name,
                                     gpucc_text from,
                                     uint32_t angled,
                                     gpucc_text *found,
                                     gpucc_text *text);

// A source. Texts and bytes are read before the call that gets it returns, and are not needed any more then.
typedef struct {
    // sizeof(gpucc_source).
    uint32_t struct_size;
    // A gpucc_language.
    uint32_t language;
    // GLSL: the gpucc_stage of the text. Zero for other languages.
    uint32_t stage;
    // Zero.
    uint32_t reserved;
    // What reports and messages call it; "shader" where it is empty.
    gpucc_text name;
    // The text or the words of SPIR-V.
    gpucc_bytes data;
    // GLSL: macros.
    const gpucc_define *defines;
    // How many.
    size_t define_count;
    // GLSL: gives included texts; without it #include is an error.
    gpucc_include_fn include;
    // What `include` gets back.
    void *include_user;
} gpucc_source;

// The value of an override of WGSL or of a specialization constant.
typedef struct {
    // sizeof(gpucc_override).
    uint32_t struct_size;
    // Zero.
    uint32_t reserved;
    // Its name, or its number in decimal.
    gpucc_text name;
    // Its value: converted to the constant's type; 0 is false.
    double value;
} gpucc_override;

// Asked now and then, on any of a call's threads, whether the call is to end: 0 for no. It must return at once. As every
// function of the caller's, it must neither unwind nor jump out, and must not end handles.
typedef uint32_t (*gpucc_cancel_fn)(void *user);

// How to compile. Zeros are the defaults.
typedef struct {
    // sizeof(gpucc_options).
    uint32_t struct_size;
    // A gpucc_effort.
    uint32_t effort;
    // A gpucc_robust.
    uint32_t robust;
    // The weakest gpucc_evidence that code may rest on.
    uint32_t evidence;
    // 1: every loop ends.
    uint32_t bound_loops;
    // 1: workgroup memory keeps what it has instead of zeros.
    uint32_t keep_workgroup;
    // 1: the result keeps the program between the passes, so that gpucc_verify proves these too.
    uint32_t keep_steps;
    // 1: constants without a value and a default get `overrides_default`.
    uint32_t has_overrides_default;
    // See `has_overrides_default`.
    double overrides_default;
    // Bytes that one call may take, counted; 0 is the default of 256 MiB.
    uint64_t memory;
    // Steps of work that one call may take, counted; 0 is the default of 2^30.
    uint64_t steps;
    // Values of constants.
    const gpucc_override *overrides;
    // How many.
    size_t override_count;
    // Asked whether the call is to end; null lets it end by itself.
    gpucc_cancel_fn cancel;
    // What `cancel` gets back.
    void *cancel_user;
} gpucc_options;

// A place that a message is about.
typedef struct {
    // sizeof(gpucc_label).
    uint32_t struct_size;
    // 1: the place that matters most; 0: context.
    uint32_t is_primary;
    // Line from 1; 0 where the source has no lines.
    uint32_t line;
    // Column in characters, from 1; of SPIR-V the number of the word.
    uint32_t column;
    // First byte.
    uint32_t start;
    // One past its last byte.
    uint32_t end;
    // A remark; may be empty.
    gpucc_text text;
} gpucc_label;

// A message. Line, column, start and end are those of its first label.
typedef struct {
    // sizeof(gpucc_diagnostic).
    uint32_t struct_size;
    // A gpucc_severity.
    uint32_t severity;
    // What is wrong or assumed.
    gpucc_text message;
    // Line from 1; 0 where there is no place, or the source has no lines.
    uint32_t line;
    // Column in characters, from 1; of SPIR-V the number of the word.
    uint32_t column;
    // First byte of the place.
    uint32_t start;
    // One past its last byte; equal to `start` where there is no place.
    uint32_t end;
    // What to know and what to do.
    const gpucc_text *notes;
    // How many.
    size_t note_count;
    // All places that it is about, the first of them in front.
    const gpucc_label *const *labels;
    // How many.
    size_t label_count;
} gpucc_diagnostic;

// How a call ended.
typedef struct {
    // sizeof(gpucc_outcome).
    uint32_t struct_size;
    // A gpucc_status.
    uint32_t status;
    // GPUCC_LIMIT: how many are needed.
    uint64_t needed;
    // GPUCC_LIMIT: how many there are.
    uint64_t available;
    // GPUCC_LIMIT: of what. GPUCC_REFUSED, GPUCC_NOT_YET: the feature. GPUCC_INTERNAL: the pass.
    gpucc_text subject;
    // GPUCC_REFUSED: the manual's section. GPUCC_NOT_YET: the stage that lacks it. GPUCC_INTERNAL: the program when it
    // happened, as text.
    gpucc_text reason;
    // Errors, warnings and notes.
    const gpucc_diagnostic *const *diagnostics;
    // How many.
    size_t diagnostic_count;
} gpucc_outcome;

// A vertex attribute.
typedef struct {
    // sizeof(gpucc_attribute).
    uint32_t struct_size;
    // The shader's location.
    uint32_t location;
    // WebGPU's name of the format: "float32x3", "unorm8x4".
    gpucc_text format;
    // Index into the buffers.
    uint32_t buffer;
    // Bytes from the start of an element.
    uint32_t offset;
} gpucc_attribute;

// A vertex buffer.
typedef struct {
    // sizeof(gpucc_vertex_buffer).
    uint32_t struct_size;
    // Bytes from one element to the next.
    uint32_t stride;
    // A gpucc_step.
    uint32_t step;
    // Zero.
    uint32_t reserved;
} gpucc_vertex_buffer;

// An output that transform feedback captures.
typedef struct {
    // sizeof(gpucc_stream_output).
    uint32_t struct_size;
    // 1: the position; `location` is zero then.
    uint32_t is_position;
    // The location.
    uint32_t location;
    // Buffer, 0 to 3.
    uint32_t buffer;
    // Byte within a vertex of the buffer.
    uint32_t offset;
    // Zero.
    uint32_t reserved;
} gpucc_stream_output;

// The vertex stage.
typedef struct {
    // sizeof(gpucc_vertex_state).
    uint32_t struct_size;
    // A gpucc_fetch.
    uint32_t fetch;
    // A gpucc_vertex_form.
    uint32_t form;
    // 1: no points are drawn, so no point size is written.
    uint32_t without_points;
    // Attributes. What the shader reads and is not here gets a buffer of its own.
    const gpucc_attribute *attributes;
    // How many.
    size_t attribute_count;
    // Buffers.
    const gpucc_vertex_buffer *buffers;
    // How many.
    size_t buffer_count;
    // Locations that the fragment stage reads, where `has_outputs` is 1. gpucc_compile_pair finds them by itself.
    const uint32_t *outputs;
    // How many.
    size_t output_count;
    // Bytes of a vertex in each buffer of transform feedback, at most four.
    const uint32_t *stream_strides;
    // How many.
    size_t stream_stride_count;
    // What transform feedback captures.
    const gpucc_stream_output *stream_outputs;
    // How many.
    size_t stream_output_count;
    // 1: the program writes no locations but `outputs`.
    uint32_t has_outputs;
    // Zero.
    uint32_t reserved;
} gpucc_vertex_state;

// An equation of blending.
typedef struct {
    // A gpucc_blend_op.
    uint32_t operation;
    // A gpucc_factor.
    uint32_t src_factor;
    // A gpucc_factor.
    uint32_t dst_factor;
} gpucc_blend_component;

// A colour target.
typedef struct {
    // sizeof(gpucc_color_target).
    uint32_t struct_size;
    // Bit 0: red is written, and so on; all are in 15.
    uint32_t write_mask;
    // WebGPU's name of the format; empty where no target is bound.
    gpucc_text format;
    // 1: `color` and `alpha` blend. 0: the colour replaces what was there, and they are zero.
    uint32_t blends;
    // Zero.
    uint32_t reserved;
    // Red, green, blue.
    gpucc_blend_component color;
    // Alpha.
    gpucc_blend_component alpha;
} gpucc_color_target;

// The fragment stage.
typedef struct {
    // sizeof(gpucc_fragment_state).
    uint32_t struct_size;
    // Samples of a pixel; 0 where the driver decides later.
    uint32_t samples;
    // 1: the alpha of target 0 covers samples.
    uint32_t alpha_to_coverage;
    // Zero.
    uint32_t reserved;
    // Colour targets by location.
    const gpucc_color_target *targets;
    // How many.
    size_t target_count;
    // WebGPU's name of the format of depth and stencil; empty where none is bound.
    gpucc_text depth_stencil;
} gpucc_fragment_state;

// Where a binding goes.
typedef struct {
    // sizeof(gpucc_binding_slot).
    uint32_t struct_size;
    // Bind group, descriptor set.
    uint32_t group;
    // Binding.
    uint32_t binding;
    // Its number among the bindings of its kind.
    uint32_t slot;
} gpucc_binding_slot;

// The pipeline around a shader. What is absent is inferred.
typedef struct {
    // sizeof(gpucc_pipeline).
    uint32_t struct_size;
    // A gpucc_uniforms.
    uint32_t uniforms;
    // 1: workgroup variables may live in the local data share.
    uint32_t local_data_share;
    // Zero.
    uint32_t reserved;
    // The vertex stage, or null.
    const gpucc_vertex_state *vertex;
    // The fragment stage, or null.
    const gpucc_fragment_state *fragment;
    // Bindings for which the driver has numbers of its own.
    const gpucc_binding_slot *bindings;
    // How many.
    size_t binding_count;
} gpucc_pipeline;

// A compilation of one entry point.
typedef struct {
    // sizeof(gpucc_request).
    uint32_t struct_size;
    // A gpucc_stage: the entry point is of this one.
    uint32_t stage;
    // Its name; where it is empty there must be one alone.
    gpucc_text entry;
    // The source, or null where `parsed` is one.
    const gpucc_source *source;
    // A source that was read before, or null.
    const gpucc_parsed *parsed;
    // How; null is the default.
    const gpucc_options *options;
    // The pipeline around the shader; what is null or absent is inferred.
    const gpucc_pipeline *pipeline;
} gpucc_request;

// One binding, or one element of an array of bindings.
typedef struct {
    // sizeof(gpucc_place).
    uint32_t struct_size;
    // A gpucc_stage: the program whose binding it is. GPUCC_STAGE_ANY is each that has the element: what is bound is one
    // buffer or image then, and what one stage stores the other one loads. What is bound for one stage is another buffer than
    // the other stage's, whatever its bytes are, until the element is bound for both again.
    uint32_t stage;
    // Bind group, descriptor set.
    uint32_t group;
    // Binding.
    uint32_t binding;
    // Element of an array of bindings.
    uint32_t element;
    // 1: the immediates (push constants), whatever group and binding say.
    uint32_t is_immediate;
} gpucc_place;

// An image's size and format. Its bytes lie level by level; within a level layer, slice, row, column, sample.
typedef struct {
    // sizeof(gpucc_image).
    uint32_t struct_size;
    // Texels.
    uint32_t width;
    // Texels; 1 of one dimension.
    uint32_t height;
    // Texels; 1 but of three dimensions.
    uint32_t depth;
    // Layers; a cube has six.
    uint32_t layers;
    // Mip levels.
    uint32_t levels;
    // Samples of a texel.
    uint32_t samples;
    // Zero.
    uint32_t reserved;
    // WebGPU's name of the format.
    gpucc_text format;
} gpucc_image;

// A sampler. Zeros clamp and take the nearest texel of level 0.
typedef struct {
    // sizeof(gpucc_sampler).
    uint32_t struct_size;
    // A gpucc_wrap of each axis.
    uint32_t wrap[3];
    // A gpucc_filter.
    uint32_t magnification;
    // A gpucc_filter.
    uint32_t minification;
    // A gpucc_mip_filter.
    uint32_t mip;
    // A gpucc_compare.
    uint32_t compare;
    // Smallest level.
    float lod_min;
    // Largest level.
    float lod_max;
    // Added to levels that come from gradients.
    float lod_bias;
    // Zero.
    uint32_t reserved;
    // Words of the border colour: floats or integers, by the texture's format.
    uint32_t border[4];
} gpucc_sampler;

// A draw. Blending, masks and formats are those of the fragment program's pipeline.
typedef struct {
    // sizeof(gpucc_draw).
    uint32_t struct_size;
    // A gpucc_topology.
    uint32_t topology;
    // Vertices of an instance, where there are no indices.
    uint32_t vertices;
    // Instances.
    uint32_t instances;
    // Numbers of vertices, or null.
    const uint32_t *indices;
    // How many.
    size_t index_count;
    // A gpucc_cull.
    uint32_t cull;
    // 1: clockwise triangles are front; 0: counter-clockwise ones (y down).
    uint32_t front_clockwise;
    // A gpucc_compare of the depth test; GPUCC_COMPARE_NONE: no test.
    uint32_t depth_compare;
    // 1: pixels that pass write their depth.
    uint32_t depth_write;
    // x, y, width, height; zeros are the whole target.
    float viewport[4];
    // Depths of z = 0 and z = w; both zero are 0 and 1.
    float depth_range[2];
    // x, y, width, height; all zero: everything.
    uint32_t scissor[4];
    // Constant colour of blending.
    float blend_constant[4];
} gpucc_draw;

// What gpucc_verify found.
typedef struct {
    // Invocations of one run.
    uint64_t invocations;
    // Words compared.
    uint64_t words;
    // Inputs that were compared to their end.
    uint32_t inputs;
    // Inputs on which a word differed.
    uint32_t mismatches;
} gpucc_verification;

// Figures that every machine has.
typedef struct {
    // sizeof(gpucc_stats).
    uint32_t struct_size;
    // Zero.
    uint32_t reserved;
    // Instructions.
    uint64_t instructions;
    // Length of the code.
    uint64_t code_bytes;
    // Registers of an invocation.
    uint64_t registers;
    // Stores that the allocator made.
    uint64_t spills;
    // Loads that the allocator made.
    uint64_t fills;
    // Scratch memory of an invocation.
    uint64_t scratch_bytes;
    // Workgroup memory.
    uint64_t shared_bytes;
    // Loops.
    uint64_t loops;
    // Conditional branches.
    uint64_t branches;
    // Waves that fit, over the most that fit.
    double occupancy;
    // Estimated clocks of a wave.
    double cycles;
    // No schedule is faster.
    double cycles_lower_bound;
    // What limits it.
    gpucc_text bound_unit;
    // From the end of the front end to the encoded bytes.
    uint64_t compile_microseconds;
    // Reading the source.
    uint64_t frontend_microseconds;
} gpucc_stats;

// A figure of a machine. Never changes.
typedef struct {
    // Its name.
    gpucc_text name;
    // Its value.
    double value;
} gpucc_figure;

// One program: a shader may be several.
typedef struct {
    // sizeof(gpucc_program).
    uint32_t struct_size;
    // Registers of an invocation.
    uint32_t registers;
    // Its name behind the entry point's; empty for the first.
    gpucc_text name;
    // Its code.
    gpucc_bytes code;
    // First byte within gpucc_info.code.
    uint64_t offset;
    // 1: it is no part of gpucc_info.code; `offset` is 0.
    uint32_t is_apart;
    // Zero.
    uint32_t reserved;
} gpucc_program;

// A number by a name. Never changes.
typedef struct {
    // A table of the machine, or a field of a register by the manual's name.
    gpucc_text name;
    // Its entry, or its value.
    uint64_t value;
} gpucc_named;

// A binding and its places on the machine.
typedef struct {
    // sizeof(gpucc_binding).
    uint32_t struct_size;
    // A gpucc_kind.
    uint32_t kind;
    // Bind group, descriptor set.
    uint32_t group;
    // Binding.
    uint32_t binding;
    // Its name in the source.
    gpucc_text name;
    // Its entries of the machine's tables. An array takes as many from there on as it has elements.
    const gpucc_named *slots;
    // How many.
    size_t slot_count;
    // Buffers and immediates: bytes that must be bound, without a runtime array. Immediates begin at byte 0 of all that is
    // pushed: a range of push constants at an offset is the bytes from there on.
    uint32_t size;
    // Bytes of an element of the runtime array at the end; 0 where there is none.
    uint32_t stride;
    // Elements of an array of bindings; 1 where it is none.
    uint32_t count;
    // 1: the program may store to it.
    uint32_t is_stored;
} gpucc_binding;

// An input of the stage.
typedef struct {
    // sizeof(gpucc_input).
    uint32_t struct_size;
    // 1: `location` counts; 0: `builtin` does.
    uint32_t has_location;
    // The location.
    uint32_t location;
    // Components.
    uint32_t components;
    // WGSL's name of the built-in value.
    gpucc_text builtin;
    // Its name in the source.
    gpucc_text name;
    // A gpucc_input_place.
    uint32_t place;
    // The register.
    uint32_t register_number;
    // The first channel.
    uint32_t channel;
    // Byte of the record.
    uint32_t offset;
    // A gpucc_interpolation.
    uint32_t interpolation;
    // A gpucc_sampling.
    uint32_t sampling;
    // 1: `semantic` counts.
    uint32_t has_semantic;
    // What links it to an output of the stage before.
    uint32_t semantic;
    // 0: no attribute. 1: fetch resource `attribute_index`. 2: descriptors `attribute_index` and `buffer_index`.
    uint32_t attribute;
    // See `attribute`.
    uint32_t attribute_index;
    // Entry of the buffers' table.
    uint32_t buffer_index;
    // Byte within an element of the buffer.
    uint32_t attribute_offset;
    // Bytes from one element to the next.
    uint32_t stride;
    // A gpucc_step.
    uint32_t step;
    // WebGPU's name of the attribute's format.
    gpucc_text format;
} gpucc_input;

// An output of the stage.
typedef struct {
    // sizeof(gpucc_output).
    uint32_t struct_size;
    // 1: `location` counts; 0: `builtin` does.
    uint32_t has_location;
    // The location.
    uint32_t location;
    // Components that have this place.
    uint32_t components;
    // WGSL's name of the built-in value.
    gpucc_text builtin;
    // Its name in the source.
    gpucc_text name;
    // A gpucc_output_place: it says which of the fields below count.
    uint32_t place;
    // A gpucc_export.
    uint32_t export_kind;
    // Export, colour target, byte, descriptor or register.
    uint32_t index;
    // First channel.
    uint32_t channel;
    // 1: `semantic` counts.
    uint32_t has_semantic;
    // What links it to an input of the stage behind.
    uint32_t semantic;
    // A gpucc_handed.
    uint32_t handed;
    // 1 for the second source of dual-source blending; a buffer's number.
    uint32_t source;
    // A gpucc_memory.
    uint32_t memory;
    // Zero.
    uint32_t reserved;
} gpucc_output;

// One of the programs in the code, as its descriptor has it. Never changes.
typedef struct {
    // First byte.
    uint32_t offset;
    // Bytes.
    uint32_t bytes;
    // Bit k: the k-th register that may be filled before the start is.
    uint32_t preload;
    // Registers in use.
    uint32_t registers;
    // Registers that an invocation is given.
    uint32_t work_registers;
} gpucc_program_state;

// A table of descriptors. Never changes.
typedef struct {
    // Number.
    uint32_t table;
    // Entries that it needs.
    uint32_t entries;
} gpucc_table_use;

// Constants that the driver puts into a uniform buffer. Never changes.
typedef struct {
    // Its words.
    const uint32_t *words;
    // How many.
    size_t word_count;
    // Entry of the uniform buffers' table.
    uint64_t index;
} gpucc_constant_buffer;

// Something that a driver programs.
typedef struct {
    // sizeof(gpucc_setting).
    uint32_t struct_size;
    // A gpucc_setting_kind.
    uint32_t kind;
    // The manual's name.
    gpucc_text name;
    // Byte address of the register.
    uint32_t address;
    // Value of the register, or the number.
    uint32_t value;
    // The bits that the program decides; the others are the driver's.
    uint32_t mask;
    // Zero.
    uint32_t reserved;
    // Words of the descriptor.
    const uint32_t *words;
    // The bits of each that the program decides.
    const uint32_t *masks;
    // How many words and masks.
    size_t word_count;
    // The fields of register or descriptor, by the manual's names.
    const gpucc_named *fields;
    // How many.
    size_t field_count;
    // The programs in the code.
    const gpucc_program_state *programs;
    // How many.
    size_t program_count;
    // The tables that the program refers to.
    const gpucc_table_use *tables;
    // How many.
    size_t table_count;
    // Constants for uniform buffers.
    const gpucc_constant_buffer *constant_buffers;
    // How many.
    size_t constant_buffer_count;
} gpucc_setting;

// A word that the program reads and the driver fills.
typedef struct {
    // sizeof(gpucc_driver_constant).
    uint32_t struct_size;
    // A gpucc_driven.
    uint32_t what;
    // Its place: its number where it has one of its own, else its place in the list.
    uint32_t place;
    // See gpucc_driven.
    uint32_t number;
    // See gpucc_driven.
    uint32_t value;
    // 1: `group`, `binding` and `element` count.
    uint32_t has_binding;
    // Bind group.
    uint32_t group;
    // Binding.
    uint32_t binding;
    // Element of a binding array.
    uint32_t element;
    // Zero.
    uint32_t reserved;
} gpucc_driver_constant;

// From this byte of the code on, it comes from this place in the source.
typedef struct {
    // sizeof(gpucc_line).
    uint32_t struct_size;
    // Byte of the code.
    uint32_t offset;
    // Line from 1; 0 of SPIR-V.
    uint32_t line;
    // Column in characters from 1; of SPIR-V the number of the word.
    uint32_t column;
} gpucc_line;

// Something that the code does and that no public driver has shown on hardware.
typedef struct {
    // sizeof(gpucc_ground).
    uint32_t struct_size;
    // A gpucc_evidence.
    uint32_t evidence;
    // What it does.
    gpucc_text feature;
    // What speaks for it.
    gpucc_text reason;
} gpucc_ground;

// All of a result. Lists are arrays of pointers.
typedef struct {
    // sizeof(gpucc_info).
    uint32_t struct_size;
    // A gpucc_stage.
    uint32_t stage;
    // The target's name.
    gpucc_text target;
    // The chip's name.
    gpucc_text chip;
    // The entry point, or what a program of fixed function is for.
    gpucc_text entry;
    // Machine code in memory order.
    gpucc_bytes code;
    // The program that fetches attributes, where GPUCC_FETCH_SEPARATE asks for one.
    gpucc_bytes fetch_program;
    // Memory of the constant tables that the program fetches.
    gpucc_bytes tables;
    // Their fetch resource.
    uint32_t table_resource;
    // Bytes of an element; 0 where there are no tables.
    uint32_t table_stride;
    // Compute: invocations of a workgroup by axis; zeros of other stages.
    uint32_t workgroup_size[3];
    // Threads of the launch of a workgroup, on machines that are told; else 0.
    uint32_t threads_per_workgroup;
    // Dwords of the aperture that a workgroup takes, on machines with one.
    uint32_t workgroup_dwords;
    // Bytes of memory that a workgroup takes, on machines where it has its own.
    uint32_t workgroup_bytes;
    // The weakest gpucc_evidence of what the code does.
    uint32_t evidence;
    // Zero.
    uint32_t reserved;
    // Figures.
    const gpucc_stats *stats;
    // Figures of this machine.
    const gpucc_figure *figures;
    // How many.
    size_t figure_count;
    // The programs in the code and beside it, the one that runs first in front.
    const gpucc_program *const *programs;
    // How many.
    size_t program_count;
    // Bindings.
    const gpucc_binding *const *bindings;
    // How many.
    size_t binding_count;
    // Inputs.
    const gpucc_input *const *inputs;
    // How many.
    size_t input_count;
    // Outputs.
    const gpucc_output *const *outputs;
    // How many.
    size_t output_count;
    // What the driver programs.
    const gpucc_setting *const *settings;
    // How many.
    size_t setting_count;
    // Words that the driver fills.
    const gpucc_driver_constant *const *driver_constants;
    // How many.
    size_t driver_constant_count;
    // Places in the source.
    const gpucc_line *const *lines;
    // How many.
    size_t line_count;
    // What the code rests on.
    const gpucc_ground *const *grounds;
    // How many.
    size_t ground_count;
} gpucc_info;

// The name of a request and of what it gives. It stays the same on every host and thread, and in every process of the same
// build of gpucc; another build has other keys.
typedef struct {
    // A hash.
    uint8_t bytes[32];
} gpucc_key;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this interface: GPUCC_ABI_VERSION of the header that the library was built with.
uint32_t gpucc_abi_version(void);

// Name, version and build of the compiler: results are kept under it (gpucc_request_key).
gpucc_text gpucc_version(void);

// The targets: an array of objects with names, chips, stages, limits and what the silicon refuses.
gpucc_text gpucc_targets_json(void);

// Makes a compiler.
gpucc_status gpucc_compiler_create(const gpucc_config *config, gpucc_compiler **compiler);

// Takes a compiler into the caches before its first shader: compiles three small programs and forgets them. The first
// compilation of a process takes two to three times as long as later ones, and behind this little longer. A driver calls
// it where nobody waits, on any thread.
gpucc_status gpucc_compiler_warm_up(const gpucc_compiler *compiler);

// Ends a compiler. What it made does not need it.
void gpucc_compiler_destroy(gpucc_compiler *compiler);

// Reads a source once for several compilations. `*parsed` is set, on failure too where the arguments can be read: of a source
// that is longer than any that is read, its outcome has the bytes that it has and those that are taken.
// Of the options it takes the values of constants, the budget and `cancel`; the others are those of each request. A
// compilation whose constants or budget are others goes on from what was read, and the latest four of these are kept. The
// source is read again where it has no such constants, or where values decide how WGSL reads.
gpucc_status gpucc_parse(const gpucc_compiler *compiler,
                         const gpucc_source *source,
                         const gpucc_options *options,
                         gpucc_parsed **parsed);

// Ends a parsed source.
void gpucc_parsed_destroy(gpucc_parsed *parsed);

// How reading ended. An entry point that cannot be compiled fails alone, by its compilation.
const gpucc_outcome *gpucc_parsed_outcome(const gpucc_parsed *parsed);

// How many entry points it has.
size_t gpucc_parsed_entry_count(const gpucc_parsed *parsed);

// The name of an entry point, and its gpucc_stage where `stage` is not null: GPUCC_STAGE_ANY where it could not be read.
gpucc_text gpucc_parsed_entry(const gpucc_parsed *parsed,
                              size_t index,
                              uint32_t *stage);

// Compiles an entry point. `*result` is set, on failure too where the arguments can be read. Equal requests give equal
// results.
gpucc_status gpucc_compile(const gpucc_compiler *compiler,
                           const gpucc_request *request,
                           gpucc_result **result);

// Compiles a vertex and a fragment entry point that are linked: the vertex program writes what the fragment program
// reads, and nothing else. On failure the one of the two results that has it is set, and the other one is null.
gpucc_status gpucc_compile_pair(const gpucc_compiler *compiler,
                                const gpucc_request *vertex,
                                const gpucc_request *fragment,
                                gpucc_result **vertex_result,
                                gpucc_result **fragment_result);

// Compiles the programs that fixed function needs around a pair: set-up, clipping. Most machines need none. `*count` is
// how many there are; where `results` has room for as many, it gets them, and null pointers behind them. Else it gets null
// pointers alone.
gpucc_status gpucc_compile_kernels(const gpucc_compiler *compiler,
                                   const gpucc_result *vertex,
                                   const gpucc_result *fragment,
                                   gpucc_result **results,
                                   size_t room,
                                   size_t *count);

// Ends a result. A device made of it stays.
void gpucc_result_destroy(gpucc_result *result);

// Makes a device of a compute program, or of a vertex and a fragment program; `fragment` is null for a compute program.
// Buffers are bound to zeros of their declared size, the larger one where the stages declare two; textures are bound to
// nothing, samplers to zeros.
gpucc_status gpucc_device_create(const gpucc_result *program,
                                 const gpucc_result *fragment,
                                 gpucc_device **device);

// Ends a device.
void gpucc_device_destroy(gpucc_device *device);

// Sets how many steps each dispatch, or each batch of a draw, may take. A step is one instruction of a wavefront or a warp.
gpucc_status gpucc_device_set_steps(gpucc_device *device,
                                    uint64_t steps);

// Binds a copy of these bytes to a buffer or to the immediates.
gpucc_status gpucc_device_bind_buffer(gpucc_device *device,
                                      const gpucc_place *place,
                                      gpucc_bytes data);

// Binds an image to a texture or storage texture; without bytes it holds zeros.
gpucc_status gpucc_device_bind_image(gpucc_device *device,
                                     const gpucc_place *place,
                                     const gpucc_image *image,
                                     gpucc_bytes data);

// Binds a sampler.
gpucc_status gpucc_device_bind_sampler(gpucc_device *device,
                                       const gpucc_place *place,
                                       const gpucc_sampler *sampler);

// Gives a vertex buffer, by its number in the pipeline, a copy of these bytes.
gpucc_status gpucc_device_vertex_buffer(gpucc_device *device, uint32_t number, gpucc_bytes data);

// Binds what a draw writes to at a location, or at GPUCC_DEPTH_TARGET; without bytes it holds zeros.
gpucc_status gpucc_device_set_target(gpucc_device *device,
                                     uint32_t location,
                                     const gpucc_image *image,
                                     gpucc_bytes data);

// Reads a buffer or an image back. Where each stage has bytes of its own, `place` names the stage. `*size` is how many bytes
// it has; where `room` is less or `to` is null, nothing is copied.
gpucc_status gpucc_device_read(const gpucc_device *device,
                               const gpucc_place *place,
                               uint8_t *to,
                               size_t room,
                               size_t *size);

// Reads a target back, as gpucc_device_read does.
gpucc_status gpucc_device_read_target(const gpucc_device *device,
                                      uint32_t location,
                                      uint8_t *to,
                                      size_t room,
                                      size_t *size);

// Runs workgroups of a compute program on the emulated machine, set up from the result alone.
gpucc_status gpucc_device_dispatch(gpucc_device *device, uint32_t x, uint32_t y, uint32_t z);

// Draws to the targets on the emulated machine. Where a stage stores to a buffer or image of both, vertices run in batches of
// 64, and pixels when 16 quads are collected or the draw ends, in the order of primitives. Silicon promises less: a pixel
// runs after the vertices of its primitive.
gpucc_status gpucc_device_draw(gpucc_device *device,
                               const gpucc_draw *draw);

// Compares the emulated machine with the interpreter on so many inputs, bit for bit. GPUCC_MISMATCH is a word that differs,
// or too little that could be compared; gpucc_last_message says which.
gpucc_status gpucc_verify(const gpucc_result *result,
                          uint32_t inputs,
                          uint64_t seed,
                          gpucc_verification *verification);

// The message of the last call of this thread that failed, until the next one fails; empty before the first.
gpucc_text gpucc_last_message(void);

// How a compilation ended: status and diagnostics.
const gpucc_outcome *gpucc_result_outcome(const gpucc_result *result);

// Code, places and state; null where the compilation failed.
const gpucc_info *gpucc_result_info(const gpucc_result *result);

// The report of the command (`--emit json`): the same as the structures, and the diagnostics.
gpucc_text gpucc_result_json(const gpucc_result *result);

// The pipeline with what was inferred filled in, as JSON (docs/embedding.md).
gpucc_text gpucc_result_pipeline_json(const gpucc_result *result);

// The code as text that assembles to the same bytes.
gpucc_text gpucc_result_assembly(const gpucc_result *result);

// The key of what gpucc_compile makes of a request, without compiling it. Included texts count, so the request's include
// function is asked.
gpucc_status gpucc_request_key(const gpucc_compiler *compiler,
                               const gpucc_request *request,
                               gpucc_key *key);

// The keys of what gpucc_compile_pair makes of two requests.
gpucc_status gpucc_pair_keys(const gpucc_compiler *compiler,
                             const gpucc_request *vertex,
                             const gpucc_request *fragment,
                             gpucc_key *vertex_key,
                             gpucc_key *fragment_key);

// The key of the request that a result is of, as gpucc_request_key and gpucc_pair_keys give it: of compiled results, and of
// those that failed. A loaded result has the key that it was loaded with. Kernels have none, nor has a request (of a pair: where
// either has none) whose source was not taken or could not be preprocessed. These are GPUCC_USAGE, with zeros as the key.
gpucc_status gpucc_result_key(const gpucc_result *result,
                              gpucc_key *key);

// A result as bytes, which gpucc_result_load reads: equal for equal requests. They live as long as the result. `key` is
// that of its request: of gpucc_request_key for a result of gpucc_compile, of gpucc_pair_keys for one of
// gpucc_compile_pair. Another key makes a blob that is found where it does not belong. A second call must give the same
// key. The interpreter's results, those of kernels and those that failed have no bytes.
gpucc_bytes gpucc_result_blob(const gpucc_result *result,
                              const gpucc_key *key);

// The result in a blob, in place of gpucc_compile with the same request. GPUCC_USAGE means that the blob is another
// build's, another request's, or damaged: compile. A loaded result runs on devices. It has no SSA, so it cannot be
// verified.
gpucc_status gpucc_result_load(const gpucc_compiler *compiler,
                               const gpucc_request *request,
                               const gpucc_key *key,
                               gpucc_bytes blob,
                               gpucc_result **result);

// Lets programs see `size` bytes of a bound buffer from byte `offset` on: the dynamic offset of a descriptor. 0 is all that
// there is behind the offset. Code does not depend on it: a driver adds the offset to the base address wherever
// gpucc_info has the binding, in its slots and its driver constants, and takes the range's size for that of the buffer.
// What is bound anew has no range.
gpucc_status gpucc_device_set_range(gpucc_device *device,
                                    const gpucc_place *place,
                                    uint64_t offset,
                                    uint64_t size);

// Overwrites push constants from byte `offset` on, as vkCmdPushConstants does: those of `stage`, a gpucc_stage, or of each
// stage that has some. Bytes beyond what a program declares are dropped.
gpucc_status gpucc_device_push(gpucc_device *device,
                               uint32_t stage,
                               uint32_t offset,
                               gpucc_bytes data);

// Gives a setting of a program the words that a driver made of it: dispatches and draws take these in place of
// gpucc_info.settings. `name` is that of the gpucc_setting; a register has one word, a descriptor has `word_count`. The
// other kinds are facts of the program and no words of the hardware: they are GPUCC_USAGE. Bits that the setting's mask
// lacks are the driver's own, and no emulated machine looks at them. Bits within the mask that the emulated machine does not
// look at are GPUCC_NOT_YET where they change:
// - r600, r700: registers of units that are not emulated. SQ_PGM_START_* is taken: a driver writes there where the code is.
// - valhall: all but when depth is tested and written, what the program does to coverage, depth and stencil, how a target
//   takes colours (not its equation), warps of half the width, helper threads, and whether workgroups share a warp.
// - gen4, g45: of a SURFACE_STATE that is bound all but its type; the SURFACE_STATE of targets, 3DSTATE_DEPTH_BUFFER and the
//   blending of COLOR_CALC_STATE. These come of the image and of the draw.
// - rogue: PROGRAM_HEADER, and PPP_OUTPUT_SEL and PPP_VARYING0 of a vertex program.
//
// All other bits of the mask are taken. Words that the manual forbids for the program are GPUCC_USAGE when it runs, with the
// rule and the place.
gpucc_status gpucc_device_set_words(gpucc_device *device,
                                    uint32_t stage,
                                    gpucc_text name,
                                    const uint32_t *words,
                                    size_t word_count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GPUCC_H */

/* A text that ends with a zero byte. */
static inline gpucc_text gpucc_text_of(const char *text) {
    gpucc_text made = {text, 0};
    while (text && text[made.size]) {
        made.size++;
    }
    return made;
}

/* Bytes. */
static inline gpucc_bytes gpucc_bytes_of(const void *data, size_t size) {
    gpucc_bytes made = {(const uint8_t *)data, size};
    return made;
}

#if UINTPTR_MAX > 0xFFFFFFFFu
#ifdef __cplusplus
#define GPUCC_SIZE(type, size) static_assert(sizeof(type) == size, #type)
#else
#define GPUCC_SIZE(type, size) _Static_assert(sizeof(type) == size, #type)
#endif
GPUCC_SIZE(gpucc_config, 56);
GPUCC_SIZE(gpucc_define, 40);
GPUCC_SIZE(gpucc_source, 80);
GPUCC_SIZE(gpucc_override, 32);
GPUCC_SIZE(gpucc_options, 88);
GPUCC_SIZE(gpucc_request, 56);
GPUCC_SIZE(gpucc_attribute, 32);
GPUCC_SIZE(gpucc_vertex_buffer, 16);
GPUCC_SIZE(gpucc_stream_output, 24);
GPUCC_SIZE(gpucc_vertex_state, 104);
GPUCC_SIZE(gpucc_color_target, 56);
GPUCC_SIZE(gpucc_fragment_state, 48);
GPUCC_SIZE(gpucc_binding_slot, 16);
GPUCC_SIZE(gpucc_pipeline, 48);
GPUCC_SIZE(gpucc_text, 16);
GPUCC_SIZE(gpucc_bytes, 16);
GPUCC_SIZE(gpucc_key, 32);
GPUCC_SIZE(gpucc_label, 40);
GPUCC_SIZE(gpucc_diagnostic, 72);
GPUCC_SIZE(gpucc_outcome, 72);
GPUCC_SIZE(gpucc_blend_component, 12);
GPUCC_SIZE(gpucc_named, 24);
GPUCC_SIZE(gpucc_figure, 24);
GPUCC_SIZE(gpucc_program, 56);
GPUCC_SIZE(gpucc_binding, 64);
GPUCC_SIZE(gpucc_input, 120);
GPUCC_SIZE(gpucc_output, 88);
GPUCC_SIZE(gpucc_program_state, 20);
GPUCC_SIZE(gpucc_table_use, 8);
GPUCC_SIZE(gpucc_constant_buffer, 24);
GPUCC_SIZE(gpucc_setting, 128);
GPUCC_SIZE(gpucc_driver_constant, 40);
GPUCC_SIZE(gpucc_line, 16);
GPUCC_SIZE(gpucc_ground, 40);
GPUCC_SIZE(gpucc_stats, 136);
GPUCC_SIZE(gpucc_info, 296);
GPUCC_SIZE(gpucc_place, 24);
GPUCC_SIZE(gpucc_image, 48);
GPUCC_SIZE(gpucc_sampler, 64);
GPUCC_SIZE(gpucc_draw, 104);
GPUCC_SIZE(gpucc_verification, 24);
#undef GPUCC_SIZE
#endif
