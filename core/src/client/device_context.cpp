#include "client/device_context.h"

#include <backplane/stream.h>

#include "client/launch_check.h"

namespace backplane {

StreamPolicy stream_policy(std::string_view name) noexcept {
  if (name == "per-task") return StreamPolicy::per_task;
  if (name == "single") return StreamPolicy::single;
  return StreamPolicy::per_thread;
}

Result<std::shared_ptr<DeviceContext>> DeviceContext::open(DeviceSource source) {
  std::shared_ptr<DeviceContext> context(new DeviceContext(std::move(source)));
  BACKPLANE_CHECK(context->start());
  return context;
}

DeviceContext::~DeviceContext() {
  if (thread_ == nullptr || thread_->shutdown()) return;
  // Something of the plugin's still runs, or, after fork, may not be touched: its code must stay.
  static_cast<void>(new std::shared_ptr<const void>(std::move(source_.library)));  // NOLINT(*-owning-memory)
}

Result<void> DeviceContext::start() {
  std::shared_ptr<const ServerUtilities> theirs;
  auto thread =
      DeviceThread::create({.name = "bp-" + source_.name}, [&]() -> Result<std::unique_ptr<IServer>> {
        BACKPLANE_TRY(std::unique_ptr<IServer> server, source_.open_server());
        theirs = server->utilities();
        server_ = server.get();
        return server;
      });
  if (!thread) return Error(std::as_const(thread).error());
  thread_ = *std::move(thread);
  thread_->set_caller_may_run(theirs->thread_affinity == ThreadAffinity::any);

  utilities_ = *theirs;
  // Handles share this and may outlive everything else; what counts them must be our code, and keep theirs
  // loaded.
  DroppedAllocations* const dropped = theirs->dropped.get();
  utilities_.dropped = {dropped,
                        [list = theirs->dropped, library = source_.library](DroppedAllocations*) mutable {
                          list.reset();
                          library.reset();
                        }};
  return {};
}

StreamId DeviceContext::stream() const noexcept {
  constexpr StreamId kShared{0};  // no thread and no `Stream` has it
  switch (source_.stream_policy) {
    case StreamPolicy::per_thread:
      return Stream::current();
    case StreamPolicy::per_task:
      return Stream::in_scope() ? Stream::current() : kShared;
    case StreamPolicy::single:
      return kShared;
  }
  return kShared;
}

Result<const CompiledKernel*> DeviceContext::compiled(const std::shared_ptr<const KernelRecord>& record) {
  if (const CompiledKernel* kernel = compile_path_.find(*record)) return kernel;
  BACKPLANE_CHECK(check_kernel(record->interface(), properties(), name()));
  return compile_path_.obtain(record);
}

}  // namespace backplane
