#include "server.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device.h"
#include "launch.h"

namespace backplane::cpu {
namespace {

std::uint64_t now() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

/// Stable across processes, which std::hash does not promise: FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t stable_hash(const DeviceProperties& properties) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::string_view text) {
    for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  };
  add(properties.vendor);
  add(properties.name);
  add(std::to_string(properties.compute_units));
  add(std::to_string(properties.memory_bytes));
  return hash;
}

std::shared_ptr<const ServerUtilities> describe() {
  ServerUtilities utilities;
  utilities.properties = describe_processor();
  utilities.properties_hash = stable_hash(utilities.properties);
  utilities.thread_affinity = ThreadAffinity::any;
  utilities.dropped = std::make_shared<DroppedAllocations>();
  return std::make_shared<const ServerUtilities>(std::move(utilities));
}

}  // namespace

Server::Server(IHost& host)
    : host_(host),
      logger_(host.logger("server")),
      utilities_(describe()),
      storage_({.allocation_bytes = utilities_->properties.limits.allocation_bytes,
                .total_bytes = static_cast<std::uint64_t>(
                    std::max<std::int64_t>(host.config_integer("memory.limit").value_or(0), 0))}) {}

Server::~Server() {
  collect_dropped();
}

void Server::initialize_memory(ManagedMemory memory, std::uint64_t /*size*/, StreamId stream) {
  collect_dropped();
  if (Result<void> allocated = storage_.allocate(*memory.get(), failures_.track()); !allocated) {
    const toolkit::TrackedRange range = tracked({memory.get(), 0, memory->size()});
    failures_.claim(std::array{range}, std::move(allocated).error(), "allocation", stream);
  }
}

Deferred<Result<std::vector<Bytes>>> Server::read(std::span<const CopyDescriptor> sources,
                                                  StreamId /*stream*/) {
  using Answer = Result<std::vector<Bytes>>;
  const auto copy = [&]() -> Answer {
    std::vector<toolkit::TrackedRange> ranges;
    for (const CopyDescriptor& source : sources) ranges.push_back(tracked(source.buffer));
    BACKPLANE_CHECK(failures_.ensure_written(ranges));
    std::vector<Bytes> blocks;
    for (const CopyDescriptor& source : sources) {
      BACKPLANE_TRY(const std::span<std::byte> device, resolve(source.buffer));
      BACKPLANE_TRY(const toolkit::PitchedCopy plan, toolkit::plan_copy(source));
      blocks.push_back(Bytes::allocate(plan.host_bytes()));
      toolkit::copy_to_host(plan, device.data(), blocks.back().data());
    }
    return blocks;
  };
  return Deferred<Answer>::completed(copy());
}

void Server::write(std::span<WriteDescriptor> writes, StreamId stream) {
  for (const WriteDescriptor& write : writes) {
    if (!is_allocated(write.destination.buffer)) continue;  // its own failure stands
    toolkit::ExecuteScope(failures_, stream)
        .over("write", std::array{tracked(write.destination.buffer)}, [&]() -> Result<void> {
          BACKPLANE_TRY(const std::span<std::byte> device, resolve(write.destination.buffer));
          BACKPLANE_TRY(const toolkit::PitchedCopy plan, toolkit::plan_copy(write.destination));
          if (plan.host_bytes() != write.source.size()) {
            return Error(ErrorCode::validation, "A write of " + std::to_string(write.source.size()) +
                                                    " bytes describes " + std::to_string(plan.host_bytes()) +
                                                    " bytes of device memory.");
          }
          toolkit::copy_to_device(plan, write.source.data(), device.data());
          return {};
        });
  }
}

Deferred<Result<void>> Server::sync(std::span<const BufferBinding> buffers, StreamId stream) {
  return Deferred<Result<void>>::completed(check(buffers, stream));
}

Result<void> Server::check(std::span<const BufferBinding> buffers, StreamId /*stream*/) {
  return failures_.ensure_written(tracked(buffers));
}

void Server::claim(std::span<const BufferBinding> buffers, const Error& error, StreamId stream) {
  failures_.claim(tracked(buffers), error, "the work", stream);
}

