#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <backplane/client.h>

#include "client/device_context.h"
#include "client/launch_check.h"
#include "client/launch_task.h"
#include "client/pending.h"

namespace backplane {
namespace {

/// Bindings of a call, without heap memory for any usual number of buffers.
class Bindings {
 public:
  explicit Bindings(std::span<const BufferReference> buffers) : size_(buffers.size()) {
    if (size_ > few_.size()) many_.resize(size_);
    const std::span<BufferBinding> storage = many_.empty() ? std::span(few_) : std::span(many_);
    std::ranges::transform(buffers, storage.begin(), [](const BufferReference& b) { return b->binding(); });
  }

  [[nodiscard]] std::span<const BufferBinding> span() const noexcept {
    return (many_.empty() ? std::span<const BufferBinding>(few_) : std::span<const BufferBinding>(many_))
        .first(size_);
  }

 private:
  std::size_t size_;
  std::array<BufferBinding, 16> few_;
  std::vector<BufferBinding> many_;
};

CopyDescriptor whole(const BufferBinding& binding) {
  return {.buffer = binding, .shape = {}, .strides = {}};
}

/// Answers where a buffer belongs to another device.
Result<void> check_owner(const DeviceContext& context, std::span<const BufferBinding> buffers) {
  for (const BufferBinding& buffer : buffers) {
    if (buffer.allocation->belongs_to(*context.utilities().dropped)) continue;
    return Error(ErrorCode::validation, "Buffer \"" + buffer.allocation->label() +
                                            "\" belongs to another device than " + context.name() +
                                            "; copy it there first.");
  }
  return {};
}

struct Claim {
  std::vector<BoundRange> ranges;
  Error error;
  StreamId stream;

  void operator()(IServer& server) const {
    for (const BoundRange& range : ranges) server.claim(std::array{range.binding()}, error, stream);
  }
};

/// Records that `error` left buffers of this device unwritten.
void claim(DeviceContext& context, std::span<const BufferBinding> buffers, Error error) {
  std::vector<BoundRange> ranges;
  for (const BufferBinding& buffer : buffers) {
    if (buffer.allocation->belongs_to(*context.utilities().dropped)) ranges.emplace_back(buffer);
  }
  context.submit(Claim{std::move(ranges), std::move(error), context.stream()});
}

struct Allocate {
  ManagedMemory memory;
  StreamId stream;

  void operator()(IServer& server) {
    const std::uint64_t size = memory->size();
    server.initialize_memory(memory, size, stream);
  }
  void failed(IServer& server, const Error& error) {
    server.claim(std::array{BufferBinding{memory.get(), 0, memory->size()}}, error, stream);
  }
};

struct Write {
  BoundRange destination;
  Bytes data;
  StreamId stream;

