#include "plugin/registry.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <backplane/contract/result.h>
#include <backplane/contract/toolchain.h>

#include "plugin/file_trust.h"
#include "plugin/glob.h"
#include "plugin/handshake.h"
#include "plugin/library.h"

namespace backplane {
namespace {

constexpr std::string_view kLibraryPrefix = "libbackplane_";

/// "libbackplane_cuda.so" -> "cuda", "cuda.plugin.toml" -> "cuda".
std::string name_from(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.starts_with(kLibraryPrefix)) name.erase(0, kLibraryPrefix.size());
  return name.substr(0, name.find('.'));
}

/// Why the file is not to be trusted; empty if it is, or if that does not matter.
std::string distrust(const OpenFile& file, bool allow_untrusted) {
  if (allow_untrusted) return {};
  std::string reason = distrust_of(file);
  if (!reason.empty()) {
    reason += " Change that, or set BACKPLANE_ALLOW_UNTRUSTED=1 to use such plugins all the same.";
  }
  return reason;
}

Error error_of_state(const PluginReport& report) {
  return {ErrorCode::plugin_refused, "Plugin \"" + report.name + "\" is not in use (" +
                                         std::string(to_string(report.state)) + "): " + report.reason};
}

/// The whole story in one line, without the stack trace.
std::string one_line(const Error& error) {
  std::string text = error.message();
  const char* separator = error.causes().size() == 1 ? ": " : " ";
  for (const Error& cause : error.causes()) text += separator + one_line(cause);
  return text;
}

/// What the plugin itself said, without our own frame around it.
std::string innermost(const Error& error) {
  return error.causes().size() == 1 ? innermost(error.causes().front()) : one_line(error);
}

}  // namespace

PluginRegistry::PluginRegistry(RegistryOptions options, std::shared_ptr<HostServices> services)
    : options_(std::move(options)), services_(std::move(services)), process_(getpid()) {
  for (const SearchPlace& place : search_places(options_.search)) discover(place);
  for (const auto& candidate : candidates_) log_outcome(candidate->report);
}

PluginRegistry::~PluginRegistry() = default;

bool PluginRegistry::in_child() const {
  return getpid() != process_;
}

void PluginRegistry::log_outcome(const PluginReport& report) const {
  const auto logger = services_->log().logger("plugin");
  if (report.state == PluginState::refused || report.state == PluginState::failed) {
    logger->log(LogLevel::warning, "Plugin \"" + report.name + "\" is not used (" +
                                       std::string(to_string(report.state)) + "): " + report.reason);
  } else if (logger->enabled(LogLevel::info)) {
    const std::string text = "Plugin \"" + report.name + "\" " + report.version + " from \"" +
                             report.library.string() + "\" is " + std::string(to_string(report.state));
    logger->log(LogLevel::info, text + (report.reason.empty() ? "." : ": " + report.reason));
  }
}

void PluginRegistry::discover(const SearchPlace& place) {
  SearchResult result = search(place);
  places_.push_back({.path = place.path,
                     .source = place.source,
                     .found = result.hits.size(),
                     .problem = std::move(result.problem)});
  for (const SearchHit& hit : result.hits) {
    auto candidate = std::make_unique<Candidate>(judge(hit, place.source));
    // The same file by two ways is one candidate: nobody gains from hearing that it shadows itself.
    const bool known = std::ranges::any_of(candidates_, [&](const auto& other) {
      return other->report.manifest == candidate->report.manifest &&
             other->report.library == candidate->report.library;
    });
    if (known) continue;
    settle_name(*candidate);
    candidates_.push_back(std::move(candidate));
  }
}

