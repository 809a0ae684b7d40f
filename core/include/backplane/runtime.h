#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <backplane/client.h>
#include <backplane/contract/device.h>
#include <backplane/contract/result.h>
#include <backplane/contract/version.h>
#include <backplane/export.h>
#include <backplane/log.h>

namespace backplane {

class RuntimeState;

/// What an application may say when it opens a runtime. Everything has a default.
struct RuntimeOptions {
  /// Where to look for plugins first: directories, manifests, or libraries. Searched before every other
  /// place.
  std::vector<std::filesystem::path> plugins;

  /// Values of configuration keys, {"streaming.max_streams", "64"}; they win over environment and file. Lists
  /// are separated as in the environment: ':' between paths, ',' between everything else.
  std::map<std::string, std::string> configuration;

  /// Receives the log instead of the standard error stream. Sinks named in the configuration stay.
  LogCallback log_callback;

  /// The translator's library; empty: `BACKPLANE_TRANSLATOR`, then beside this library.
  std::filesystem::path translator;

  /// Accepts plugins that others than root and the user could have written. So does
  /// `BACKPLANE_ALLOW_UNTRUSTED=1`. For containers with foreign file owners; leave it off otherwise.
  bool allow_untrusted = false;
};

/// What became of a plugin that was found.
enum class PluginState : std::uint8_t {
  available = 0,  ///< Its manifest is in order; nothing of it has run.
  loaded = 1,     ///< It runs and has devices.
  no_device = 2,  ///< It runs and has no device here; the reason is the driver's own.
  refused = 3,    ///< It breaks a rule and was not opened, or was closed at once.
  shadowed = 4,   ///< A plugin of the same name was found before it.
  disabled = 5,   ///< The configuration excludes it.
  failed = 6,     ///< It could not be loaded or asked for devices.
};

/// The state's name as it is spelled in `PluginState`.
[[nodiscard]] BACKPLANE_API std::string_view to_string(PluginState state) noexcept;

/// The step of the search that led to a place, in the order in which they are taken.
enum class PluginSource : std::uint8_t {
  code = 0,               ///< `RuntimeOptions::plugins`.
  environment = 1,        ///< `BACKPLANE_PLUGINS`, which replaces every step below.
  environment_added = 2,  ///< `BACKPLANE_ADD_PLUGINS`.
  configuration = 3,      ///< `[plugin] paths`.
  user = 4,               ///< The user's data directory.
  install = 5,            ///< Where this library is installed.
};

/// The step in words, "BACKPLANE_ADD_PLUGINS".
[[nodiscard]] BACKPLANE_API std::string_view to_string(PluginSource source) noexcept;

/// A plugin that was found, in use or not. A copy: later changes do not reach it.
struct PluginReport {
  std::string name;                ///< From the manifest; from the file's name where that cannot be read.
  std::string version;             ///< Empty where the manifest cannot be read.
  std::string description;         ///< Likewise.
  std::filesystem::path manifest;  ///< Empty for a library named without one.
  std::filesystem::path library;   ///< Empty where the manifest cannot be read.
  PluginSource source = PluginSource::code;
  PluginState state = PluginState::available;
  std::string reason;  ///< Why it is not in use; empty for `available` and `loaded`.
  std::int64_t priority = 0;
  std::vector<std::string> kernels;  ///< Kernel forms its manifest promises.
  InterfaceVersion interface{};      ///< What it was built for.
  std::string toolchain;             ///< What it was built with.
  std::vector<DeviceDescription> devices;
};

/// A place that was searched.
struct PluginPlace {
  std::filesystem::path path;
  PluginSource source = PluginSource::code;
  std::size_t found = 0;  ///< Candidates found there.
  std::string problem;    ///< Why it could not be searched; empty if it could.
};

/// What discovery found, in the order in which it looked.
struct RuntimeReport {
  std::vector<PluginPlace> places;
  std::vector<PluginReport> plugins;
};

/// A device of a plugin that is in use.
struct RuntimeDevice {
  std::string plugin;  ///< "cuda"; `plugin + ":" + id` selects the device.
  DeviceId id;
  DeviceProperties properties;
};

/// A configuration value in effect and where it came from.
struct ConfigurationEntry {
  std::string key;          ///< "streaming.max_streams".
  std::string value;        ///< As text; empty if it is not set.
  std::string origin;       ///< "default", "FILE:LINE", the environment variable's name, or "code".
  std::string description;  ///< What the key is for.
};

/// The plugins found on this machine, and the way to their devices. A handle: copies share everything. Every
/// method may be called by any thread.
class BACKPLANE_API Runtime {
 public:
  /// Reads the configuration and looks for plugins; runs no code of theirs. A plugin that cannot be used is
  /// no error: `report` says so. Errors: `configuration_invalid`, with file, line and column.
  static Result<Runtime> open(RuntimeOptions options = {});

  /// Every plugin found, in the order of the search, and what became of it. Loads the plugins that are
  /// available and asks them for their devices, which takes as long as their drivers do.
  [[nodiscard]] RuntimeReport report() const;

  /// Likewise, but from the manifests alone: no code of a plugin runs.
  [[nodiscard]] RuntimeReport listing() const;

  /// The devices of all plugins: plugins by falling priority, devices as their plugin numbers them. Loads
  /// plugins as `report` does.
  [[nodiscard]] std::vector<RuntimeDevice> devices() const;

  /// The device that a selector names: "cuda", "cuda:1", "cuda:uuid=HEX", "cuda:pci=0000:3b:00.0"; empty:
  /// `device.default` (also `BACKPLANE_DEVICE`), else the first of `devices`. Loads no more plugins than it
  /// must. Errors: `not_found`, listing what could have been named; `validation` for a malformed selector.
  [[nodiscard]] Result<RuntimeDevice> device(std::string_view selector = {}) const;

  /// A client of the device that a selector names, as for `device`. Opens the device, or shares it with the
  /// clients it has. Blocks for as long as the driver takes. Errors: those of `device`, and the plugin's own.
  [[nodiscard]] Result<Client> client(std::string_view selector = {}) const;

  /// Destroys a plugin and, where its manifest allows it, closes its library. Errors: `busy` while a client
  /// uses it, and then nothing happened; `not_found` if it is not loaded.
  Result<void> unload(std::string_view plugin);

  /// The configuration in effect, every key, by name.
  [[nodiscard]] std::vector<ConfigurationEntry> configuration() const;

  /// For the rest of this library.
  [[nodiscard]] const std::shared_ptr<RuntimeState>& state() const noexcept { return state_; }

 private:
  explicit Runtime(std::shared_ptr<RuntimeState> state) noexcept : state_(std::move(state)) {}

  std::shared_ptr<RuntimeState> state_;
};

}  // namespace backplane
