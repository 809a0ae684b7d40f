#include "kernel/spirv.h"

#include <unordered_map>
#include <utility>

#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

namespace backplane {
namespace {

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

/// Collects what SPIRV-Tools has to say.
spvtools::MessageConsumer collect_into(std::string& text) {
  return
      [&text](spv_message_level_t level, const char*, const spv_position_t& position, const char* message) {
        if (level > SPV_MSG_ERROR) return;
        text.append("\n").append("word ").append(std::to_string(position.index)).append(": ").append(message);
      };
}

}  // namespace

Result<void> validate_spirv(const std::string& label, std::span<const std::uint32_t> words) {
  std::string messages;
  spvtools::SpirvTools tools(kEnvironment);
  tools.SetMessageConsumer(collect_into(messages));
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  if (tools.Validate(words.data(), words.size(), options)) return {};
  return Error(ErrorCode::compilation, "The SPIR-V of kernel \"" + label + "\" is not valid:" + messages);
}

Result<std::vector<std::uint32_t>> finish_spirv(const std::string& label,
                                                std::span<const std::uint32_t> words,
                                                std::span<const SpecializationWords> values,
                                                ExecutionMode mode) {
  if (mode == ExecutionMode::validate) {
    return Error(
        ErrorCode::compilation_unsupported,
        "Kernel \"" + label + "\" asks for ExecutionMode::validate, which no backend supports; use checked.");
  }
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> defaults;
  for (const SpecializationWords& value : values) defaults.emplace(value.id, value.words);

  std::string messages;
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.SetMessageConsumer(collect_into(messages));
  optimizer.RegisterPass(spvtools::CreateSetSpecConstantDefaultValuePass(defaults))
      .RegisterPass(spvtools::CreateFreezeSpecConstantValuePass())
      .RegisterPass(spvtools::CreateFoldSpecConstantOpAndCompositePass());
  if (mode == ExecutionMode::checked) optimizer.RegisterPass(spvtools::CreateGraphicsRobustAccessPass());

  spvtools::OptimizerOptions options;
  options.set_run_validator(false);  // validate_spirv did
  std::vector<std::uint32_t> finished;
  if (optimizer.Run(words.data(), words.size(), &finished, options)) return finished;
  return Error(ErrorCode::compilation, "Kernel \"" + label + "\" cannot be specialised:" + messages);
}

std::string disassemble_spirv(std::span<const std::uint32_t> words) {
  std::string text;
  spvtools::SpirvTools(kEnvironment)
      .Disassemble(words.data(), words.size(), &text,
                   SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES);
  return text;
}

}  // namespace backplane