PluginRegistry::Candidate PluginRegistry::judge(const SearchHit& hit, PluginSource source) const {
  Candidate candidate;
  candidate.report.source = source;
  candidate.report.name = name_from(hit.path);
  std::filesystem::path manifest = hit.path;
  if (hit.is_library) {
    manifest = hit.path.parent_path() / (candidate.report.name + std::string(kManifestSuffix));
    std::error_code ignored;
    if (!std::filesystem::exists(manifest, ignored)) {
      judge_library(candidate, hit.path);
      return candidate;
    }
  }
  judge_manifest(candidate, manifest);
  return candidate;
}

void PluginRegistry::judge_manifest(Candidate& candidate, const std::filesystem::path& path) const {
  PluginReport& report = candidate.report;
  report.manifest = path;
  const auto refuse = [&](std::string reason) {
    report.state = PluginState::refused;
    report.reason = std::move(reason);
  };
  auto opened = OpenFile::open(path);
  if (!opened) return refuse(one_line(opened.error()));
  auto manifest = read_manifest(*opened);
  if (!manifest) return refuse(innermost(manifest.error()));
  report.name = manifest->name;
  report.version = manifest->version;
  report.description = manifest->description;
  report.library = manifest->library;
  report.priority = manifest->priority;
  report.kernels = manifest->kernels;
  report.interface = manifest->interface;
  report.toolchain = manifest->toolchain;
  candidate.manifest = *std::move(manifest);
  if (const std::string reason = distrust(*opened, options_.allow_untrusted); !reason.empty())
    return refuse(reason);
  auto fits = check_interface(report.name, report.interface, kInterfaceVersion);
  if (fits) fits = check_toolchain(report.name, report.toolchain, kToolchain);
  if (!fits) return refuse(fits.error().message());
  judge_library(candidate, report.library);
}

void PluginRegistry::judge_library(Candidate& candidate, const std::filesystem::path& path) const {
  PluginReport& report = candidate.report;
  report.library = path;
  report.state = PluginState::refused;
  auto opened = OpenFile::open(path);
  if (!opened) {
    report.reason =
        (candidate.manifest ? "The manifest's library cannot be used: " : "") + one_line(opened.error());
  } else if (std::string reason = distrust(*opened, options_.allow_untrusted); !reason.empty()) {
    report.reason = std::move(reason);
  } else if (!is_plugin_name(report.name)) {
    report.reason =
        "A library without a manifest beside it must be called libbackplane_NAME.so, where NAME takes " +
        std::string("1 to 32 of a-z, 0-9, '_' and '-'.");
  } else {
    report.state = PluginState::available;
  }
}

void PluginRegistry::settle_name(Candidate& candidate) const {
  PluginReport& report = candidate.report;
  // A refused candidate shadows nothing: else whoever can put a bad file early in the path could switch off
  // every good plugin.
  if (report.state != PluginState::available) return;
  if (const std::string* pattern = first_match(options_.disable, report.name)) {
    report.state = PluginState::disabled;
    report.reason = "plugin.disable excludes it by \"" + *pattern + "\".";
  } else if (!options_.select.empty() && first_match(options_.select, report.name) == nullptr) {
    report.state = PluginState::disabled;
    report.reason = "plugin.select does not include it.";
  } else {
    const auto first = std::ranges::find_if(candidates_, [&](const auto& other) {
      return other->report.name == report.name && other->report.state == PluginState::available;
    });
    if (first == candidates_.end()) return;
    report.state = PluginState::shadowed;
    report.reason = "\"" + (*first)->report.library.string() + "\" was found before it.";
  }
}

RuntimeReport PluginRegistry::listing() const {
  std::unique_lock lock(mutex_, std::defer_lock);
  // In a child the lock may be held by a thread that is not there; a short report beats waiting for it.
  if (!in_child()) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return {.places = places_, .plugins = {}};
  }
  RuntimeReport report{.places = places_, .plugins = {}};
  for (const auto& candidate : candidates_) report.plugins.push_back(candidate->report);
  return report;
}

RuntimeReport PluginRegistry::report() {
  if (!in_child()) {
    for (const std::string& name : names_by_priority())
      static_cast<void>(devices(name));  // kept in the candidate
  }
  return listing();
}

