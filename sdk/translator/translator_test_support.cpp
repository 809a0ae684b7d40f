#include "translator_test_support.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.h>

namespace backplane::translator::test {
namespace {

/// Memory aligned as the contract asks for.
struct alignas(64) Line {
  std::array<std::byte, 64> bytes;
};

}  // namespace

const TranslatorApi& api() {
  static const TranslatorApi* const table = [] {
    void* library = dlopen(BACKPLANE_TRANSLATOR_PATH, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<TranslatorEntryPoint>(dlsym(library, kTranslatorEntryPoint))();
  }();
  return *table;
}

Words compile_glsl(const std::string& body, bool with_debug) {
  static const int initialized = glslang_initialize_process();
  EXPECT_NE(initialized, 0);
  const std::string text =
      "#version 460\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
      "#extension GL_EXT_scalar_block_layout : require\n"
      "#extension GL_KHR_memory_scope_semantics : require\n"
      "#extension GL_EXT_shader_atomic_int64 : require\n"
      "#extension GL_EXT_shader_atomic_float : require\n"
      "#extension GL_KHR_shader_subgroup_basic : require\n" +
      body;
  const glslang_input_t input = {.language = GLSLANG_SOURCE_GLSL,
                                 .stage = GLSLANG_STAGE_COMPUTE,
                                 .client = GLSLANG_CLIENT_VULKAN,
                                 .client_version = GLSLANG_TARGET_VULKAN_1_3,
                                 .target_language = GLSLANG_TARGET_SPV,
                                 .target_language_version = GLSLANG_TARGET_SPV_1_6,
                                 .code = text.c_str(),
                                 .default_version = 460,
                                 .default_profile = GLSLANG_CORE_PROFILE,
                                 .force_default_version_and_profile = 0,
                                 .forward_compatible = 0,
                                 .messages = GLSLANG_MSG_DEFAULT_BIT,
                                 .resource = glslang_default_resource()};
  glslang_shader_t* shader = glslang_shader_create(&input);
  glslang_program_t* program = glslang_program_create();
  Words words;
  const bool is_parsed =
      glslang_shader_preprocess(shader, &input) != 0 && glslang_shader_parse(shader, &input) != 0;
  EXPECT_TRUE(is_parsed) << glslang_shader_get_info_log(shader) << text;
  if (is_parsed) {
    glslang_program_add_shader(program, shader);
    EXPECT_NE(glslang_program_link(program, GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT), 0);
    glslang_spv_options_t options = {};
    options.generate_debug_info = with_debug;
    options.disable_optimizer = true;
    glslang_program_SPIRV_generate_with_options(program, GLSLANG_STAGE_COMPUTE, &options);
    words.resize(glslang_program_SPIRV_get_size(program));
    glslang_program_SPIRV_get(program, words.data());
  }
  glslang_program_delete(program);
  glslang_shader_delete(shader);
  return words;
}

Words assemble(const std::string& text) {
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
  spv_binary binary = nullptr;
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result = spvTextToBinary(context, text.data(), text.size(), &binary, &diagnostic);
  EXPECT_EQ(result, SPV_SUCCESS) << (diagnostic != nullptr ? diagnostic->error : "");
  Words words;
  if (binary != nullptr) {
    words.assign(binary->code, binary->code + binary->wordCount);
  }
  spvBinaryDestroy(binary);
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return words;
}

TranslationRequest request_for(const Words& words, std::uint32_t optimization) {
  return {.size = sizeof(TranslationRequest),
          .target = TranslationTarget::host,
          .words = words.data(),
          .word_count = words.size(),
          .entry_point = "main",
          .label = nullptr,
          .processor = nullptr,
          .features = nullptr,
          .subgroup_width = 8,
          .optimization = optimization};
}

std::unique_ptr<Output> lower(const Words& words) {
  const TranslationRequest request = request_for(words);
  return std::make_unique<Output>(api().lower(&request));
}

std::unique_ptr<Output> generate(const TranslationRequest& request, const Output& lowered) {
  return std::make_unique<Output>(api().generate(&request, lowered.bytes().data(), lowered.bytes().size()));
}

TestKernel::TestKernel(const Words& words, std::uint32_t optimization)
    : words_(words), request_(request_for(words_, optimization)) {
  lowered_ = std::make_unique<Output>(api().lower(&request_));
  EXPECT_TRUE(lowered_->is_ok()) << lowered_->error();
  if (!lowered_->is_ok()) {
    return;
  }
  object_ = generate(request_, *lowered_);
  EXPECT_TRUE(object_->is_ok()) << object_->error();
  if (!object_->is_ok()) {
    return;
  }
  TranslationOutput failure{};
  handle_ = api().link(object_->bytes().data(), object_->bytes().size(), &info_, &failure);
  const Output reason(failure);
  EXPECT_NE(handle_, nullptr) << reason.error();
}

TestKernel::~TestKernel() {
  api().unlink(handle_);
}

void TestKernel::run(Groups groups, const std::vector<HostBuffer>& buffers, const void* scalars) const {
  ASSERT_NE(handle_, nullptr);
  std::vector<Line> memory(info_.workgroup_memory_bytes / sizeof(Line) + 1);
  const HostKernelArguments arguments = {.buffers = buffers.data(),
                                         .scalars = static_cast<const std::byte*>(scalars),
                                         .workgroup_memory = memory.front().bytes.data(),
                                         .count = {groups.x, groups.y, groups.z}};
  info_.function(&arguments, 0, std::uint64_t{groups.x} * groups.y * groups.z);
}

void TestKernel::run_range(Groups groups, const std::vector<HostBuffer>& buffers, std::uint64_t begin,
                           std::uint64_t end) const {
  ASSERT_NE(handle_, nullptr);
  std::vector<Line> memory(info_.workgroup_memory_bytes / sizeof(Line) + 1);
  const HostKernelArguments arguments = {.buffers = buffers.data(),
                                         .scalars = nullptr,
                                         .workgroup_memory = memory.front().bytes.data(),
                                         .count = {groups.x, groups.y, groups.z}};
  info_.function(&arguments, begin, end);
}

std::string TestKernel::assembly() const {
  return Output(api().disassemble(&request_, object_->bytes().data(), object_->bytes().size())).text();
}

std::string TestKernel::ir() const {
  return Output(api().disassemble(&request_, lowered_->bytes().data(), lowered_->bytes().size())).text();
}

Random::Random() : Random(std::random_device{}()) {}

Random::Random(std::uint32_t seed) : seed_(seed) {
  if (const char* given = std::getenv("BACKPLANE_TEST_SEED")) {
    seed_ = static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10));
  }
  engine_.seed(seed_);
  testing::Test::RecordProperty("seed", std::to_string(seed_));
}

}  // namespace backplane::translator::test
