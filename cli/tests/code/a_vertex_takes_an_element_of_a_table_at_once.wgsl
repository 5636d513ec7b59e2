// on gen4 g45
// 1 VxH
// 1 add(4) a0
// 0 sel(8)
@vertex fn main(@builtin(vertex_index) number: u32) -> @builtin(position) vec4f {
  var corners = array(vec2f(-1.0, -1.0), vec2f(3.0, -1.0), vec2f(-1.0, 3.0), vec2f(1.0, 2.0));
  return vec4f(corners[number & 3u], 0.0, 1.0);
}
