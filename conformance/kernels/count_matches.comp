#version 460
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Values { uint values[]; };
layout(binding = 1) buffer Bins { uint bins[16]; };
layout(push_constant) uniform Arguments { uint count; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) atomicAdd(bins[values[i] & 15], 1);
}
