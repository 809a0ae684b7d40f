#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "translator_test_support.h"

// What the translator cannot do it says by name; what is no module is an error, never a crash.

namespace backplane::translator::test {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader = "layout(local_size_x = 64) in;\nlayout(binding=0) buffer O { uint o[]; };\n";

void expect_refused(const Words& words, const std::string& name) {
  const std::unique_ptr<Output> output = lower(words);
  EXPECT_FALSE(output->is_ok());
  EXPECT_THAT(output->error(), HasSubstr(name));
  EXPECT_TRUE(output->is_unsupported()) << output->error();
}

std::string glsl(const std::string& body) {
  return std::string(kHeader) + body;
}

TEST(RefusalTest, Barriers) {
  expect_refused(compile_glsl(glsl("void main() { o[0] = 1u; barrier(); o[1] = 2u; }")), "OpControlBarrier");
}

TEST(RefusalTest, Subgroups) {
  expect_refused(compile_glsl(glsl("void main() { o[gl_SubgroupInvocationID] = 1u; }")), "GroupNonUniform");
}

TEST(RefusalTest, ImagesAndSamplers) {
  expect_refused(compile_glsl(glsl("layout(binding=1, r32f) uniform image2D image;\n"
                                   "void main() { imageStore(image, ivec2(0), vec4(1)); }")),
                 "OpTypeImage");
  expect_refused(compile_glsl(glsl("layout(binding=1) uniform sampler2D image;\n"
                                   "void main() { o[0] = uint(textureLod(image, vec2(0), 0.0).x); }")),
                 "OpTypeImage");
}

TEST(RefusalTest, ArraysOfBuffersAndOtherSets) {
  expect_refused(
      compile_glsl("layout(binding=0) buffer O { uint o[]; } many[2];\nvoid main() { many[1].o[0] = 1u; }"),
      "arrays of buffers");
  expect_refused(compile_glsl("layout(set=1, binding=0) buffer O { uint o[]; };\nvoid main() { o[0] = 1u; }"),
                 "set 0");
}

TEST(RefusalTest, TooMuchPrivateMemory) {
  expect_refused(compile_glsl(glsl("void main() { uint big[100000]; big[o[0]] = 1u; o[1] = big[o[2]]; }")),
                 "private memory");
}

TEST(RefusalTest, AbsurdWorkgroups) {
  expect_refused(assemble(R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 4294967295 4294967295 4294967295
%void = OpTypeVoid
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%start = OpLabel
OpReturn
OpFunctionEnd)"),
                 "4294967295");
}

/// A module around lines at module scope and the lines of its one function.
Words module_of(const std::string& globals, const std::string& body, const std::string& capabilities = "") {
  return assemble("OpCapability Shader\n" + capabilities + R"(
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%one = OpConstant %uint 1
)" + globals + R"(
%main = OpFunction %void None %function
%start = OpLabel
)" + body + R"(
OpReturn
OpFunctionEnd
)");
}

TEST(RefusalTest, Recursion) {
  expect_refused(module_of("", "%result = OpFunctionCall %void %main"), "recursion");
}

TEST(RefusalTest, PhysicalStorageBuffers) {
  expect_refused(module_of("%pointer = OpTypePointer PhysicalStorageBuffer %uint", ""),
                 "physical storage buffers");
  expect_refused(module_of("", "", "OpCapability PhysicalStorageBufferAddresses\n"),
                 "PhysicalStorageBufferAddresses");
}

TEST(RefusalTest, UnknownInstructionsByName) {
  expect_refused(
      module_of("", "%result = OpBitFieldUExtract %uint %one %one %one\n%bad = OpFwidth %float %one"),
      "OpFwidth %");
}

TEST(RefusalTest, TypesNestedTooDeep) {
  std::string globals = "%t0 = OpTypeStruct %uint\n";
  for (int depth = 1; depth < 200; ++depth) {
    globals += "%t" + std::to_string(depth) + " = OpTypeStruct %t" + std::to_string(depth - 1) + "\n";
  }
  expect_refused(module_of(globals, ""), "deep");
}

TEST(RefusalTest, ArraysOfAbsurdSize) {
  expect_refused(module_of("%many = OpConstant %uint 2000000000\n%a = OpTypeArray %uint %many\n", ""),
                 "2 GiB");
}

TEST(RefusalTest, TheSourceLineIsNamedWhereTheModuleHasIt) {
  const std::unique_ptr<Output> output =
      lower(compile_glsl(glsl("void main() {\n  o[0] = 1u;\n  barrier();\n}"), true));
  EXPECT_THAT(output->error(), HasSubstr("OpControlBarrier"));
  EXPECT_THAT(output->error(), HasSubstr(":12"));
}

TEST(RefusalTest, TargetsThatAreNotThereYet) {
  const Words words = compile_glsl(glsl("void main() { o[0] = 1u; }"));
  for (const TranslationTarget target : {TranslationTarget::nvptx, TranslationTarget::amdgpu}) {
    TranslationRequest request = request_for(words);
    request.target = target;
    const Output output(api().lower(&request));
    EXPECT_TRUE(output.is_unsupported());
    EXPECT_THAT(output.error(), HasSubstr("NVPTX or AMDGPU"));
  }
}

TEST(RefusalTest, ProcessorsThatLlvmDoesNotKnow) {
  const Words words = compile_glsl(glsl("void main() { o[0] = 1u; }"));
  TranslationRequest request = request_for(words);
  request.processor = "no-such-processor";
  EXPECT_THAT(Output(api().lower(&request)).error(), HasSubstr("no-such-processor"));
}

TEST(RefusalTest, TheLabelIsNamed) {
  const Words words = compile_glsl(glsl("void main() { barrier(); }"));
  TranslationRequest request = request_for(words);
  request.label = "blur";
  EXPECT_THAT(Output(api().lower(&request)).error(), HasSubstr("blur: "));
}

TEST(MalformedTest, AMissingEntryPoint) {
  const Words words = compile_glsl(glsl("void main() { o[0] = 1u; }"));
  TranslationRequest request = request_for(words);
  request.entry_point = "other";
  const Output output(api().lower(&request));
  EXPECT_THAT(output.error(), HasSubstr("\"other\""));
  EXPECT_FALSE(output.is_unsupported());
}

TEST(MalformedTest, RequestsOfAnotherRevision) {
  TranslationRequest request{};
  EXPECT_FALSE(Output(api().lower(&request)).is_ok());
  EXPECT_FALSE(Output(api().lower(nullptr)).is_ok());
}

TEST(MalformedTest, HugeIds) {
  Words words = compile_glsl(glsl("void main() { o[0] = 1u; }"));
  words[3] = 0xFFFFFFFF;
  EXPECT_THAT(lower(words)->error(), HasSubstr("4294967295"));
  words[3] = 5;
  EXPECT_THAT(lower(words)->error(), HasSubstr("bound"));
}

const char* const kRich = R"(
layout(local_size_x = 64) in;
struct Pair { vec3 a; float b; };
layout(binding=0, std430) buffer O { Pair o[]; };
layout(binding=1, row_major) readonly buffer M { mat3 m[]; };
layout(push_constant) uniform P { uint n; };
shared uint total;
float twice(inout float x) { x *= 2.0; return x + 1.0; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  float sum = 0.0;
  for (uint k = 0u; k < 4u; ++k) {
    switch (k) { case 0u: sum += sin(o[i].b); break; case 2u: sum += twice(sum); break; default: continue; }
  }
  atomicAdd(total, i / n);
  o[i] = Pair(m[i] * o[i].a, sum + float(o.length()));
})";