std::vector<std::string> PluginRegistry::names_by_priority() const {
  std::multimap<std::int64_t, std::string, std::greater<>> sorted;  // keeps equals in the order of the search
  RuntimeReport report = listing();
  for (PluginReport& plugin : report.plugins) {
    const bool excluded = plugin.state == PluginState::refused || plugin.state == PluginState::shadowed ||
                          plugin.state == PluginState::disabled;
    if (!excluded) sorted.emplace(plugin.priority, std::move(plugin.name));
  }
  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (auto& [priority, name] : sorted) names.push_back(std::move(name));
  return names;
}

PluginRegistry::Candidate* PluginRegistry::find(std::string_view name) {
  // Of several with one name the one in use, if any, else the first that failed, else the first: its reason
  // is the one to report.
  Candidate* first = nullptr;
  Candidate* failed = nullptr;
  for (const auto& candidate : candidates_) {
    if (candidate->report.name != name) continue;
    const PluginState state = candidate->report.state;
    const bool in_use =
        candidate->plugin != nullptr || candidate->changing || state == PluginState::available;
    if (in_use) return candidate.get();
    if (failed == nullptr && candidate->failure) failed = candidate.get();
    if (first == nullptr) first = candidate.get();
  }
  return failed != nullptr ? failed : first;
}

Result<std::shared_ptr<LoadedPlugin>> PluginRegistry::load(std::string_view name) {
  if (in_child()) {
    return Error(ErrorCode::forked,
                 "Plugins cannot be used in a child process after fork; open a new runtime "
                 "after exec.");
  }
  std::unique_lock lock(mutex_);
  Candidate* const candidate = find(name);
  if (candidate == nullptr) {
    return Error(ErrorCode::not_found, "No plugin is called \"" + std::string(name) +
                                           R"("; "backplane info" lists what was found.)");
  }
  while (candidate->changing && *candidate->changing != std::this_thread::get_id()) changed_.wait(lock);
  if (candidate->changing) {
    return Error(ErrorCode::re_entered, "Plugin \"" + std::string(name) +
                                            "\" is being loaded or unloaded by this " +
                                            "very call; ask again when that has returned.");
  }
  if (candidate->plugin != nullptr) return candidate->plugin;
  if (candidate->failure) return *candidate->failure;
  if (candidate->report.state != PluginState::available) return error_of_state(candidate->report);
  candidate->changing = std::this_thread::get_id();
  lock.unlock();
  auto opened = open(*candidate);  // its manifest never changes, so that it may be read without the lock
  lock.lock();
  candidate->changing.reset();
  if (opened) {
    candidate->plugin = *opened;
    candidate->report.state = PluginState::loaded;
  } else {
    candidate->failure = opened.error();
    candidate->report.state =
        opened.error().code() == ErrorCode::plugin_refused ? PluginState::refused : PluginState::failed;
    candidate->report.reason = one_line(opened.error());
  }
  const bool another = !opened && revive_shadowed(name);
  const PluginReport report = candidate->report;
  lock.unlock();
  changed_.notify_all();
  log_outcome(report);
  if (another) return load(name);
  return opened;
}

bool PluginRegistry::revive_shadowed(std::string_view name) {
  for (const auto& candidate : candidates_) {
    PluginReport& report = candidate->report;
    if (report.name != name || report.state != PluginState::shadowed) continue;
    report.state = PluginState::available;
    report.reason.clear();
    return true;
  }
  return false;
}