void Server::launch(const KernelRef& kernel, const WorkgroupCount& count, const KernelArguments& arguments,
                    StreamId stream, LaunchMode mode) {
  std::vector<toolkit::TrackedRange> reads_set;
  std::vector<toolkit::TrackedRange> write_set;
  for (std::size_t i = 0; i < arguments.buffers.size(); ++i) {
    const Access access = kernel.definition->bindings[i].access;
    // Memory that was never there is needed like an input: its failure is everyone's.
    if (reads(access) || !is_allocated(arguments.buffers[i]))
      reads_set.push_back(tracked(arguments.buffers[i]));
    if (writes(access)) write_set.push_back(tracked(arguments.buffers[i]));
  }
  if (count.is_indirect()) reads_set.push_back(tracked(count.indirect));

  if (mode == LaunchMode::skip) {
    // Nothing is produced, so nothing may be released; what cannot be loaded is found out by the launch that
    // counts.
    if (const Result<Module*> loaded = module(kernel); !loaded) {
      logger_->log(LogLevel::warning, loaded.error().to_string());
    }
    return;
  }
  toolkit::ExecuteScope(failures_, stream).launching(kernel.definition->label, reads_set, write_set, [&] {
    return run(kernel, count, arguments);
  });
}

Result<void> Server::flush(StreamId /*stream*/) {
  return {};
}

MemoryUsage Server::memory_usage(StreamId /*stream*/) {
  return storage_.usage();
}

MemoryReport Server::memory_report(StreamId /*stream*/) {
  MemoryPoolReport pool;
  pool.name = "host";
  pool.kind = MemoryPoolKind::direct;
  pool.usage = storage_.usage();
  pool.peak_bytes_in_use = storage_.peak_bytes();
  pool.peak_bytes_reserved = storage_.peak_bytes();
  return {{std::move(pool)}};
}

void Server::memory_cleanup(StreamId /*stream*/) {
  collect_dropped();
}

Result<ProfilingToken> Server::start_profile(StreamId stream) {
  const ProfilingToken token{++last_profile_};
  profiles_.emplace(token, Profile{now(), failures_.open_window(stream)});
  return token;
}

Result<ProfileDuration> Server::end_profile(StreamId /*stream*/, ProfilingToken token) {
  const auto node = profiles_.extract(token);
  if (node.empty()) {
    return Error(ErrorCode::profile_not_registered,
                 "No measurement is open under token " + std::to_string(token.value) + ".");
  }
  if (const std::optional<Result<void>> window = failures_.close_window(node.mapped().window); !*window) {
    return Error(ErrorCode::profile_launch, "Work failed inside the measured window")
        .caused_by(window->error());
  }
  return ProfileDuration{ProfileClock::host,
                         Deferred<Result<ProfileTicks>>::completed(ProfileTicks{node.mapped().begin, now()})};
}

void Server::abandon_profile(StreamId /*stream*/, ProfilingToken token) {
  const auto node = profiles_.extract(token);
  if (!node.empty()) failures_.close_window(node.mapped().window);
}

void Server::allocation_mode(MemoryAllocationMode /*mode*/, StreamId /*stream*/) {}

Result<void> Server::copy(const BufferBinding& source, const BufferBinding& destination, StreamId stream) {
  toolkit::ExecuteScope(failures_, stream)
      .launching(
          "copy", std::array{tracked(source)}, std::array{tracked(destination)}, [&]() -> Result<void> {
            BACKPLANE_TRY(const std::span<std::byte> from, resolve(source));
            BACKPLANE_TRY(const std::span<std::byte> to, resolve(destination));
            if (from.size() != to.size()) {
              return Error(ErrorCode::validation,
                           "A copy of " + std::to_string(from.size()) + " bytes has a destination of " +
                               std::to_string(to.size()) + " bytes; they must be equal.");
            }
            if (!to.empty()) std::memmove(to.data(), from.data(), to.size());
            return {};
          });
  return {};
}

Result<void> Server::fill(const BufferBinding& destination, std::span<const std::byte> pattern,
                          StreamId stream) {
  toolkit::ExecuteScope(failures_, stream)
      .over("fill", std::array{tracked(destination)}, [&]() -> Result<void> {
        BACKPLANE_TRY(const std::span<std::byte> to, resolve(destination));
        if (pattern.empty() || to.size() % pattern.size() != 0) {
          return Error(ErrorCode::validation, "A pattern of " + std::to_string(pattern.size()) +
                                                  " bytes does not divide a buffer of " +
                                                  std::to_string(to.size()) + " bytes.");
        }
        for (std::size_t at = 0; at < to.size(); at += pattern.size()) {
          std::memcpy(to.data() + at, pattern.data(), pattern.size());
        }
        return {};
      });
  return {};
}