TEST(MalformedTest, EveryTruncationIsAnError) {
  const Words whole = compile_glsl(kRich);
  ASSERT_TRUE(lower(whole)->is_ok()) << lower(whole)->error();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Words words(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_FALSE(lower(words)->is_ok()) << length;
  }
}

TEST(MalformedTest, MutatedModulesAreRefusedOrTranslated) {
  Random random(1);  // always the same: a module that crashed the process could not print its seed
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  const Words whole = compile_glsl(kRich);
  std::mt19937_64& engine = random.engine();
  for (int repeat = 0; repeat < 3000; ++repeat) {
    Words words = whole;
    for (std::uint64_t change = 0; change <= engine() % 3; ++change) {
      std::uint32_t& word = words[5 + engine() % (words.size() - 5)];
      // Mostly small numbers: they are ids, opcodes and literals that mean something.
      word = engine() % 4 == 0 ? static_cast<std::uint32_t>(engine())
                               : word ^ static_cast<std::uint32_t>(engine() % 64);
    }
    const std::unique_ptr<Output> output = lower(words);
    ASSERT_TRUE(output->is_ok() || !output->error().empty());
    if (output->is_ok() && repeat % 8 == 0) {
      const TranslationRequest request = request_for(words);
      const std::unique_ptr<Output> object = generate(request, *output);
      ASSERT_TRUE(object->is_ok() || !object->error().empty());
    }
  }
}

