#version 460
layout(local_size_x = 4, local_size_y = 3, local_size_z = 2) in;
layout(binding = 0) writeonly buffer Ids { uvec4 ids[]; };

// One record an invocation: its workgroup, packed, its place in it, its index there, the number of workgroups, packed.
void main() {
  uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize;
  uvec3 at = gl_GlobalInvocationID;
  uint index = (at.z * size.y + at.y) * size.x + at.x;
  uvec3 group = gl_WorkGroupID;
  uvec3 local = gl_LocalInvocationID;
  uvec3 groups = gl_NumWorkGroups;
  ids[index] = uvec4(group.x | group.y << 8 | group.z << 16, local.x | local.y << 8 | local.z << 16,
                     gl_LocalInvocationIndex, groups.x | groups.y << 8 | groups.z << 16);
}
