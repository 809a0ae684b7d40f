#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <backplane/contract/id.h>
#include <backplane/contract/result.h>
#include <backplane/toolkit/memory_management.h>

namespace backplane::toolkit {

/// A recording that metadata is kept for.
using RecordingId = Id<struct RecordingTag>;

/// The small read-only buffers that launches need beside their arguments - shapes, strides, scalars - of one
/// stream. Launches repeat themselves, so a buffer is found again by its exact bytes. The least recently used
/// goes first, but none that a recording uses. One thread, the server's; not to outlive its memory
/// management.
class MetadataCache {
 public:
  /// Keeps at most `capacity` buffers, and those that recordings use.
  MetadataCache(MemoryManagement& memory, StreamId stream, std::size_t capacity)
      : memory_(memory), stream_(stream), capacity_(capacity) {}
  MetadataCache(const MetadataCache&) = delete;
  MetadataCache& operator=(const MetadataCache&) = delete;
  ~MetadataCache();

  /// Enqueues a write of the bytes to a new buffer on the stream.
  using Upload = std::function<Result<void>(const Slice& slice, std::span<const std::byte> bytes)>;

  /// The buffer with exactly these bytes; valid until the next call unless a recording uses it. Errors: of
  /// the reservation, or of `upload`; then nothing is kept.
  Result<Slice*> get(std::span<const std::byte> bytes, const Upload& upload);

  /// Whatever is asked for until `end_recording` stays, and stays in place, until `forget_recording`.
  RecordingId begin_recording();
  void end_recording() noexcept { recording_ = {}; }
  void forget_recording(RecordingId recording);

  /// Drops every buffer that no recording uses.
  void clear();

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string bytes;
    Slice* slice;
    std::size_t recordings = 0;
    RecordingId newest_recording;  // so that one counts once
  };
  using Entries = std::list<Entry>;  // most recently used first

  void use(Entries::iterator entry);
  void keep_within(std::size_t capacity);

  MemoryManagement& memory_;
  StreamId stream_;
  std::size_t capacity_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_bytes_;  // keys are of the entries
  std::unordered_map<RecordingId, std::vector<Entries::iterator>> recordings_;
  RecordingId recording_;
  std::uint64_t last_recording_ = 0;
};

}  // namespace backplane::toolkit
