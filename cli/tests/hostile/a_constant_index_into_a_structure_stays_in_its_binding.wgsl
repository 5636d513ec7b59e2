struct Cell {
    color: vec4u,
    weights: array<u32, 4>,
}
struct Grid {
    count: u32,
    cells: array<Cell>,
}
@group(0) @binding(0) var<storage, read_write> grid: Grid;
@group(0) @binding(1) var<storage, read_write> other: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let cell = &grid.cells[6];
    (*cell).weights[id.x + 2u] = 4u;
    let far = 51;
    grid.cells[far].color.z = 5u;
    other[0] = grid.cells[200].weights[1];
}
