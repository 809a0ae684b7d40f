#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/kernel.h>

#include "kernel/glsl.h"
#include "kernel/kernel_record.h"

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSaxpy = R"(
layout(local_size_x = 64, local_size_y = 2) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Args { float a; uint n; };
void main() { uint i = gl_GlobalInvocationID.x; if (i < n) y[i] = a * x[i] + y[i]; })";

std::string failure(const Result<Kernel>& result) {
  return result ? "" : result.error().to_string();
}

TEST(KernelFromGlsl, ReflectsBindingsScalarsAndWorkgroup) {
  const Kernel kernel = Kernel::from_glsl("saxpy", kSaxpy).value();
  EXPECT_EQ(kernel.label(), "saxpy");
  ASSERT_EQ(kernel.bindings().size(), 2U);
  EXPECT_EQ(kernel.bindings()[0].access, Access::read);
  EXPECT_EQ(kernel.bindings()[1].access, Access::read_write);
  EXPECT_EQ(kernel.bindings()[0].minimum_bytes, 4U);
  EXPECT_EQ(kernel.scalar_bytes(), 8U);
  EXPECT_EQ(kernel.workgroup_size(), (WorkgroupSize{64, 2, 1}));
}

TEST(KernelFromGlsl, FindsAccessesThroughFunctionsAndAtomics) {
  const Kernel kernel = Kernel::from_glsl("access", R"(
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { float a[]; };
layout(binding = 1) buffer B { uint b[]; };
layout(binding = 2) buffer C { uint c[]; };
layout(binding = 4) buffer D { float d; vec4 e[3]; };
float get(uint i) { return a[i]; }
void put(uint i, float v) { d = v; }
void main() {
  put(0, get(gl_LocalInvocationIndex));
  atomicAdd(b[1], 2);
  c[0] = a.length();
})")
                            .value();
  ASSERT_EQ(kernel.bindings().size(), 5U);
  EXPECT_EQ(kernel.bindings()[0].access, Access::read);
  EXPECT_EQ(kernel.bindings()[1].access, Access::read_write);
  EXPECT_EQ(kernel.bindings()[2].access, Access::write);
  EXPECT_EQ(kernel.bindings()[3].access, Access::none);
  EXPECT_EQ(kernel.bindings()[4].access, Access::write);
  EXPECT_EQ(kernel.bindings()[4].minimum_bytes, 64U);
}

TEST(KernelFromGlsl, ABufferMustHoldOneElementWithItsPadding) {
  const Kernel kernel = Kernel::from_glsl("vectors", R"(
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer A { uint count; vec3 a[]; };
void main() { a[gl_GlobalInvocationID.x] = vec3(1); })")
                            .value();
  EXPECT_EQ(kernel.bindings()[0].minimum_bytes, 32U);
}

TEST(KernelFromGlsl, NamesTheLineOfAFault) {
  EXPECT_THAT(failure(Kernel::from_glsl("bad", "void main() {\n  undeclared = 1;\n}")),
              AllOf(HasSubstr("bad:2:"), HasSubstr("undeclared")));
  EXPECT_THAT(failure(Kernel::from_glsl("bad", "// one\n/* two\n*/ #version 450\nvoid main() { x; }")),
              HasSubstr("bad:4:"));
}

TEST(KernelFromGlsl, AFaultWithoutALineKeepsItsReason) {
  EXPECT_THAT(failure(Kernel::from_glsl("recursive",
                                        "layout(local_size_x = 1) in; void f(int n) { if (n > 0) f(n - 1); }"
                                        "void main() { f(3); }")),
              HasSubstr("ecursi"));
  EXPECT_THAT(failure(Kernel::from_glsl("old", "#version 100\nvoid main() {}")), HasSubstr("version"));
}

TEST(KernelFromGlsl, RefusesWhatNoBackendTakesByName) {
  const auto refusal = [](const char* declaration, const char* use) {
    return failure(Kernel::from_glsl(
        "k", std::string("layout(local_size_x = 1) in;\n") + declaration + "\nvoid main() { " + use + " }"));
  };
  EXPECT_THAT(refusal("layout(binding = 0, rgba8) uniform image2D i;", "imageStore(i, ivec2(0), vec4(1));"),
              HasSubstr("an image or a sampler"));
  EXPECT_THAT(
      refusal("layout(binding = 0) uniform U { float u; }; layout(binding = 1) buffer B { float b; };",
              "b = u;"),
      HasSubstr("uniform block"));
  EXPECT_THAT(refusal("layout(set = 1, binding = 0) buffer B { float b; };", "b = 1;"),
              HasSubstr("descriptor set 1"));
  EXPECT_THAT(
      refusal("#extension GL_EXT_buffer_reference : require\nlayout(buffer_reference) buffer R { float r; };"
              "layout(push_constant) uniform P { R p; };",
              "p.r = 1;"),
      HasSubstr("PhysicalStorageBufferAddresses"));
}

TEST(KernelFromSpirv, RefusesWordsThatAreNoModule) {
  const std::array<std::uint32_t, 4> noise{0x07230203, 0x00010500, 7, 0xffffffff};
  EXPECT_EQ(Kernel::from_spirv("noise", noise).error().code(), ErrorCode::compilation);
  EXPECT_EQ(Kernel::from_spirv("nothing", {}).error().code(), ErrorCode::compilation);
}

TEST(KernelFromSpirv, RefusesEveryTruncationOfAModule) {
  const std::vector<std::uint32_t> words = compile_glsl("saxpy", kSaxpy).value();
  for (std::size_t length = 0; length < words.size(); ++length) {
    EXPECT_FALSE(Kernel::from_spirv("cut", std::span(words).first(length))) << length;
  }
}

