#include "plugin/test_support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace backplane::test {
namespace {

std::filesystem::path built() {
  return BACKPLANE_TEST_PLUGIN_DIRECTORY;
}

std::string library_name(std::string_view plugin) {
  return "libbackplane_" + std::string(plugin) + ".so";
}

}  // namespace

TempDirectory::TempDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "backplane 시험 🚀 XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = name;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDirectory::write(const std::filesystem::path& name, std::string_view text) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

ScopedEnvironment::ScopedEnvironment(std::string name, const std::string& value) : name_(std::move(name)) {
  setenv(name_.c_str(), value.c_str(), 1);
}

ScopedEnvironment::~ScopedEnvironment() {
  unsetenv(name_.c_str());
}

void install_plugin(std::string_view name, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const std::string library = library_name(name);
  std::filesystem::copy_file(built() / library, directory / library,
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(directory / (std::string(name) + ".plugin.toml")) << manifest_text(name);
}

std::string read_text(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string manifest_text(std::string_view name) {
  const std::filesystem::path file = built() / (std::string(name) + ".plugin.toml");
  if (std::filesystem::exists(file)) return read_text(file);
  // Of a library that is no plugin: what somebody who took it for one would have written.
  std::string text = read_text(built() / "good.plugin.toml");
  text = replaced(std::move(text), "name = \"good\"", "name = \"" + std::string(name) + "\"");
  return replaced(std::move(text), "libbackplane_good.so", library_name(name));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("\"" + std::string(from) + "\" is not in the text");
  return text.replace(at, from.size(), to);
}

bool is_mapped(std::string_view part) {
  return read_text("/proc/self/maps").find(part) != std::string::npos;
}

}  // namespace backplane::test
