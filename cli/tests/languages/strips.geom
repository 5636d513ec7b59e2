#version 450
layout(triangles, invocations = 2) in;
layout(line_strip, max_vertices = 8) out;
layout(location = 0) in vec4 color[];
layout(location = 1) in Block { flat ivec2 a; float b[2]; } blk[];
layout(location = 0) out vec4 c;
layout(location = 1) flat out int id;
layout(location = 2) noperspective out float f;
layout(set = 0, binding = 0) buffer B { int n; int got[]; };
layout(push_constant) uniform P { float scale; int which; };
out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[2]; };
in gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[2]; } gl_in[];
void emit(int i) {
  gl_Position = gl_in[i].gl_Position * scale;
  gl_PointSize = gl_in[i].gl_PointSize;
  gl_ClipDistance[0] = gl_in[i].gl_ClipDistance[1];
  gl_ClipDistance[1] = 1.0;
  c = color[i];
  id = blk[i].a.y + gl_PrimitiveIDIn;
  f = blk[(i + which) % 3].b[which & 1];
  gl_PrimitiveID = gl_PrimitiveIDIn * 2 + gl_InvocationID;
  EmitVertex();
}
void main() {
  for (int i = 0; i < 3; ++i) emit((i + gl_InvocationID) % 3);
  if (blk[0].a.x > 0) { emit(0); EndPrimitive(); emit(1); emit(which); }
  EndPrimitive();
  if (n > 4 && gl_PrimitiveIDIn < 20) got[gl_PrimitiveIDIn] = gl_in.length();
}
