#version 460
layout(local_size_x = 64) in;
layout(binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Arguments { uint count; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) values[i] += 1;
}
