#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <backplane/contract/bytes.h>
#include <backplane/contract/collective.h>
#include <backplane/contract/deferred.h>
#include <backplane/contract/device.h>
#include <backplane/contract/host.h>
#include <backplane/contract/id.h>
#include <backplane/contract/kernel.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/profile.h>
#include <backplane/contract/result.h>
#include <backplane/contract/transfer.h>

namespace backplane {

/// How the client lays out a tensor whose strides nobody asked for.
struct LayoutPolicy {
  /// Rows of tensors with two dimensions or more start at multiples of this many bytes; 1 packs them.
  std::uint64_t pitch_alignment = 1;
  /// Tensors that share an allocation start at multiples of this many bytes.
  std::uint64_t tensor_alignment = 64;
};

/// How far the server checks indices in kernels that ask for `ExecutionMode::checked`.
enum class CheckMode : std::uint8_t { automatic = 0, enforce = 1, validate = 2 };

/// Which threads may call a server.
enum class ThreadAffinity : std::uint8_t {
  fixed = 0,  ///< Always the one that created it.
  any = 1,    ///< Any, as long as calls do not overlap.
};

/// What is fixed about a server from its creation on. The communicators are those that exist already when it
/// is asked.
struct ServerUtilities {
  DeviceProperties properties;
  std::uint64_t properties_hash =
      0;  ///< Of `properties`; the same in every process on this device and driver.
  LayoutPolicy layout;
  CheckMode check_mode = CheckMode::automatic;
  ThreadAffinity thread_affinity = ThreadAffinity::fixed;
  std::vector<CommunicatorId> communicators;

  /// Where handles of this server's allocations fall when the last reference is dropped. Never null.
  std::shared_ptr<DroppedAllocations> dropped;
};

/// A device's server: owns the device's memory and runs work on it. This is what a backend implements.
///
/// Threads: calls never overlap. They come from the thread that created the server, unless its utilities say
/// `any`. No method waits for the device except where it says so; whatever waits is handed back as a
/// `Deferred` for the caller to wait on. Spans, views and bindings are borrowed for the call.
///
/// Errors: no method throws. Work that cannot be done is not reported by the method that was asked to enqueue
/// it but claims the memory it was to write, and every later `read`, `sync` or `check` of that memory answers
/// with the reason; see ERROR_HANDLING.md. Methods that return a `Result` report what the caller must know at
/// once.
///
/// Revisions: methods are appended at the end, each with a default, and never changed. Everything below is
/// there since revision 1.
class IServer {
 public:
  virtual ~IServer() = default;

  // Required.

  /// Gives `memory` its size in bytes on `stream`; contents are undefined. Does not block on the device. A
  /// failure is recorded for the memory: reading it reports `out_of_memory`, `buffer_too_big` or whatever it
  /// was. Size 0 succeeds.
  virtual void initialize_memory(ManagedMemory memory, std::uint64_t size, StreamId stream) = 0;

  /// The server's logger; never null, the same for the server's life.
  virtual std::shared_ptr<ILogger> logger() = 0;

  /// What is fixed about this server; never null. May be asked again after `comm_init`.
  virtual std::shared_ptr<const ServerUtilities> utilities() = 0;

  /// Copies buffers to the host, one block each, rows packed, after the work queued on the streams that own
  /// them. Enqueues and returns; the caller waits. If any byte asked for was left unwritten, nothing is
  /// copied and the answer is why: `several` where there is more than one failure, each once.
  virtual Deferred<Result<std::vector<Bytes>>> read(std::span<const CopyDescriptor> sources,
                                                    StreamId stream) = 0;

  /// Copies host bytes into buffers, after the work queued on the streams that own them. The bytes are moved
  /// out of `writes` and kept until the device is done with them. Lifts the claim from exactly the bytes
  /// written. A failure, unsupported strides included, claims the destination.
  virtual void write(std::span<WriteDescriptor> writes, StreamId stream) = 0;

  /// Answers once everything queued so far has run on the device, faults included, as a read of `buffers`
  /// would have. With no buffers it answers for the device alone. Enqueues and returns; the caller waits.
  virtual Deferred<Result<void>> sync(std::span<const BufferBinding> buffers, StreamId stream) = 0;

  /// What a read of `buffers` would answer now. Does not wait, and so knows only failures found when work was
  /// submitted.
  virtual Result<void> check(std::span<const BufferBinding> buffers, StreamId stream) = 0;

