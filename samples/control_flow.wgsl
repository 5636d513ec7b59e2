// Every form of control flow: if, switch with fall-through cases, for, while, loop with continuing and
// break if, continue, early return, and a break out of a nested loop.
//
//   gpucc run samples/control_flow.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=u32:0,1,2,3,4,5,6,60 --set 0.1=zeros:32 --dump 0.1:u32

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn classify(n: u32) -> u32 {
    switch n % 7u {
        case 0u: { return 100u; }
        case 1u, 2u, 3u: {
            if n > 50u {
                break;
            }
            return 200u;
        }
        case 4u: { return 300u + n; }
        default: {}
    }
    return 400u;
}

fn first_divisor(n: u32) -> u32 {
    for (var d = 2u; d * d <= n; d++) {
        if n % d == 0u {
            return d; // leaves the loop and the function
        }
    }
    return n;
}

fn digits(start: u32) -> u32 {
    var n = start;
    var sum = 0u;
    while n != 0u {
        sum += n % 10u;
        n /= 10u;
    }
    return sum;
}

fn skip_and_stop(n: u32) -> u32 {
    var i = 0u;
    var total = 0u;
    loop {
        if (i & 3u) == (n & 3u) {
            continue;
        }
        for (var j = 0u; j < 4u; j++) {
            if j == i {
                break;
            }
            total += i * j;
        }
        if total > 60u {
            break;
        }
        total += 1u;

        continuing {
            i += 1u;
            break if i >= 12u;
        }
    }
    return total;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let n = input[id.x] & 0x3FFu;
    output[id.x] = classify(n) + 1000u * first_divisor(n | 1u) + digits(n) * 7u + skip_and_stop(n);
}
