#pragma once

#include <string>
#include <string_view>

#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>
#include <backplane/contract/version.h>

#include "plugin/manifest_file.h"

namespace backplane {

/// Whether a host of interface `host` may run a plugin built for `plugin`: exactly the same while the major
/// is 0, the same major afterwards. Error: `plugin_refused`, naming both. `name` is for the message.
Result<void> check_interface(std::string_view name, InterfaceVersion plugin, InterfaceVersion host);

/// Whether two toolchain fingerprints belong to one family. Error: `plugin_refused`, naming the parts that
/// differ.
Result<void> check_toolchain(std::string_view name, std::string_view plugin, std::string_view host);

/// Whether what a library's entry point returned may be trusted to be a plugin's manifest, may run on this
/// host, and agrees with the manifest file (null where there is none). Calls nothing of the plugin. Error:
/// `plugin_refused`.
Result<void> check_handshake(const PluginManifest* manifest, const ManifestFile* file,
                             const std::filesystem::path& library);

}  // namespace backplane