Result<NativeResource> Server::native_resource(const BufferBinding& buffer, StreamId /*stream*/) {
  BACKPLANE_TRY(const std::span<std::byte> bytes, resolve(buffer));
  return NativeResource{ManagedMemory::retain(buffer.allocation),
                        reinterpret_cast<std::uintptr_t>(bytes.data()), 0, buffer.size};
}

bool Server::is_allocated(const BufferBinding& binding) {
  return !Storage::block(*binding.allocation).failure;
}

Result<std::span<std::byte>> Server::resolve(const BufferBinding& binding) {
  const Block& block = Storage::block(*binding.allocation);
  if (block.failure) return *block.failure;
  const std::uint64_t size = binding.allocation->size();
  if (binding.offset > size || binding.size > size - binding.offset) {
    return Error(ErrorCode::validation, "Bytes " + std::to_string(binding.offset) + " to " +
                                            std::to_string(binding.offset + binding.size) + " of buffer \"" +
                                            binding.allocation->label() + "\" lie outside its " +
                                            std::to_string(size) + " bytes.");
  }
  return std::span(block.data.get() + binding.offset, binding.size);
}

toolkit::TrackedRange Server::tracked(const BufferBinding& binding) {
  return {&Storage::block(*binding.allocation).tracked, binding.allocation, binding.offset,
          binding.offset + binding.size};
}

std::vector<toolkit::TrackedRange> Server::tracked(std::span<const BufferBinding> bindings) {
  std::vector<toolkit::TrackedRange> ranges;
  for (const BufferBinding& binding : bindings) ranges.push_back(tracked(binding));
  return ranges;
}

void Server::collect_dropped() {
  for (Allocation* dropped = utilities_->dropped->take_all(); dropped != nullptr;) {
    Allocation* const allocation = std::exchange(dropped, DroppedAllocations::next(dropped));
    if (allocation->server_slot != 0) {
      failures_.forget(Storage::block(*allocation).tracked);
      storage_.release(*allocation);
    }
    DroppedAllocations::destroy(allocation);
  }
}

Result<Module*> Server::module(const KernelRef& kernel) {
  if (kernel.index >= modules_.size()) modules_.resize(kernel.index + 1);
  std::unique_ptr<Module>& slot = modules_[kernel.index];
  if (slot == nullptr) {
    BACKPLANE_TRY(slot, Module::load(host_, kernel));
  }
  return slot.get();
}

Result<void> Server::run(const KernelRef& kernel, const WorkgroupCount& count,
                         const KernelArguments& arguments) {
  BACKPLANE_TRY(const Module* loaded, module(kernel));
  BACKPLANE_TRY(const auto workgroup_count, workgroups(kernel, count));
  std::vector<std::span<std::byte>> buffers;
  for (const BufferBinding& binding : arguments.buffers) {
    BACKPLANE_TRY(const std::span<std::byte> bytes, resolve(binding));
    buffers.push_back(bytes);
  }
  return run_workgroups(pool_, *loaded, *kernel.definition, workgroup_count, buffers, arguments.scalars);
}

Result<std::array<std::uint32_t, 3>> Server::workgroups(const KernelRef& kernel,
                                                        const WorkgroupCount& count) const {
  if (!count.is_indirect()) return std::array{count.x, count.y, count.z};
  BACKPLANE_TRY(const std::span<std::byte> bytes, resolve(count.indirect));
  std::array<std::uint32_t, 3> read{};
  std::memcpy(read.data(), bytes.data(), sizeof read);
  const std::array<std::uint32_t, 3>& limit = utilities_->properties.limits.workgroup_count;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i] <= limit[i]) continue;
    return Error(ErrorCode::launch_too_many_resources,
                 "Kernel \"" + kernel.definition->label + "\" cannot run: its count of " +
                     std::to_string(read[i]) + " workgroups, read from a buffer, exceeds the limit of " +
                     std::to_string(limit[i]) + ".")
        .with_limit(read[i], limit[i]);
  }
  return read;
}

}  // namespace backplane::cpu
