#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <backplane/contract/device.h>
#include <backplane/contract/host.h>
#include <backplane/contract/kernel.h>
#include <backplane/contract/result.h>
#include <backplane/contract/server.h>
#include <backplane/contract/toolchain.h>
#include <backplane/contract/version.h>

namespace backplane {

/// Makes artifacts from kernels. Every method may be called by any thread, several at once, and blocks for as
/// long as compiling takes. Append-only, as `IServer`.
class ICompiler {
 public:
  virtual ~ICompiler() = default;

  /// The kernel forms this compiler takes, the best first. Constant.
  [[nodiscard]] virtual std::span<const KernelForm> forms() const noexcept = 0;

  /// Everything that an artifact depends on beside the kernel: target and its features, versions of
  /// translator and driver, options. Constant.
  virtual std::string fingerprint() = 0;

  /// First half: the kernel in the compiler's own terms (LLVM bitcode, PTX). Two kernels that lower to the
  /// same bytes share one artifact. Errors: `compilation`, `compilation_unsupported`.
  virtual Result<std::vector<std::byte>> lower(const KernelDefinition& kernel) = 0;

  /// Second half: the artifact. Errors: `compilation`.
  virtual Result<Artifact> finalize(const KernelDefinition& kernel, std::span<const std::byte> lowered) = 0;

  /// The text of what `lower` made, for people. Default: empty.
  virtual std::string source_text(const KernelDefinition& kernel, std::span<const std::byte> lowered) {
    static_cast<void>(kernel);
    static_cast<void>(lowered);
    return {};
  }
};

/// A loaded backend. Every method may be called by any thread; the host serialises the calls. Append-only, as
/// `IServer`.
class IPlugin {
 public:
  virtual ~IPlugin() = default;

  /// The devices there are now, found without creating anything on them. None: `no_device`, with the driver's
  /// own reason and what to do.
  virtual Result<std::vector<DeviceDescription>> devices() = 0;

  /// Opens a device. Called on the thread that will own the server. Errors: `not_found` for an id that
  /// `devices` did not list; the driver's own.
  virtual Result<std::unique_ptr<IServer>> create_server(DeviceId device) = 0;

  /// The compiler for a device, which lives as long as the plugin. Errors: `not_found`.
  virtual Result<ICompiler*> compiler(DeviceId device) = 0;
};

/// What a plugin's one exported symbol returns: plain data, checked before any virtual call. Strings are
/// alive as long as the library.
struct PluginManifest {
  static constexpr std::uint32_t kMagic = 0x42504c4eU;  ///< "BPLN"

  std::uint32_t size;             ///< sizeof(PluginManifest) of the plugin.
  std::uint32_t magic;            ///< `kMagic`.
  std::uint16_t interface_major;  ///< `kInterfaceVersion` of the plugin's headers.
  std::uint16_t interface_revision;
  const char* toolchain;  ///< `kToolchain` of the plugin.
  const char* name;       ///< As in the manifest file.
  const char* version;    ///< As in the manifest file.

  /// Makes the plugin, or returns null with the reason in `error`, which the caller releases by destroying
  /// it. Throws nothing.
  IPlugin* (*create)(IHost* host, Result<void>* error) noexcept;
  void (*destroy)(IPlugin* plugin) noexcept;
};

/// The one symbol a plugin exports.
inline constexpr const char* kPluginEntryPoint = "backplane_plugin_v1";
using PluginEntryPoint = const PluginManifest* (*)() noexcept;

namespace detail {

/// The host of this module, for what has no other way to it; set by `create_plugin`.
inline IHost* plugin_host = nullptr;

template <class Plugin>
IPlugin* create_plugin(IHost* host, Result<void>* error) noexcept {
  try {
    plugin_host = host;
    take_stack_trace = [] { return plugin_host->stack_trace(); };
    return std::make_unique<Plugin>(*host).release();
  } catch (const std::exception& exception) {
    *error = Error(ErrorCode::exception, exception.what());
  } catch (...) {
    *error =
        Error(ErrorCode::exception, "The plugin's constructor threw something that is no std::exception.");
  }
  return nullptr;
}

inline void destroy_plugin(IPlugin* plugin) noexcept {
  delete plugin;
}

}  // namespace detail
}  // namespace backplane

#if defined(_WIN32)
#define BACKPLANE_PLUGIN_EXPORT extern "C" __declspec(dllexport)
#else
#define BACKPLANE_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#endif

/// Exports `Type`, an `IPlugin` constructible from `IHost&`, as this library's plugin.
/// `backplane_add_plugin()` defines the name and the version.
#define BACKPLANE_PLUGIN(Type)                                                                   \
  BACKPLANE_PLUGIN_EXPORT const ::backplane::PluginManifest* backplane_plugin_v1() noexcept {    \
    static const ::backplane::PluginManifest manifest{sizeof(::backplane::PluginManifest),       \
                                                      ::backplane::PluginManifest::kMagic,       \
                                                      ::backplane::kInterfaceVersion.major,      \
                                                      ::backplane::kInterfaceVersion.revision,   \
                                                      ::backplane::kToolchain.data(),            \
                                                      BACKPLANE_PLUGIN_NAME,                     \
                                                      BACKPLANE_PLUGIN_VERSION,                  \
                                                      &::backplane::detail::create_plugin<Type>, \
                                                      &::backplane::detail::destroy_plugin};     \
    return &manifest;                                                                            \
  }