TEST(MalformedTest, WhatIsNoBitcodeOrObject) {
  const Words words = compile_glsl(glsl("void main() { o[0] = 1u; }"));
  const TranslationRequest request = request_for(words);
  const std::vector<std::byte> noise(100, std::byte{0x42});
  EXPECT_FALSE(Output(api().generate(&request, noise.data(), noise.size())).is_ok());
  EXPECT_FALSE(Output(api().generate(&request, nullptr, 0)).is_ok());
  EXPECT_FALSE(Output(api().disassemble(&request, noise.data(), noise.size())).is_ok());
  HostKernelInfo info{};
  TranslationOutput failure{};
  EXPECT_EQ(api().link(noise.data(), noise.size(), &info, &failure), nullptr);
  EXPECT_FALSE(Output(failure).error().empty());
}

TEST(OutputTest, TheSameRequestGivesTheSameBytes) {
  const Words words = compile_glsl(kRich);
  const std::unique_ptr<Output> first = lower(words);
  const std::unique_ptr<Output> second = lower(words);
  EXPECT_EQ(first->text(), second->text());
  const TranslationRequest request = request_for(words);
  EXPECT_EQ(generate(request, *first)->text(), generate(request, *second)->text());
}

TEST(OutputTest, TheFingerprintNamesWhatCodeDependsOn) {
  const std::string text = api().fingerprint();
  EXPECT_THAT(text, HasSubstr("translator "));
  EXPECT_THAT(text, HasSubstr("LLVM 19"));
  EXPECT_EQ(text, api().fingerprint());
}

TEST(OutputTest, BitcodeAndObjectsHaveATextForm) {
  const TestKernel kernel(compile_glsl(kRich));
  EXPECT_THAT(kernel.ir(), HasSubstr("define void @backplane_kernel"));
  EXPECT_THAT(kernel.assembly(), HasSubstr("backplane_kernel:"));
}

TEST(OutputTest, SeveralThreadsTranslateAtOnce) {
  const Words words = compile_glsl(kRich);
  const std::string expected = lower(words)->text();
  std::vector<std::thread> threads;
  std::vector<int> is_same(4, 0);
  for (std::size_t index = 0; index < is_same.size(); ++index) {
    threads.emplace_back([&, index] {
      const TranslationRequest request = request_for(words);
      const std::unique_ptr<Output> lowered = lower(words);
      const std::unique_ptr<Output> object = generate(request, *lowered);
      HostKernelInfo info{};
      TranslationOutput failure{};
      void* handle = api().link(object->bytes().data(), object->bytes().size(), &info, &failure);
      is_same[index] = handle != nullptr && lowered->text() == expected ? 1 : 0;
      api().unlink(handle);
      api().release(&failure);
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  EXPECT_EQ(is_same, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace backplane::translator::test
