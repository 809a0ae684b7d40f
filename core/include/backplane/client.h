#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <backplane/buffer.h>
#include <backplane/contract/bytes.h>
#include <backplane/contract/deferred.h>
#include <backplane/contract/device.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/profile.h>
#include <backplane/contract/result.h>
#include <backplane/export.h>
#include <backplane/kernel.h>
#include <backplane/scalars.h>
#include <backplane/stream.h>

namespace backplane {

class DeviceContext;

/// Workgroups of a launch: up to three numbers, or a buffer that will hold three 32-bit numbers when the
/// launch runs.
class Workgroups {
 public:
  Workgroups(std::uint32_t along_x, std::uint32_t along_y = 1,  // NOLINT(*-explicit-*): "launch(k, 8, ...)"
             std::uint32_t along_z = 1) noexcept
      : x(along_x), y(along_y), z(along_z) {}

  /// The numbers are read from the first 12 bytes of `count`, on the device.
  static Workgroups from_buffer(const BufferHandle& count) noexcept {
    Workgroups workgroups(1);
    workgroups.indirect = &count;
    return workgroups;
  }

  std::uint32_t x;
  std::uint32_t y;
  std::uint32_t z;
  const BufferHandle* indirect = nullptr;  ///< Lives as long as the call.
};

/// A device in use: allocates its memory, moves data, runs kernels. A value; copies share the device, which
/// is closed when the last one is gone. Any thread, several at once; work of one stream runs in the order in
/// which it was given.
///
/// Nothing that only enqueues work reports failure: it is attached to the memory that was left unwritten, and
/// every later `read`, `sync` or `check` of that memory answers with it.
class BACKPLANE_API Client {
 public:
  /// The device's name, "cpu:0".
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const DeviceProperties& properties() const noexcept;

  /// `size_bytes` bytes of memory, whose contents are undefined. Does not block. `label` names it in errors.
  [[nodiscard]] BufferHandle allocate(std::uint64_t size_bytes, std::string label = {}) const;

  /// Memory for `count` elements, whose contents are undefined. Does not block.
  template <class T>
  [[nodiscard]] Buffer<T> empty(std::size_t count, std::string label = {}) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return Buffer<T>(allocate(count > kMost / sizeof(T) ? kMost : count * sizeof(T), std::move(label)));
  }

  /// Memory that holds a copy of `data`. The data may go when this returns.
  template <class T>
  [[nodiscard]] Buffer<T> create(std::span<const T> data, std::string label = {}) const {
    Buffer<T> buffer = empty<T>(data.size(), std::move(label));
    write(buffer, data);
    return buffer;
  }
  template <class T>
  [[nodiscard]] Buffer<T> create(const std::vector<T>& data, std::string label = {}) const {
    return create(std::span<const T>(data), std::move(label));
  }

  /// Copies `data` into `buffer`, from its first byte on. The data may go when this returns. More data than
  /// the buffer holds is a failure of the write, `validation`.
  void write_bytes(const BufferHandle& buffer, std::span<const std::byte> data) const;
  template <class T>
  void write(const Buffer<T>& buffer, std::span<const std::type_identity_t<T>> data) const {
    write_bytes(buffer, std::as_bytes(data));
  }

  /// As `write_bytes`, of bytes that are handed over and not copied.
  void write(const BufferHandle& buffer, Bytes data) const;

  /// Copies buffers to the host: one block each. Blocks until the work that writes them is done. Errors:
  /// whatever left one of them unwritten; `several` where there is more than one reason.
  [[nodiscard]] Result<std::vector<Bytes>> read_many(std::span<const BufferReference> buffers) const;
  [[nodiscard]] Result<std::vector<Bytes>> read_many(std::initializer_list<BufferReference> buffers) const {
    return read_many(std::span(buffers.begin(), buffers.size()));
  }

  /// As `read_many`, of one buffer.
  [[nodiscard]] Result<Bytes> read_bytes(const BufferHandle& buffer) const;
  template <class T>
  [[nodiscard]] Result<std::vector<T>> read(const Buffer<T>& buffer) const {
    BACKPLANE_TRY(const Bytes bytes, read_bytes(buffer));
    std::vector<T> values(buffer.size());
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  /// As `read`, later. Does not block.
  [[nodiscard]] Deferred<Result<Bytes>> read_async(const BufferHandle& buffer) const;

  /// Runs a kernel. Does not wait for it to run; compiles it if this device has not seen it yet. A launch
  /// that cannot run leaves what it was to write unwritten, with the reason.
  void launch(const Kernel& kernel, const Workgroups& count, std::span<const BufferReference> buffers,
              const Scalars& scalars = {}) const;
  void launch(const Kernel& kernel, const Workgroups& count, std::initializer_list<BufferReference> buffers,
              const Scalars& scalars = {}) const {
    launch(kernel, count, std::span(buffers.begin(), buffers.size()), scalars);
  }

  /// Hands to the driver what the calling thread's stream has outstanding. Error: `device_poisoned`.
  Result<void> flush() const;

  /// Waits until everything given so far has run, then answers as a read of `buffers` would; with none, for
  /// the device alone. Blocks.
  Result<void> sync(std::span<const BufferReference> buffers = {}) const;
  Result<void> sync(std::initializer_list<BufferReference> buffers) const {
    return sync(std::span(buffers.begin(), buffers.size()));
  }

  /// As `sync`, later. Does not block.
  [[nodiscard]] Deferred<Result<void>> sync_async() const;

  /// What a read of `buffers` would answer as far as is known now, without waiting for the device.
  [[nodiscard]] Result<void> check(std::span<const BufferReference> buffers) const;
  [[nodiscard]] Result<void> check(std::initializer_list<BufferReference> buffers) const {
    return check(std::span(buffers.begin(), buffers.size()));
  }

  /// Measures what `work` has this thread's stream do, on the device's clock where it has one. Blocks until
  /// it is done. An exception that leaves `work` closes the measurement and goes on. Errors: `profile_launch`
  /// where work inside failed; `profile_server`.
  template <class Work>
  [[nodiscard]] Result<ProfileTicks> profile(Work&& work) const {
    BACKPLANE_TRY(const ProfilingToken token, start_profile());
    try {
      std::forward<Work>(work)();
    } catch (...) {
      abandon_profile(token);
      throw;
    }
    return end_profile(token);
  }

  /// Memory of the device in use, in bytes, added up over its streams. Blocks until the calls before it are
  /// served.
  [[nodiscard]] Result<MemoryUsage> memory_usage() const;

  /// Gives back memory that nothing uses. May wait for the device.
  Result<void> memory_cleanup() const;

  /// For the library's own use.
  explicit Client(std::shared_ptr<DeviceContext> context) noexcept : context_(std::move(context)) {}

 private:
  [[nodiscard]] Result<ProfilingToken> start_profile() const;
  [[nodiscard]] Result<ProfileTicks> end_profile(ProfilingToken token) const;
  void abandon_profile(ProfilingToken token) const;

  std::shared_ptr<DeviceContext> context_;
};

}  // namespace backplane
