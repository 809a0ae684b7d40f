#include "plugin/handshake.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>
#include <backplane/contract/toolchain.h>

namespace backplane {
namespace {

Error refused(std::string message) {
  return {ErrorCode::plugin_refused, std::move(message)};
}

std::string text_of(InterfaceVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.revision);
}

/// Takes the next part of a fingerprint: up to a blank or, with `hyphen`, the first hyphen.
std::string_view take(std::string_view& text, bool hyphen) {
  const std::size_t end = std::min(text.find_first_of(hyphen ? " -" : " "), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

struct ToolchainParts {
  std::array<std::string_view, 4> family;  ///< System, machine, ABI, standard library.
  std::string_view extras;                 ///< Debug containers, sanitizer.
};

ToolchainParts split(std::string_view fingerprint) {
  ToolchainParts parts;
  parts.family[0] = take(fingerprint, true);
  for (std::size_t i = 1; i < parts.family.size(); ++i) parts.family[i] = take(fingerprint, false);
  parts.extras = fingerprint;
  return parts;
}

std::string in_quotes(std::string_view text) {
  return text.empty() ? "none" : "\"" + std::string(text) + "\"";
}

std::string hexadecimal(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);  // NOLINT(*-vararg)
  return text.data();
}

Result<void> check_structure(const PluginManifest* manifest, const std::string& name) {
  if (manifest == nullptr) return refused(name + " returns no manifest from its entry point.");
  // The two first members have the same place in every version; the rest is only looked at once they are
  // right.
  if (manifest->magic != PluginManifest::kMagic) {
    return refused(name + " returns something that is no plugin manifest: it begins with " +
                   hexadecimal(manifest->magic) + " instead of " + hexadecimal(PluginManifest::kMagic) + ".");
  }
  if (manifest->size != sizeof(PluginManifest)) {
    return refused(name + " returns a manifest of " + std::to_string(manifest->size) +
                   " bytes, and this host knows " + std::to_string(sizeof(PluginManifest)) +
                   "; build it against this host's SDK.");
  }
  return {};
}

Result<void> check_members(const PluginManifest& manifest, const std::string& name) {
  const bool complete = manifest.toolchain != nullptr && manifest.name != nullptr &&
                        manifest.version != nullptr && manifest.create != nullptr &&
                        manifest.destroy != nullptr;
  if (!complete) return refused(name + " returns a manifest with null members.");
  if (!is_plugin_name(manifest.name)) {
    return refused(name + " calls itself \"" + std::string(std::string_view(manifest.name).substr(0, 64)) +
                   "\"; a plugin's name takes 1 to 32 of a-z, 0-9, '_' and '-'.");
  }
  return {};
}

Result<void> check_agreement(const PluginManifest& manifest, const ManifestFile& file,
                             const std::string& name) {
  const auto differs = [&](std::string_view what, const std::string& library, const std::string& in_file) {
    return refused(name + " and its manifest file \"" + file.file.string() + "\" disagree about the " +
                   std::string(what) + ": the library says " + in_quotes(library) + ", the file " +
                   in_quotes(in_file) + "; build or install them together.");
  };
  if (manifest.name != file.name) return differs("name", manifest.name, file.name);
  if (manifest.version != file.version) return differs("version", manifest.version, file.version);
  const InterfaceVersion interface{.major = manifest.interface_major,
                                   .revision = manifest.interface_revision};
  if (interface != file.interface) return differs("interface", text_of(interface), text_of(file.interface));
  if (manifest.toolchain != file.toolchain) return differs("toolchain", manifest.toolchain, file.toolchain);
  return {};
}

}  // namespace

Result<void> check_interface(std::string_view name, InterfaceVersion plugin, InterfaceVersion host) {
  const bool frozen = host.major > 0;
  const bool fits = plugin.major == host.major && plugin.revision > 0 && (frozen || plugin == host);
  if (fits) return {};
  std::string message = "\"" + std::string(name) + "\" was built for interface " + text_of(plugin) +
                        ", and this host speaks " + text_of(host);
  if (!frozen) message += " and no other revision, because the interface is not frozen yet";
  return refused(message + "; build the plugin against this host's SDK.");
}

Result<void> check_toolchain(std::string_view name, std::string_view plugin, std::string_view host) {
  if (plugin == host) return {};
  constexpr std::array<std::string_view, 4> kNames{"operating system", "processor", "C++ ABI",
                                                   "standard library"};
  const ToolchainParts theirs = split(plugin);
  const ToolchainParts ours = split(host);
  std::string differences;
  const auto compare = [&](std::string_view part, std::string_view their, std::string_view our) {
    if (their == our) return;
    if (!differences.empty()) differences += "; ";
    differences += std::string(part) + ": " + in_quotes(their) + " there, " + in_quotes(our) + " here";
  };
  for (std::size_t i = 0; i < kNames.size(); ++i) compare(kNames[i], theirs.family[i], ours.family[i]);
  compare("debug containers and sanitizer", theirs.extras, ours.extras);
  return refused("\"" + std::string(name) + "\" was built with another toolchain than this host (" +
                 differences + "); build both with the same.");
}

Result<void> check_handshake(const PluginManifest* manifest, const ManifestFile* file,
                             const std::filesystem::path& library) {
  const std::string name = "\"" + library.string() + "\"";
  BACKPLANE_CHECK(check_structure(manifest, name));
  const std::string known_as = file != nullptr ? file->name : library.filename().string();
  BACKPLANE_CHECK(check_interface(
      known_as, {.major = manifest->interface_major, .revision = manifest->interface_revision},
      kInterfaceVersion));
  BACKPLANE_CHECK(check_members(*manifest, name));
  BACKPLANE_CHECK(check_toolchain(known_as, manifest->toolchain, kToolchain));
  if (file != nullptr) BACKPLANE_CHECK(check_agreement(*manifest, *file, name));
  return {};
}

}  // namespace backplane
