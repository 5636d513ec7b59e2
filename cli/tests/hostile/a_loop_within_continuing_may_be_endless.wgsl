@group(0) @binding(0) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    loop {
        i += words[i];
        if i > 3u {
            return;
        }
        continuing {
            loop {
                words[2] = i;
            }
        }
    }
}
