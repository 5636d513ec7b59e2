//! Image and sampler state. Pipeline page 4.5. Levels of detail have four and six bits.

enums! {
    SWIZZLE "Channel" { 0 "src0", 1 "src1", 2 "src2", 3 "src3", 4 "one", 5 "zero" }
    TEXTYPE "Texture type" { 0 "1d", 1 "2d", 2 "3d", 3 "cube", 4 "stride", 5 "pagetile", 6 "buffer_lookup" }
    ADDRESS "Address mode" { 0 "repeat", 1 "flip", 2 "clamp_to_edge", 3 "flip_once", 4 "border", 5 "ogl_clamp" }
    FILTER "Filter" { 0 "point", 1 "linear", 2 "bicubic" }
    ANISO "Anisotropy" { 0 "off", 1 "2", 2 "4", 3 "8", 4 "16" }
}

words! {
    /// FORMAT is a code of the page's list, of compressed images of its other one.
    image0 "Image word 0" 64 "4.5" {
        SMPCNT [63:62] Unsigned; HEIGHT [61:48] Unsigned, plus 1; WIDTH [47:34] Unsigned, plus 1; FORMAT [33:27] Unsigned;
        MINLOD [26:17] Unsigned; SWIZ0 [16:14] Enum(&e::SWIZZLE); SWIZ1 [13:11] Enum(&e::SWIZZLE);
        SWIZ2 [10:8] Enum(&e::SWIZZLE); SWIZ3 [7:5] Enum(&e::SWIZZLE); GAMMA [4:3] Unsigned;
        TEXTYPE [2:0] Enum(&e::TEXTYPE);
    }
    /// Twiddled images. The address is in words.
    image1 "Image word 1" 64 "4.5" {
        BASELEVEL [63:60] Unsigned; ALPHA_MSB [59:59] Flag; BORDER [58:58] Flag; COMPRESSION [57:54] Unsigned;
        TEXADDR_HI [53:48] Unsigned; TEXADDR_LO [47:16] Unsigned; MIPMAPS_PRESENT [15:15] Flag;
        DEPTH [14:4] Unsigned, plus 1; LEVELS [3:0] Unsigned;
    }
    /// Linear images.
    stride_image1 "Stride image word 1" 64 "4.5" {
        LEVELS [63:60] Unsigned; ALPHA_MSB [59:59] Flag; TEXADDR_HI [53:48] Unsigned; TEXADDR_LO [47:16] Unsigned;
        MIPMAPS_PRESENT [15:15] Flag; STRIDE [14:0] Unsigned, plus 1;
    }
    /// Images of several planes.
    yuv_image1 "YUV image word 1" 64 "4.5" {
        CSC_INDEX [63:60] Unsigned; INTERP_V [59:59] Flag; INTERP_U [53:53] Flag; STRIDE [52:38] Unsigned;
        TEXADDR_HI [37:32] Unsigned; TEXADDR_LO [31:0] Unsigned;
    }
    /// Of images with one plane; DADJUST has eight binary places, and 4095 is no bias.
    sampler0 "Sampler word 0" 64 "4.5" {
        CMP_MODE [61:59] Unsigned; ADDRMODE_W [58:56] Enum(&e::ADDRESS); BORDER_INDEX [55:50] Unsigned;
        NON_NORM [49:49] Flag; LUMAKEY_ALPHA [48:48] Flag; LUMAKEY [47:47] Flag; ADDRMODE_V [46:44] Enum(&e::ADDRESS);
        ADDRMODE_U [43:41] Enum(&e::ADDRESS); MIPFILTER [40:40] Flag; MINFILTER [39:38] Enum(&e::FILTER);
        MAGFILTER [37:36] Enum(&e::FILTER); ANISOCTL [35:33] Enum(&e::ANISO); MAXLOD [32:23] Unsigned;
        MINLOD [22:13] Unsigned; DADJUST [12:0] Unsigned;
    }
    sampler1 "Sampler word 1" 64 "4.5" {
        CEMEDGE_DONTFILTER [63:63] Flag; PLANE3_HI [61:56] Unsigned; PLANE3_LO [55:24] Unsigned; PLANE2_HI [23:0] Unsigned;
    }
}
