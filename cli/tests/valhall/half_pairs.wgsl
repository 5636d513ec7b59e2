// Pairs of 16-bit values at addresses that are no multiples of 4.
enable f16;

struct Pair { a: f16, b: f16 }
struct Row { x: f16, first: Pair, second: Pair, y: f16 }
struct Odd { x: f16, three: array<f16, 3>, first: Pair }

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read_write> out: array<Row>;
@group(0) @binding(2) var<storage, read_write> odd: array<Odd>;

var<workgroup> shared_rows: array<Row, 8>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    let one = rows[i].first;
    let other = rows[i ^ 1u];
    out[i] = Row(one.b, other.second, one, other.y);
    out[i + 8u].second = one;

    let three = odd[i].three;
    odd[i].first = Pair(three[2], three[0]);

    var own: array<Row, 8>;
    own[i] = other;
    own[(i + 3u) % 8u].first = Pair(one.b, one.a);
    shared_rows[i] = own[u32(one.a) % 8u];
    workgroupBarrier();
    out[i + 16u] = shared_rows[(i + 5u) % 8u];
}