  void operator()(IServer& server) {
    std::array writes{WriteDescriptor{whole(destination.binding()), std::move(data)}};
    server.write(writes, stream);
  }
  void failed(IServer& server, const Error& error) {
    server.claim(std::array{destination.binding()}, error, stream);
  }
};

template <std::size_t kBuffers, std::size_t kScalarBytes>
bool submit_launch(DeviceContext& context, const CompiledKernel& kernel, const WorkgroupCount& count,
                   std::span<const BufferBinding> buffers, std::span<const std::byte> scalars) {
  if (buffers.size() > kBuffers || scalars.size() > kScalarBytes) return false;
  context.submit_retained(
      LaunchTask<kBuffers, kScalarBytes>(kernel, count, buffers, scalars, context.stream()));
  return true;
}

std::vector<BufferBinding> written_by(const KernelDefinition& kernel,
                                      std::span<const BufferBinding> buffers) {
  std::vector<BufferBinding> written;
  for (std::size_t i = 0; i < std::min(buffers.size(), kernel.bindings.size()); ++i) {
    if (writes(kernel.bindings[i].access)) written.push_back(buffers[i]);
  }
  return written;
}

}  // namespace

const std::string& Client::name() const noexcept {
  return context_->name();
}
const DeviceProperties& Client::properties() const noexcept {
  return context_->properties();
}

BufferHandle Client::allocate(std::uint64_t size_bytes, std::string label) const {
  ManagedMemory memory = ManagedMemory::create(size_bytes, std::move(label), context_->utilities().dropped);
  context_->submit(Allocate{memory, context_->stream()});
  return {std::move(memory), 0, size_bytes};
}

void Client::write_bytes(const BufferHandle& buffer, std::span<const std::byte> data) const {
  write(buffer, Bytes::copy(data));
}

void Client::write(const BufferHandle& buffer, Bytes data) const {
  BufferBinding destination = buffer.binding();
  Result<void> valid = check_owner(*context_, std::array{destination});
  if (valid && data.size() > destination.size) {
    valid = Error(ErrorCode::validation, "A write of " + std::to_string(data.size()) +
                                             " bytes exceeds buffer \"" + buffer.label() + "\" of " +
                                             std::to_string(destination.size) + " bytes.")
                .with_limit(data.size(), destination.size);
  }
  if (!valid) return claim(*context_, std::array{destination}, std::move(valid).error());
  destination.size = data.size();
  context_->submit(Write{BoundRange(destination), std::move(data), context_->stream()});
}

Result<std::vector<Bytes>> Client::read_many(std::span<const BufferReference> buffers) const {
  const Bindings bindings(buffers);
  BACKPLANE_CHECK(check_owner(*context_, bindings.span()));
  std::vector<CopyDescriptor> sources;
  std::ranges::transform(bindings.span(), std::back_inserter(sources), whole);
  BACKPLANE_TRY(auto reading, context_->call([&, stream = context_->stream()](IServer& server) {
    return server.read(sources, stream);
  }));
  Result<std::vector<Bytes>> blocks = reading.wait();
  if (!blocks) return Error(std::as_const(blocks).error());
  return blocks;
}

Result<Bytes> Client::read_bytes(const BufferHandle& buffer) const {
  BACKPLANE_TRY(std::vector<Bytes> blocks, read_many({buffer}));
  return std::move(blocks.front());
}

Deferred<Result<Bytes>> Client::read_async(const BufferHandle& buffer) const {
  if (Result<void> owned = check_owner(*context_, std::array{buffer.binding()}); !owned) {
    return Deferred<Result<Bytes>>::completed(std::move(owned).error());
  }
  return ask_later<Result<Bytes>, Result<std::vector<Bytes>>>(
      context_, [source = BoundRange(buffer.binding()), stream = context_->stream()](IServer& server) {
        return server.read(std::array{whole(source.binding())}, stream);
      });
}

void Client::launch(const Kernel& kernel, const Workgroups& count, std::span<const BufferReference> buffers,
                    const Scalars& scalars) const {
  const Bindings bindings(buffers);
  const std::span<const BufferBinding> bound = bindings.span();
  const Result<const CompiledKernel*> compiled = context_->compiled(kernel.record());
  // What does not compile has no write set that could be trusted, so everything it was handed is claimed.
  if (!compiled) return claim(*context_, bound, compiled.error());

  const KernelDefinition& definition = *(*compiled)->definition;
  const WorkgroupCount workgroups{count.x, count.y, count.z,
                                  count.indirect != nullptr ? count.indirect->binding() : BufferBinding{}};
  Result<void> valid = check_owner(*context_, bound);
  if (valid && workgroups.is_indirect()) valid = check_owner(*context_, std::array{workgroups.indirect});
  if (valid) valid = check_launch(definition, workgroups, bound, scalars.bytes(), properties(), name());
  if (!valid) return claim(*context_, written_by(definition, bound), std::move(valid).error());
  if (count.x == 0 || count.y == 0 || count.z == 0) return;

  const std::span<const std::byte> block = scalars.bytes().first(definition.scalar_bytes);
  static_cast<void>(
      submit_launch<4, 16>(*context_, **compiled, workgroups, bound, block) ||
      submit_launch<8, 64>(*context_, **compiled, workgroups, bound, block) ||
      submit_launch<kMaximumBindings, Scalars::kCapacity>(*context_, **compiled, workgroups, bound, block));
}

Result<void> Client::flush() const {
  return context_->call([stream = context_->stream()](IServer& server) { return server.flush(stream); });
}

Result<void> Client::sync(std::span<const BufferReference> buffers) const {
  const Bindings bindings(buffers);
  BACKPLANE_CHECK(check_owner(*context_, bindings.span()));
  BACKPLANE_TRY(auto draining, context_->call([&, stream = context_->stream()](IServer& server) {
    return server.sync(bindings.span(), stream);
  }));
  const Result<void> drained = draining.wait();
  if (!drained) return Error(drained.error());
  return {};
}

Deferred<Result<void>> Client::sync_async() const {
  return ask_later<Result<void>>(
      context_, [stream = context_->stream()](IServer& server) { return server.sync({}, stream); });
}

Result<void> Client::check(std::span<const BufferReference> buffers) const {
  const Bindings bindings(buffers);
  BACKPLANE_CHECK(check_owner(*context_, bindings.span()));
  return context_->call(
      [&, stream = context_->stream()](IServer& server) { return server.check(bindings.span(), stream); });
}

Result<ProfilingToken> Client::start_profile() const {
  return context_->call(
      [stream = context_->stream()](IServer& server) { return server.start_profile(stream); });
}

Result<ProfileTicks> Client::end_profile(ProfilingToken token) const {
  BACKPLANE_TRY(ProfileDuration duration,
                context_->call([token, stream = context_->stream()](IServer& server) {
                  return server.end_profile(stream, token);
                }));
  const Result<ProfileTicks> ticks = duration.ticks.wait();
  if (!ticks) return Error(ticks.error());
  return *ticks;
}

void Client::abandon_profile(ProfilingToken token) const {
  context_->submit(
      [token, stream = context_->stream()](IServer& server) { server.abandon_profile(stream, token); });
}

Result<MemoryUsage> Client::memory_usage() const {
  return context_->call([calling = context_->stream()](IServer& server) {
    MemoryUsage total;
    for (const StreamId stream : server.stream_ids(calling)) {
      const MemoryUsage usage = server.memory_usage(stream);
      total.allocation_count += usage.allocation_count;
      total.bytes_in_use += usage.bytes_in_use;
      total.bytes_padding += usage.bytes_padding;
      total.bytes_reserved += usage.bytes_reserved;
    }
    return total;
  });
}

Result<void> Client::memory_cleanup() const {
  return context_->call([calling = context_->stream()](IServer& server) {
    for (const StreamId stream : server.stream_ids(calling)) server.memory_cleanup(stream);
  });
}

}  // namespace backplane
