#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <backplane/contract/plugin.h>
#include <backplane/contract/server.h>

#include "compile/compile_path.h"
#include "device_thread/device_thread.h"

namespace backplane {

/// What gets a logical stream of its own; `streaming.policy`.
enum class StreamPolicy : std::uint8_t {
  per_thread,  ///< Every thread, and every `Stream`.
  per_task,    ///< Every `Stream`; what no scope of one surrounds shares one.
  single,      ///< Nothing: all work is in one order.
};

/// The policy that a configuration value names.
StreamPolicy stream_policy(std::string_view name) noexcept;

/// A device as discovery hands it over.
struct DeviceSource {
  std::string name;                                               ///< "cpu:0".
  ICompiler* compiler;                                            ///< Never null.
  std::function<Result<std::unique_ptr<IServer>>()> open_server;  ///< Called once, on the device's thread.
  std::shared_ptr<const void> library;                            ///< Keeps the plugin loaded; released last.
  StreamPolicy stream_policy = StreamPolicy::per_thread;
};

/// What all clients of one device share: its thread, its server and its compiled kernels. Any thread. The
/// only place from which a server is called, so that nothing a plugin throws gets further.
class DeviceContext {
 public:
  /// Starts the device's thread and opens the device on it. Blocks. Errors: the plugin's own; `exception`.
  static Result<std::shared_ptr<DeviceContext>> open(DeviceSource source);

  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  /// Runs what was submitted, closes the device and joins its thread, within the thread's own limit.
  ~DeviceContext();

  [[nodiscard]] const std::string& name() const noexcept { return source_.name; }
  [[nodiscard]] const ServerUtilities& utilities() const noexcept { return utilities_; }
  [[nodiscard]] const DeviceProperties& properties() const noexcept { return utilities_.properties; }

  /// The stream that the calling thread's work goes to.
  [[nodiscard]] StreamId stream() const noexcept;

  /// The kernel, checked against the device and compiled. Blocks while it compiles, the first time. Errors:
  /// those of `check_kernel` and `CompilePath::obtain`.
  Result<const CompiledKernel*> compiled(const std::shared_ptr<const KernelRecord>& record);

  [[nodiscard]] CompileStatistics compile_statistics() const { return compile_path_.statistics(); }

  /// Runs `task(IServer&)` on the device's thread, later. An exception that leaves it goes to
  /// `task.failed(IServer&, Error)` where there is such a member. The answer is what kept it from being
  /// submitted.
  template <class Task>
  ErrorCode submit(Task&& task) {
    return thread_->submit(OnServer<std::decay_t<Task>>{this, std::forward<Task>(task)});
  }

  /// Likewise, and destroys the task on the calling thread, so that the references it holds stay there.
  template <class Task>
  ErrorCode submit_retained(Task&& task) {
    return thread_->submit_retained(OnServer<std::decay_t<Task>>{this, std::forward<Task>(task)});
  }

  /// What an answer of `submit` other than `none` means.
  [[nodiscard]] Error refusal(ErrorCode code) const { return thread_->refusal(code); }

  /// Runs `task(IServer&)` after everything this thread submitted and returns its result; an error in it is
  /// copied, for it may have been made by the plugin. Blocks.
  template <class Task>
  auto call(Task&& task) {
    auto answer = thread_->call([&] {
      const ServerCallScope scope;
      return task(*server_);
    });
    if (!answer) answer = Error(std::as_const(answer).error());
    return answer;
  }

 private:
  template <class Task>
  struct OnServer {
    DeviceContext* context;
    Task task;

    void operator()() {
      const ServerCallScope scope;
      if constexpr (requires(IServer& server, const Error& error) { task.failed(server, error); }) {
        try {
          task(*context->server_);
        } catch (const std::exception& exception) {
          task.failed(*context->server_, Error(ErrorCode::exception, exception.what()));
        } catch (...) {
          task.failed(*context->server_,
                      Error(ErrorCode::exception, "The server threw something that is no std::exception."));
        }
      } else {
        task(*context->server_);
      }
    }
  };

  explicit DeviceContext(DeviceSource source)
      : source_(std::move(source)), compile_path_(*source_.compiler) {}
  Result<void> start();

  DeviceSource source_;
  CompilePath compile_path_;
  IServer* server_ = nullptr;  // owned by the device's thread
  ServerUtilities utilities_;
  std::unique_ptr<DeviceThread> thread_;
};

}  // namespace backplane
