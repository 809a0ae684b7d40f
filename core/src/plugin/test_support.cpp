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

const std::filesystem::path kBuilt = BACKPLANE_TEST_PLUGIN_DIRECTORY;

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
  const std::string manifest = std::string(name) + ".plugin.toml";
  for (const std::string& file : {library_name(name), manifest}) {
    std::filesystem::copy_file(kBuilt / file, directory / file,
                               std::filesystem::copy_options::overwrite_existing);
  }
}

std::string read_text(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string manifest_text(std::string_view name) {
  return read_text(kBuilt / (std::string(name) + ".plugin.toml"));
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