TEST(KernelFromSpirv, RefusesAnEntryPointThatDoesNotExist) {
  const std::vector<std::uint32_t> words = compile_glsl("saxpy", kSaxpy).value();
  EXPECT_THAT(failure(Kernel::from_spirv("saxpy", words, "other")), HasSubstr("\"other\""));
}

TEST(KernelIdentity, SameContentAndLabelAreOneKernel) {
  const Kernel a = Kernel::from_glsl("saxpy", kSaxpy).value();
  const Kernel b = Kernel::from_glsl("saxpy", kSaxpy).value();
  const Kernel other_label = Kernel::from_glsl("axpy", kSaxpy).value();
  const Kernel other_mode = Kernel::from_glsl("saxpy", kSaxpy, ExecutionMode::unchecked).value();
  EXPECT_EQ(a.record(), b.record());
  EXPECT_NE(a.record(), other_label.record());
  EXPECT_EQ(a.record()->interface().id, other_label.record()->interface().id);
  EXPECT_NE(a.record()->interface().id, other_mode.record()->interface().id);
}

TEST(KernelIdentity, AChangedBodyUnderTheSameLabelIsAnotherKernel) {
  std::string changed = kSaxpy;
  changed.replace(changed.find("a * x"), 5, "a - x");
  EXPECT_NE(Kernel::from_glsl("saxpy", kSaxpy).value().record()->index(),
            Kernel::from_glsl("saxpy", changed).value().record()->index());
}

constexpr const char* kSpecialized = R"(
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const float scale = 2.0;
layout(constant_id = 2) const bool negate = false;
layout(binding = 0) buffer A { float a[]; };
void main() { a[gl_GlobalInvocationID.x] *= negate ? -scale : scale; })";

TEST(KernelSpecialize, SetsConstantsAndWorkgroupSize) {
  const Kernel base = Kernel::from_glsl("scale", kSpecialized).value();
  EXPECT_EQ(base.workgroup_size(), (WorkgroupSize{1, 1, 1}));
  const Kernel wide = base.specialize({{0, 128U}, {2, true}}).value();
  EXPECT_EQ(wide.workgroup_size(), (WorkgroupSize{128, 1, 1}));
  EXPECT_NE(base.record(), wide.record());
  EXPECT_EQ(wide.record(), base.specialize({{0, 128U}, {2, true}}).value().record());
}

TEST(KernelSpecialize, RefusesUnknownConstantsAndWrongSizes) {
  const Kernel base = Kernel::from_glsl("scale", kSpecialized).value();
  EXPECT_THAT(failure(base.specialize({{7, 1U}})),
              HasSubstr("it has: 0 (4 bytes), 1 (4 bytes), 2 (1 bytes)"));
  EXPECT_THAT(failure(base.specialize({{1, 2.0}})), HasSubstr("constant 1 of 8 bytes"));
}

TEST(KernelMode, ValidateIsRefusedUntilABackendSupportsIt) {
  EXPECT_EQ(Kernel::from_glsl("saxpy", kSaxpy, ExecutionMode::validate).error().code(),
            ErrorCode::compilation_unsupported);
}

void do_nothing(const CpuWorkgroup& /*workgroup*/) {}

TEST(KernelFromFunction, TakesUndeclaredAccessAsReadWrite) {
  const Kernel kernel =
      Kernel::from_function("native", do_nothing, {.buffers = {Access::read, Access::none}}).value();
  EXPECT_EQ(kernel.bindings()[0].access, Access::read);
  EXPECT_EQ(kernel.bindings()[1].access, Access::read_write);
}

TEST(KernelFromFunction, RefusesNullAndEmptyWorkgroups) {
  EXPECT_EQ(Kernel::from_function("null", nullptr, {}).error().code(), ErrorCode::validation);
  EXPECT_EQ(Kernel::from_function("empty", do_nothing, {.workgroup_size = {0, 1, 1}}).error().code(),
            ErrorCode::validation);
}

TEST(KernelFromNative, RefusesEmptyCodeAndPortableForms) {
  const std::array<std::byte, 1> code{};
  EXPECT_EQ(Kernel::from_native("none", KernelForm::ptx, {}, {}).error().code(), ErrorCode::validation);
  EXPECT_EQ(Kernel::from_native("spirv", KernelForm::spirv, code, {}).error().code(), ErrorCode::validation);
}

TEST(KernelOrElse, PicksTheFormABackendPrefers) {
  const Kernel portable = Kernel::from_glsl("saxpy", kSaxpy).value();
  const Kernel native =
      Kernel::from_function("native", do_nothing,
                            {.buffers = {Access::read, Access::read_write}, .scalar_bytes = 8})
          .value();
  const Kernel both = native.or_else(portable).value();
  const std::array spirv_only{KernelForm::spirv};
  const std::array function_first{KernelForm::cpu_function, KernelForm::spirv};
  const std::array ptx_only{KernelForm::ptx};
  EXPECT_EQ(both.record()->select(spirv_only)->form, KernelForm::spirv);
  EXPECT_EQ(both.record()->select(function_first)->form, KernelForm::cpu_function);
  EXPECT_EQ(both.record()->select(ptx_only), nullptr);
}

TEST(KernelOrElse, RefusesAnotherInterface) {
  const Kernel portable = Kernel::from_glsl("saxpy", kSaxpy).value();
  const Kernel native = Kernel::from_function("native", do_nothing, {.buffers = {Access::read}}).value();
  EXPECT_EQ(native.or_else(portable).error().code(), ErrorCode::validation);
}

TEST(WorkgroupsFor, CoversEveryInvocation) {
  EXPECT_EQ(workgroups_for(0, 64), 0U);
  EXPECT_EQ(workgroups_for(64, 64), 1U);
  EXPECT_EQ(workgroups_for(65, 64), 2U);
}

}  // namespace
}  // namespace backplane