  /// Records that `error` left these bytes unwritten; replaces what was recorded for them.
  virtual void claim(std::span<const BufferBinding> buffers, const Error& error, StreamId stream) = 0;

  /// Runs a kernel after the work queued on the streams that own its buffers. A kernel that would read
  /// claimed bytes is not run, and what it was to write inherits the claim. An indirect count is read by the
  /// launch and checked against the limits. With `LaunchMode::skip` everything is done except the dispatch.
  /// Never compiles.
  virtual void launch(const KernelRef& kernel, const WorkgroupCount& count, const KernelArguments& arguments,
                      StreamId stream, LaunchMode mode) = 0;

  /// Submits what `stream` has outstanding, without waiting for it. Reports a broken device alone:
  /// `device_poisoned`.
  virtual Result<void> flush(StreamId stream) = 0;

  /// Memory of `stream`, in bytes.
  virtual MemoryUsage memory_usage(StreamId stream) = 0;

  /// The pools of `stream` in routing order, auxiliary pools last.
  virtual MemoryReport memory_report(StreamId stream) = 0;

  /// Gives back memory that nothing uses, dropped handles first. May wait for the device. Does nothing but
  /// log while `stream` records.
  virtual void memory_cleanup(StreamId stream) = 0;

  /// Opens a measured window on `stream`. Windows may nest. Errors: `profile_server`.
  virtual Result<ProfilingToken> start_profile(StreamId stream) = 0;

  /// Closes it. The times come later. Errors: `profile_not_registered` for a token that is not open;
  /// `profile_launch` where work inside the window failed; `profile_server`.
  virtual Result<ProfileDuration> end_profile(StreamId stream, ProfilingToken token) = 0;

  /// How allocations made on `stream` from now on are placed. A server with one way of placing them ignores
  /// it.
  virtual void allocation_mode(MemoryAllocationMode mode, StreamId stream) = 0;

  // Provided. A default never calls another provided method, except `abandon_profile`.

  /// Host memory of the given sizes in bytes that transfers can use directly. Default:
  /// `unsupported_operation`, and the caller uses heap memory.
  virtual Result<std::vector<Bytes>> staging(std::span<const std::size_t> sizes, StreamId stream);

  /// Copies `source` to `destination` on the device; they have the same size and do not overlap. Failures
  /// claim the destination. Default: `unsupported_operation`, and the client uses a kernel.
  virtual Result<void> copy(const BufferBinding& source, const BufferBinding& destination, StreamId stream);

  /// Fills `destination` with `pattern`, whose 1, 2, 4, 8 or 16 bytes divide its size. Failures claim the
  /// destination. Default: `unsupported_operation`, and the client uses a kernel.
  virtual Result<void> fill(const BufferBinding& destination, std::span<const std::byte> pattern,
                            StreamId stream);

  /// The address or handle the driver knows a buffer by. The allocation then stays where it is for as long as
  /// it lives; what is done through the address is not tracked. Default: `unsupported_operation`.
  virtual Result<NativeResource> native_resource(const BufferBinding& buffer, StreamId stream);

  /// Routes allocations of `stream` into a pool whose memory a graph can keep. Call it before the warm-up
  /// that precedes `begin_capture`. Default: succeeds and does nothing.
  virtual Result<void> graph_prepare(StreamId stream);

  /// Starts recording launches of `stream` instead of running them. Requires `graph_prepare`. Until
  /// `end_capture` the stream refuses reads, syncs and profiles, and a host write, a driver allocation, a
  /// failure or a skip dooms the recording. Default: `unsupported_operation`.
  virtual Result<void> begin_capture(StreamId stream);

  /// Ends recording. A doomed recording fails with the reason and leaves what it would have written claimed;
  /// from a stream that does not record it tears the recording down. Default: `unsupported_operation`.
  virtual Result<GraphId> end_capture(StreamId stream);

  /// Runs a graph again on its own buffers. Enqueues and returns. Errors: `not_found` for an unknown or
  /// destroyed graph; a refusal, which also claims what the graph writes until a replay lands. Default:
  /// `unsupported_operation`.
  virtual Result<void> replay(GraphId graph, StreamId stream);

  /// Forgets a graph and lets go of its memory, once no replay in flight reads it. Unknown ids are ignored.
  /// Default: nothing.
  virtual void graph_destroy(GraphId graph, StreamId stream);

  /// One id for every device stream in use, so that a client can add up over them. Default: `calling` alone.
  virtual std::vector<StreamId> stream_ids(StreamId calling);

