#include "minimal_plugin.h"

// A handshake that is wrong where STALE_... says so, whatever the manifest file claims.

#ifndef STALE_MAGIC
#define STALE_MAGIC backplane::PluginManifest::kMagic
#endif
#ifndef STALE_MAJOR
#define STALE_MAJOR backplane::kInterfaceVersion.major
#endif
#ifndef STALE_REVISION
#define STALE_REVISION backplane::kInterfaceVersion.revision
#endif
#ifndef STALE_NAME
#define STALE_NAME BACKPLANE_PLUGIN_NAME
#endif

BACKPLANE_PLUGIN_EXPORT const backplane::PluginManifest* backplane_plugin_v1() noexcept {
  static const backplane::PluginManifest manifest{
      sizeof(backplane::PluginManifest),
      STALE_MAGIC,
      STALE_MAJOR,
      STALE_REVISION,
      backplane::kToolchain.data(),
      STALE_NAME,
      BACKPLANE_PLUGIN_VERSION,
      &backplane::detail::create_plugin<backplane::test::MinimalPlugin>,
      &backplane::detail::destroy_plugin};
  return &manifest;
}