Result<std::shared_ptr<LoadedPlugin>> PluginRegistry::open(const Candidate& candidate) const {
  const std::filesystem::path& path = candidate.report.library;
  BACKPLANE_TRY(const OpenFile file, OpenFile::open(path));
  if (const std::string reason = distrust(file, options_.allow_untrusted); !reason.empty()) {
    return Error(ErrorCode::plugin_refused, reason);
  }
  // The loader takes a name, not a descriptor: through /proc the library would not find what lies beside it.
  // Nobody but root and the user can swap the file in between; their own update is noticed here.
  if (!file.still_there()) {
    return Error(ErrorCode::plugin_load_failed,
                 "\"" + path.string() + "\" was replaced while it was opened.");
  }
  BACKPLANE_TRY(std::shared_ptr<Library> library, Library::open(path));
  BACKPLANE_TRY(const PluginEntryPoint entry, library->plugin_entry_point());
  const PluginManifest* manifest = entry();
  const ManifestFile* in_file = candidate.manifest ? &*candidate.manifest : nullptr;
  BACKPLANE_CHECK(check_handshake(manifest, in_file, path));
  if (in_file == nullptr && candidate.report.name != manifest->name) {
    return Error(ErrorCode::plugin_refused,
                 "\"" + path.string() + "\" calls itself \"" + manifest->name +
                     "\"; without a manifest beside it, file and name must agree.");
  }
  auto host = std::make_unique<PluginHost>(services_, manifest->name);
  const bool unload = in_file != nullptr && in_file->unload;
  return LoadedPlugin::create(std::move(library), *manifest, std::move(host), unload);
}

Result<std::vector<DeviceDescription>> PluginRegistry::ask(std::string_view name) {
  BACKPLANE_TRY(const std::shared_ptr<LoadedPlugin> plugin, load(name));
  BACKPLANE_TRY(std::vector<DeviceDescription> devices, plugin->devices());
  if (devices.empty()) {
    return Error(ErrorCode::no_device,
                 "Plugin \"" + std::string(name) + "\" lists no device and does not say why.");
  }
  return devices;
}

Result<std::vector<DeviceDescription>> PluginRegistry::devices(std::string_view name) {
  auto devices = ask(name);
  if (!devices && devices.error().code() == ErrorCode::forked) return devices;
  const std::lock_guard lock(mutex_);
  Candidate* const candidate = find(name);
  // A failed load has said so itself, and a call from inside the plugin's own says nothing about the plugin.
  if (candidate == nullptr || candidate->plugin == nullptr) return devices;
  PluginReport& report = candidate->report;
  if (devices) {
    report.state = PluginState::loaded;
    report.reason.clear();
    report.devices = *devices;
  } else if (devices.error().code() != ErrorCode::re_entered) {
    const bool none = devices.error().code() == ErrorCode::no_device;
    report.state = none ? PluginState::no_device : PluginState::failed;
    report.reason = none ? innermost(devices.error()) : one_line(devices.error());
    report.devices.clear();
  }
  return devices;
}

Result<void> PluginRegistry::unload(std::string_view name) {
  if (in_child())
    return Error(ErrorCode::forked, "Plugins cannot be unloaded in a child process after fork.");
  std::unique_lock lock(mutex_);
  Candidate* const candidate = find(name);
  if (candidate == nullptr || (candidate->plugin == nullptr && !candidate->changing)) {
    return Error(ErrorCode::not_found, "No plugin called \"" + std::string(name) + "\" is loaded.");
  }
  // Every reference is handed out under this lock, so that a count of one is final.
  if (candidate->changing || candidate->plugin.use_count() > 1) {
    return Error(ErrorCode::busy,
                 "Plugin \"" + std::string(name) +
                     "\" is still in use; release the clients, buffers and reads of its devices first.");
  }
  std::shared_ptr<LoadedPlugin> going = std::move(candidate->plugin);
  candidate->changing = std::this_thread::get_id();
  lock.unlock();
  going.reset();
  lock.lock();
  candidate->changing.reset();
  candidate->report.state = PluginState::available;
  candidate->report.reason.clear();
  candidate->report.devices.clear();
  lock.unlock();
  changed_.notify_all();
  return {};
}

}  // namespace backplane