  /// Rebuilds the pools of `stream` and lays out those of every later stream alike. Errors: `validation` for
  /// an invalid layout; `pools_in_use` where live memory kept the stream's old pools. Default:
  /// `pools_unsupported`.
  virtual Result<void> install_memory_pools(const MemoryConfiguration& configuration, StreamId stream);

  /// Closes a window without measuring it. Unknown tokens are ignored. Default: `end_profile`, result thrown
  /// away, which pays for a measurement nobody wants: override it.
  virtual void abandon_profile(StreamId stream, ProfilingToken token);

  /// Joins a communicator; returns once every rank has. Default: `unsupported_operation`.
  virtual Result<CommunicatorId> comm_init(const CommunicatorDescription& description);

  /// Enqueues this rank's part of an all-reduce. Failures claim the destination. Default:
  /// `unsupported_operation`.
  virtual Result<void> all_reduce(const AllReduceDescription& reduction, StreamId stream);

  /// Enqueues sending a buffer to a peer. Default: `unsupported_operation`.
  virtual Result<void> send(const PeerTransferDescription& transfer, StreamId stream);

  /// Enqueues receiving a buffer from a peer. Failures claim the buffer. Default: `unsupported_operation`.
  virtual Result<void> recv(const PeerTransferDescription& transfer, StreamId stream);

  /// Orders `stream` behind the collectives enqueued so far. Default: `unsupported_operation`.
  virtual Result<void> sync_collective(StreamId stream);
};

namespace detail {
inline Error unsupported(const char* operation,
                         const std::source_location& where = std::source_location::current()) {
  return {ErrorCode::unsupported_operation,
          std::string("This server does not support the operation \"") + operation +
              "\"; ask the device's capabilities before using it.",
          where};
}
}  // namespace detail

inline Result<std::vector<Bytes>> IServer::staging(std::span<const std::size_t> /*sizes*/,
                                                   StreamId /*stream*/) {
  return detail::unsupported("staging");
}

inline Result<void> IServer::copy(const BufferBinding& /*source*/, const BufferBinding& /*destination*/,
                                  StreamId /*stream*/) {
  return detail::unsupported("copy");
}

inline Result<void> IServer::fill(const BufferBinding& /*destination*/,
                                  std::span<const std::byte> /*pattern*/, StreamId /*stream*/) {
  return detail::unsupported("fill");
}

inline Result<NativeResource> IServer::native_resource(const BufferBinding& /*buffer*/, StreamId /*stream*/) {
  return detail::unsupported("native_resource");
}

inline Result<void> IServer::graph_prepare(StreamId /*stream*/) {
  return {};
}

inline Result<void> IServer::begin_capture(StreamId /*stream*/) {
  return detail::unsupported("begin_capture");
}

inline Result<GraphId> IServer::end_capture(StreamId /*stream*/) {
  return detail::unsupported("end_capture");
}

inline Result<void> IServer::replay(GraphId /*graph*/, StreamId /*stream*/) {
  return detail::unsupported("replay");
}

inline void IServer::graph_destroy(GraphId /*graph*/, StreamId /*stream*/) {}

inline std::vector<StreamId> IServer::stream_ids(StreamId calling) {
  return {calling};
}

inline Result<void> IServer::install_memory_pools(const MemoryConfiguration& /*configuration*/,
                                                  StreamId /*stream*/) {
  return Error(ErrorCode::pools_unsupported, "This server's memory pools cannot be configured.");
}

inline void IServer::abandon_profile(StreamId stream, ProfilingToken token) {
  static_cast<void>(end_profile(stream, token));
}

inline Result<CommunicatorId> IServer::comm_init(const CommunicatorDescription& /*description*/) {
  return detail::unsupported("comm_init");
}

inline Result<void> IServer::all_reduce(const AllReduceDescription& /*reduction*/, StreamId /*stream*/) {
  return detail::unsupported("all_reduce");
}

inline Result<void> IServer::send(const PeerTransferDescription& /*transfer*/, StreamId /*stream*/) {
  return detail::unsupported("send");
}

inline Result<void> IServer::recv(const PeerTransferDescription& /*transfer*/, StreamId /*stream*/) {
  return detail::unsupported("recv");
}

inline Result<void> IServer::sync_collective(StreamId /*stream*/) {
  return detail::unsupported("sync_collective");
}

}  // namespace backplane
