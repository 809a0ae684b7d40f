#include "kernel/kernel_record.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <xxhash.h>

namespace backplane {
namespace {

/// Two kernels that share code but not a label are two records, for their errors must not bear each other's
/// names.
using InternKey = std::pair<std::string, std::vector<KernelId>>;

struct InternTable {
  std::mutex mutex;
  std::map<InternKey, std::weak_ptr<const KernelRecord>> records;
  std::uint32_t next_index = 0;
  std::size_t sweep_at = 64;
};

InternTable& intern_table() {
  static auto* const table = new InternTable;  // outlives every static that holds a kernel
  return *table;
}

}  // namespace

const KernelDefinition* KernelRecord::select(std::span<const KernelForm> forms) const noexcept {
  for (const KernelForm form : forms) {
    for (const KernelDefinition& definition : definitions_) {
      if (definition.form == form) return &definition;
    }
  }
  return nullptr;
}

std::shared_ptr<const KernelRecord> KernelRecord::intern(KernelRecord record) {
  InternKey key{record.interface().label, {}};
  for (const KernelDefinition& definition : record.definitions()) key.second.push_back(definition.id);

  InternTable& table = intern_table();
  const std::lock_guard lock(table.mutex);
  if (table.records.size() >= table.sweep_at) {
    std::erase_if(table.records, [](const auto& entry) { return entry.second.expired(); });
    table.sweep_at = 2 * table.records.size() + 64;
  }
  std::weak_ptr<const KernelRecord>& slot = table.records[std::move(key)];
  if (std::shared_ptr<const KernelRecord> known = slot.lock()) return known;
  record.index_ = table.next_index++;
  auto made = std::make_shared<const KernelRecord>(std::move(record));
  slot = made;
  return made;
}

KernelId kernel_id(const KernelDefinition& definition) {
  struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_128bits_reset(state.get());
  const auto add = [&state](const void* data, std::size_t size) {
    XXH3_128bits_update(state.get(), data, size);
  };
  const auto add_value = [&add](auto value) { add(&value, sizeof value); };
  add_value(definition.form);
  add_value(definition.mode);
  add_value(definition.function);
  add_value(definition.workgroup_size);  // native code does not contain what is declared beside it
  add_value(definition.scalar_bytes);
  for (const KernelBinding& binding : definition.bindings) add_value(binding.access);
  add_value(definition.entry_point.size());
  add(definition.entry_point.data(), definition.entry_point.size());
  add(definition.code.data(), definition.code.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.high64, hash.low64};
}

}  // namespace backplane
