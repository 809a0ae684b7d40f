#version 460
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Source { uint source[]; };
layout(binding = 1) writeonly buffer Destination { uint destination[]; };
layout(push_constant) uniform Arguments { uint count; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) destination[i] = source[i];
}
