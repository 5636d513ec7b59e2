struct Node {
    value: i32,
    next: i32,
}
var<private> nodes: array<Node, 9>;
var<private> shade: vec4f;

fn find(value: i32) -> i32 {
    var at: i32;
    loop {
        if at != -1 {
            if nodes[at].value == value {
                return value;
            }
            at = nodes[at].next;
        }
    }
}

fn settle(end: i32, value: i32) {
    var at = 0;
    loop {
        if at <= end {
            if value <= nodes[at].value {
                if nodes[at].next == -1 {
                    nodes[at].next = end;
                    at = nodes[at].next;
                    continue;
                }
            }
        } else {
            break;
        }
    }
}

@fragment
fn main() -> @location(0) vec4f {
    var count = 0;
    var i = 0;
    settle(0, 0);
    loop {
        if count >= 1000 {
            break;
        }
        if i < 20 {
            if find(i) == i {
                count++;
            }
        } else {
            break;
        }
        continuing {
            i++;
            if count == 20 {
                shade = vec4f(1.0, 0.0, 0.5, 1.0);
            }
        }
    }
    return shade;
}
