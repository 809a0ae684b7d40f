#version 460
layout(local_size_x = 1) in;
layout(binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Arguments { uint index; uint value; };

void main() { values[index] = value; }
