#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <backplane/contract/result.h>
#include <backplane/contract/translator.h>

namespace backplane {

enum class LogLevel : std::uint8_t { trace = 0, debug = 1, info = 2, warning = 3, error = 4, off = 5 };

/// A sink for messages of one category. Any thread.
class ILogger {
 public:
  virtual ~ILogger() = default;

  /// Whether `log` would do anything; ask before putting together an expensive message.
  [[nodiscard]] virtual bool enabled(LogLevel level) const noexcept = 0;

  /// Writes one message, a full sentence without a line end. Does not throw; may block on a slow sink.
  virtual void log(LogLevel level, std::string_view message) noexcept = 0;
};

/// A span of time for the trace, in nanoseconds of the steady clock.
struct TraceEvent {
  std::string_view category;  ///< "compile", "transfer".
  std::string_view name;      ///< What is shown.
  std::string_view track;     ///< The row it is shown in: a stream, a thread.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What the host offers a plugin; the plugin has no other way out. Alive from the handshake until
/// `PluginManifest::destroy` returned. Every method may be called by any thread and throws nothing. Methods
/// are only ever appended: check `revision()` before calling one newer than the first.
class IHost {
 public:
  /// The interface revision of the host. Always the first slot.
  [[nodiscard]] virtual std::uint32_t revision() const noexcept = 0;

  /// The logger of a category, made on first use; the plugin's name is prefixed by the host. Since
  /// revision 1.
  virtual std::shared_ptr<ILogger> logger(std::string_view category) = 0;

  /// The effective value of a key ("memory.limit"), as text; nothing if it is not set. Since revision 1.
  virtual std::optional<std::string> config_text(std::string_view key) const = 0;

  /// Likewise as an integer; nothing if it is not set or is no integer. Since revision 1.
  virtual std::optional<std::int64_t> config_integer(std::string_view key) const = 0;

  /// Likewise as a boolean. Since revision 1.
  virtual std::optional<bool> config_boolean(std::string_view key) const = 0;

  /// Adds a JSON object to the records of a kind ("compilation"), which tools read. Since revision 1.
  virtual void record(std::string_view kind, std::string_view json) = 0;

  /// Adds a span to the trace; does nothing where none is taken. Since revision 1.
  virtual void trace(const TraceEvent& event) = 0;

  /// The translator, opened on the first call, which takes tens of milliseconds; alive as long as the host.
  /// Error: `plugin_load_failed` with the loader's text. Since revision 1.
  virtual Result<const TranslatorApi*> translator() = 0;

  /// A stack trace of the calling thread, or an empty string where none is wanted. Since revision 1.
  virtual std::string stack_trace() = 0;

 protected:
  ~IHost() = default;
};

}  // namespace backplane
