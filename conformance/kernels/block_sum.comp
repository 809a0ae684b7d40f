#version 460
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint block = 8;
layout(binding = 0) readonly buffer Source { float source[]; };
layout(binding = 1) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Arguments { uint count; };

void main() {
  uint first = gl_GlobalInvocationID.x * block;
  float sum = 0.0;
  for (uint i = first; i < min(first + block, count); ++i) sum += source[i];
  sums[gl_GlobalInvocationID.x] = sum;
}
