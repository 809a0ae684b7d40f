#include "compile/compile_path.h"

#include <exception>
#include <string>
#include <utility>

#include <xxhash.h>

namespace backplane {
namespace {

KernelId hash(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Error cannot_run(const KernelRecord& record, const Error& reason) {
  return Error(ErrorCode::launch_compilation, "Kernel \"" + record.interface().label + "\" does not compile")
      .caused_by(reason);
}

Error no_form(const KernelRecord& record) {
  return {ErrorCode::compilation_unsupported,
          "None of the kernel's " + std::to_string(record.definitions().size()) +
              " forms is one that this backend takes; add a SPIR-V form."};
}

}  // namespace

CompilePath::~CompilePath() {
  for (const std::atomic<Chunk*>& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

Result<const CompiledKernel*> CompilePath::obtain(const std::shared_ptr<const KernelRecord>& record) {
  if (const CompiledKernel* kernel = find(*record)) return kernel;

  std::unique_lock lock(mutex_);
  if (const CompiledKernel* kernel = find(*record)) return kernel;
  const auto [entry, first] = trips_.try_emplace(record->index());
  if (!first) {
    const std::shared_ptr<Trip> trip = entry->second;
    done_.wait(lock, [&trip] { return trip->done; });
    return trip->outcome;
  }
  const std::shared_ptr<Trip> trip = entry->second = std::make_shared<Trip>();
  lock.unlock();

  const KernelDefinition* definition = record->select(compiler_.forms());
  Result<std::shared_ptr<const Artifact>> artifact =
      definition != nullptr ? compile(*definition)
                            : Result<std::shared_ptr<const Artifact>>(no_form(*record));

  lock.lock();
  if (artifact) {
    trip->outcome = publish(record, *definition, *std::move(artifact));
  } else {
    ++statistics_.failed;
    trip->outcome = cannot_run(*record, artifact.error());
  }
  trip->done = true;
  trips_.erase(record->index());
  done_.notify_all();
  return trip->outcome;
}

Result<std::shared_ptr<const Artifact>> CompilePath::compile(const KernelDefinition& definition) {
  // A compiler that lets an exception out must not leave others waiting for a trip that never ends.
  try {
    BACKPLANE_TRY(const std::vector<std::byte> lowered, compiler_.lower(definition));
    if (lowered.empty()) {  // native code that needs no compiling has nothing to be found by
      BACKPLANE_TRY(Artifact made, compiler_.finalize(definition, lowered));
      const std::lock_guard lock(mutex_);
      ++statistics_.fresh;
      return std::make_shared<const Artifact>(std::move(made));
    }
    const KernelId key = hash(lowered);
    {
      const std::lock_guard lock(mutex_);
      const auto known = by_lowered_.find(key);
      if (known != by_lowered_.end()) {
        ++statistics_.rekeyed;
        return known->second;
      }
    }
    BACKPLANE_TRY(Artifact made, compiler_.finalize(definition, lowered));
    auto artifact = std::make_shared<const Artifact>(std::move(made));
    const std::lock_guard lock(mutex_);
    ++statistics_.fresh;
    return by_lowered_.try_emplace(key, std::move(artifact)).first->second;
  } catch (const std::exception& exception) {
    return Error(ErrorCode::exception, exception.what());
  } catch (...) {
    return Error(ErrorCode::exception, "The compiler threw something that is no std::exception.");
  }
}

Result<const CompiledKernel*> CompilePath::publish(const std::shared_ptr<const KernelRecord>& record,
                                                   const KernelDefinition& definition,
                                                   std::shared_ptr<const Artifact> artifact) {
  const std::uint32_t index = record->index();
  if (index >= kChunks * kChunkSize) {
    return Error(ErrorCode::launch_compilation, "This process has made more than " +
                                                    std::to_string(kChunks * kChunkSize) +
                                                    " kernels; reuse kernels instead of making new ones.");
  }
  kernels_.push_back(std::make_unique<const CompiledKernel>(
      CompiledKernel{record, &definition, std::move(artifact), static_cast<std::uint32_t>(kernels_.size())}));
  std::atomic<Chunk*>& slot = chunks_[index / kChunkSize];
  if (slot.load(std::memory_order_relaxed) == nullptr) slot.store(new Chunk{}, std::memory_order_release);
  (*slot.load(std::memory_order_relaxed))[index % kChunkSize].store(kernels_.back().get(),
                                                                    std::memory_order_release);
  return kernels_.back().get();
}

CompileStatistics CompilePath::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace backplane
