#include <backplane/toolkit/metadata_cache.h>

namespace backplane::toolkit {

MetadataCache::~MetadataCache() {
  for (const Entry& entry : entries_) memory_.release_auxiliary(*entry.slice);
}

Result<Slice*> MetadataCache::get(std::span<const std::byte> bytes, const Upload& upload) {
  const std::string_view key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto found = by_bytes_.find(key); found != by_bytes_.end()) {
    use(found->second);
    return found->second->slice;
  }
  keep_within(capacity_ == 0 ? 0 : capacity_ - 1);
  BACKPLANE_TRY(Slice* const slice, memory_.reserve_auxiliary(bytes.size(), stream_));
  if (Result<void> uploaded = upload(*slice, bytes); !uploaded) {
    memory_.release_auxiliary(*slice);
    return std::move(uploaded).error();
  }
  entries_.push_front({std::string(key), slice, 0, {}});
  by_bytes_.emplace(entries_.front().bytes, entries_.begin());
  use(entries_.begin());
  return slice;
}

RecordingId MetadataCache::begin_recording() {
  recording_ = {++last_recording_};
  return recording_;
}

void MetadataCache::forget_recording(RecordingId recording) {
  if (recording == recording_) recording_ = {};
  const auto used = recordings_.extract(recording);
  if (used.empty()) return;
  for (const Entries::iterator entry : used.mapped()) --entry->recordings;
  keep_within(capacity_);
}

void MetadataCache::clear() {
  keep_within(0);
}

void MetadataCache::use(Entries::iterator entry) {
  entries_.splice(entries_.begin(), entries_, entry);
  if (recording_ == RecordingId{} || entry->newest_recording == recording_) return;
  entry->newest_recording = recording_;
  ++entry->recordings;
  memory_.pin(*entry->slice);
  recordings_[recording_].push_back(entry);
}

void MetadataCache::keep_within(std::size_t capacity) {
  for (auto entry = entries_.end(); entries_.size() > capacity && entry != entries_.begin();) {
    --entry;
    if (entry->recordings != 0) continue;
    by_bytes_.erase(entry->bytes);
    memory_.release_auxiliary(*entry->slice);
    entry = entries_.erase(entry);
  }
}

}  // namespace backplane::toolkit
