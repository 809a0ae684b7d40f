#pragma once

#include <cstdint>

#include <backplane/backplane.h>

#include "detection.h"
#include "picture.h"

namespace deep_sky {

/// Finds the light sources of pictures on one device. One thread at a time.
class Detector {
 public:
  /// Compiles the kernels. Errors: those of `backplane::Kernel`.
  static backplane::Result<Detector> create(backplane::Client client);

  /// Everything but the last sort is done on the device. Blocks. Errors: whatever left a buffer unwritten.
  backplane::Result<Detection> detect(const Picture& picture, const Settings& settings) const;

 private:
  struct Kernels;
  class Run;

  Detector(backplane::Client client, std::shared_ptr<const Kernels> kernels)
      : client_(std::move(client)), kernels_(std::move(kernels)) {}

  backplane::Client client_;
  std::shared_ptr<const Kernels> kernels_;
};

}  // namespace deep_sky
