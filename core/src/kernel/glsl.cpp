#include "kernel/glsl.h"

#include <cctype>
#include <memory>
#include <string>

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

namespace backplane {
namespace {

struct DeleteShader {
  void operator()(glslang_shader_t* shader) const { glslang_shader_delete(shader); }
};
struct DeleteProgram {
  void operator()(glslang_program_t* program) const { glslang_program_delete(program); }
};

/// Whether a `#version` directive is the first thing that is neither space nor comment.
bool has_version(std::string_view source) {
  while (true) {
    while (!source.empty() && std::isspace(static_cast<unsigned char>(source.front())) != 0) {
      source.remove_prefix(1);
    }
    const bool line_comment = source.starts_with("//");
    if (!line_comment && !source.starts_with("/*")) break;
    const std::size_t end = source.find(line_comment ? "\n" : "*/", 2);
    if (end == std::string_view::npos) return false;
    source.remove_prefix(end + (line_comment ? 1 : 2));
  }
  if (!source.starts_with('#')) return false;
  source.remove_prefix(1);
  source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
  return source.starts_with("version");
}

/// glslang's "ERROR: 0:3: 'x' : undeclared identifier" as "label:3: 'x' : undeclared identifier"; its summary
/// lines are dropped, for they hold nothing but counts.
std::string readable_log(std::string_view label, std::string_view log) {
  constexpr std::string_view kPrefix = "ERROR: 0:";
  const std::string_view whole = log;
  std::string text;
  while (!log.empty()) {
    const std::size_t length = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, length);
    log.remove_prefix(std::min(length + 1, log.size()));
    if (!line.starts_with(kPrefix)) continue;
    text.append("\n").append(label).append(":").append(line.substr(kPrefix.size()));
  }
  // What it says while it links, and of a version it does not know, has no line number.
  return text.empty() ? "\n" + std::string(whole) : text;
}

Error compile_error(std::string_view label, std::string_view log) {
  return {ErrorCode::compilation,
          "The GLSL of kernel \"" + std::string(label) + "\" does not compile:" + readable_log(label, log)};
}

glslang_input_t describe_input(const char* source) {
  glslang_input_t input{};
  input.language = GLSLANG_SOURCE_GLSL;
  input.stage = GLSLANG_STAGE_COMPUTE;
  input.client = GLSLANG_CLIENT_VULKAN;
  input.client_version = GLSLANG_TARGET_VULKAN_1_2;
  input.target_language = GLSLANG_TARGET_SPV;
  input.target_language_version = GLSLANG_TARGET_SPV_1_5;
  input.code = source;
  input.default_version = 460;
  input.default_profile = GLSLANG_CORE_PROFILE;
  input.messages = static_cast<glslang_messages_t>(GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT);
  input.resource = glslang_default_resource();
  return input;
}

}  // namespace

Result<std::vector<std::uint32_t>> compile_glsl(std::string_view label, std::string_view source) {
  static const bool initialized = glslang_initialize_process() != 0;
  if (!initialized) return Error(ErrorCode::compilation, "The GLSL compiler cannot be initialised.");

  // A directive of our own must not shift the caller's line numbers.
  std::string text = has_version(source) ? std::string() : "#version 460\n#line 1\n";
  text.append(source);
  const glslang_input_t input = describe_input(text.c_str());

  const std::unique_ptr<glslang_shader_t, DeleteShader> shader(glslang_shader_create(&input));
  if (glslang_shader_preprocess(shader.get(), &input) == 0 ||
      glslang_shader_parse(shader.get(), &input) == 0) {
    return compile_error(label, glslang_shader_get_info_log(shader.get()));
  }
  const std::unique_ptr<glslang_program_t, DeleteProgram> program(glslang_program_create());
  glslang_program_add_shader(program.get(), shader.get());
  if (glslang_program_link(program.get(), input.messages) == 0) {
    return compile_error(label, glslang_program_get_info_log(program.get()));
  }
  glslang_spv_options_t options{};
  options.disable_optimizer = true;
  glslang_program_SPIRV_generate_with_options(program.get(), input.stage, &options);
  const std::uint32_t* words = glslang_program_SPIRV_get_ptr(program.get());
  return std::vector<std::uint32_t>(words, words + glslang_program_SPIRV_get_size(program.get()));
}

}  // namespace backplane
