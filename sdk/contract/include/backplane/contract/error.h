#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane {

/// The part of the system an error code belongs to; the second-lowest byte of the code.
enum class ErrorClass : std::uint8_t {
  none = 0,
  server = 1,
  launch = 2,
  io = 3,
  profile = 4,
  compilation = 5,
  install_pools = 6,
  call = 7,
  plugin = 8,
};

/// What went wrong. Values are part of the contract: new ones are added, none is renumbered, and code that
/// meets an unknown one treats it by its class.
enum class ErrorCode : std::uint32_t {
  none = 0,

  validation = 0x0101,       ///< The request itself is wrong: a size, a shape, a count of arguments.
  generic = 0x0102,          ///< A failure of the server that no other code describes.
  several = 0x0103,          ///< More than one failure; `causes()` holds each once.
  unwritten = 0x0104,        ///< The bytes asked for were never written, or the work that should have failed.
  skipped = 0x0105,          ///< The work was not run because one of its inputs was never produced.
  torn_down = 0x0106,        ///< The device was shut down before the work was done.
  device_poisoned = 0x0107,  ///< The device had a fault that it cannot recover from.
  re_entered = 0x0108,       ///< A blocking call was made from inside a call into the same server.
  busy = 0x0109,             ///< Something still uses what was to be released; nothing was changed.

  launch_compilation = 0x0201,    ///< The kernel does not compile for this device.
  launch_out_of_memory = 0x0202,  ///< The device had no memory left for the launch itself.
  launch_too_many_resources =
      0x0203,               ///< A limit of the device is exceeded; see `requested()` and `limit()`.
  launch_io = 0x0204,       ///< An argument of the launch could not be resolved to memory.
  launch_unknown = 0x0205,  ///< The driver refused the launch with a code we do not know.

  buffer_too_big = 0x0301,           ///< Larger than the device can ever allocate at once.
  out_of_memory = 0x0302,            ///< No memory now; may succeed later, when something was freed.
  pool_capacity_exceeded = 0x0303,   ///< The memory pool that must serve the request is capped below it.
  page_sizes_exhausted = 0x0304,     ///< No page size of the configured pools fits the request.
  not_found = 0x0305,                ///< The memory, file or device named does not exist.
  unsupported_strides = 0x0306,      ///< The copy is not pitched row-major.
  unsupported_operation = 0x0307,    ///< This server does not offer the operation.
  page_update_forbidden = 0x0308,    ///< The page is recorded or guarded and may not change.
  deferred_mapping_failed = 0x0309,  ///< Memory carved without backing could not be backed on first use.
  io_unknown = 0x030a,               ///< A transfer or a file operation failed for another reason.

  profile_unknown = 0x0401,         ///< The measurement failed for a reason we do not know.
  profile_not_registered = 0x0402,  ///< No measurement is open under this token.
  profile_launch = 0x0403,          ///< A launch inside the measured window failed.
  profile_server = 0x0404,          ///< The server failed while it measured.

  compilation = 0x0501,  ///< A kernel is malformed or a compiler refused it.
  compilation_unsupported =
      0x0502,  ///< A kernel uses something this backend does not support; named in the text.

  pools_in_use = 0x0601,  ///< The old pools still hold live memory; the layout applies to new streams only.
  pools_unsupported = 0x0602,  ///< The server's pools cannot be configured.

  exception = 0x0701,     ///< An exception escaped a task; its text is the message.
  disconnected = 0x0702,  ///< The device thread is gone.
  forked = 0x0703,        ///< The call was made in a child process after `fork`.

  plugin_refused = 0x0801,         ///< A plugin candidate breaks a rule and was not loaded.
  plugin_load_failed = 0x0802,     ///< The loader could not open the library.
  no_device = 0x0803,              ///< The plugin works and has no device; the text says why.
  configuration_invalid = 0x0804,  ///< A configuration file or variable holds something unusable.
};

[[nodiscard]] constexpr ErrorClass error_class(ErrorCode code) noexcept {
  return static_cast<ErrorClass>((static_cast<std::uint32_t>(code) >> 8) & 0xffU);
}

/// The code's name as it is spelled in `ErrorCode`; "unknown" for a value newer than this header.
[[nodiscard]] constexpr std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::none:
      return "none";
    case ErrorCode::validation:
      return "validation";
    case ErrorCode::generic:
      return "generic";
    case ErrorCode::several:
      return "several";
    case ErrorCode::unwritten:
      return "unwritten";
    case ErrorCode::skipped:
      return "skipped";
    case ErrorCode::torn_down:
      return "torn_down";
    case ErrorCode::device_poisoned:
      return "device_poisoned";
    case ErrorCode::re_entered:
      return "re_entered";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::launch_compilation:
      return "launch_compilation";
    case ErrorCode::launch_out_of_memory:
      return "launch_out_of_memory";
    case ErrorCode::launch_too_many_resources:
      return "launch_too_many_resources";
    case ErrorCode::launch_io:
      return "launch_io";
    case ErrorCode::launch_unknown:
      return "launch_unknown";
    case ErrorCode::buffer_too_big:
      return "buffer_too_big";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::pool_capacity_exceeded:
      return "pool_capacity_exceeded";
    case ErrorCode::page_sizes_exhausted:
      return "page_sizes_exhausted";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::unsupported_strides:
      return "unsupported_strides";
    case ErrorCode::unsupported_operation:
      return "unsupported_operation";
    case ErrorCode::page_update_forbidden:
      return "page_update_forbidden";
    case ErrorCode::deferred_mapping_failed:
      return "deferred_mapping_failed";
    case ErrorCode::io_unknown:
      return "io_unknown";
    case ErrorCode::profile_unknown:
      return "profile_unknown";
    case ErrorCode::profile_not_registered:
      return "profile_not_registered";
    case ErrorCode::profile_launch:
      return "profile_launch";
    case ErrorCode::profile_server:
      return "profile_server";
    case ErrorCode::compilation:
      return "compilation";
    case ErrorCode::compilation_unsupported:
      return "compilation_unsupported";
    case ErrorCode::pools_in_use:
      return "pools_in_use";
    case ErrorCode::pools_unsupported:
      return "pools_unsupported";
    case ErrorCode::exception:
      return "exception";
    case ErrorCode::disconnected:
      return "disconnected";
    case ErrorCode::forked:
      return "forked";
    case ErrorCode::plugin_refused:
      return "plugin_refused";
    case ErrorCode::plugin_load_failed:
      return "plugin_load_failed";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::configuration_invalid:
      return "configuration_invalid";
  }
  return "unknown";
}

/// Why something failed: a code and an owned description that releases itself with the code of the module
/// that made it. Copying makes a description owned by the copying module, which is how errors outlive a
/// plugin. Not thread-safe; distinct objects are independent.
class [[nodiscard]] Error {
 public:
  /// The sentence says what is wrong with the value and the limit in it, and what to do.
  Error(ErrorCode code, std::string message,
        const std::source_location& where = std::source_location::current());

  /// Joins failures into one of code `several`, or returns the only one. Requires at least one.
  static Error several(std::vector<Error> causes,
                       const std::source_location& where = std::source_location::current());

  Error(const Error& other);
  Error(Error&&) noexcept = default;
  Error& operator=(const Error& other) { return *this = Error(other); }
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

  /// Adds the failure that led to this one. It is shown after the message and a colon, so the message ends
  /// without a full stop.
  Error& caused_by(Error cause) &;
  Error&& caused_by(Error cause) && { return std::move(caused_by(std::move(cause))); }

  /// Records by how much a limit was missed, in the unit the message names.
  Error& with_limit(std::uint64_t requested, std::uint64_t limit) &;
  Error&& with_limit(std::uint64_t requested, std::uint64_t limit) && {
    return std::move(with_limit(requested, limit));
  }

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return detail_->message; }
  [[nodiscard]] const std::vector<Error>& causes() const noexcept { return detail_->causes; }

  /// Both 0 where no limit is involved.
  [[nodiscard]] std::uint64_t requested() const noexcept { return detail_->requested; }
  [[nodiscard]] std::uint64_t limit() const noexcept { return detail_->limit; }

  /// Where the error was made: "file:line".
  [[nodiscard]] const std::string& location() const noexcept { return detail_->location; }

  /// Empty unless the host records stack traces (`BACKPLANE_BACKTRACE=1`).
  [[nodiscard]] const std::string& stack_trace() const noexcept { return detail_->stack_trace; }

  /// The message, its cause after a colon or its causes one to a line, and the stack trace if there is one.
  [[nodiscard]] std::string to_string() const;

  friend std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.to_string(); }

 private:
  template <class>
  friend class Result;

  struct Detail {
    void (*destroy)(Detail*) noexcept;
    std::uint64_t requested = 0;
    std::uint64_t limit = 0;
    std::string message{};
    std::string location{};
    std::string stack_trace{};
    std::vector<Error> causes{};
  };

  struct Destroy {
    void operator()(Detail* detail) const noexcept { detail->destroy(detail); }
  };

  Error() noexcept = default;  // "no error", for Result
  static std::unique_ptr<Detail, Destroy> make_detail();
  void append_to(std::string& text, std::size_t indent) const;

  std::unique_ptr<Detail, Destroy> detail_;
  ErrorCode code_ = ErrorCode::none;
};

namespace detail {
/// How this module takes a stack trace for a new error; null records none. The host sets its own, and the
/// plugin entry point sets the plugin's.
inline std::string (*take_stack_trace)() = nullptr;
}  // namespace detail

inline std::unique_ptr<Error::Detail, Error::Destroy> Error::make_detail() {
  return std::unique_ptr<Detail, Destroy>(
      new Detail{.destroy = [](Detail* detail) noexcept { delete detail; }});  // NOLINT(*-owning-memory)
}

inline Error::Error(ErrorCode code, std::string message, const std::source_location& where)
    : detail_(make_detail()), code_(code) {
  detail_->message = std::move(message);
  detail_->location = std::string(where.file_name()) + ':' + std::to_string(where.line());
  if (detail::take_stack_trace != nullptr) detail_->stack_trace = detail::take_stack_trace();
}

inline Error Error::several(std::vector<Error> causes, const std::source_location& where) {
  if (causes.size() == 1) return std::move(causes.front());
  Error error(ErrorCode::several,
              std::to_string(causes.size()) + " failures left the memory unwritten:", where);
  error.detail_->causes = std::move(causes);
  return error;
}

inline Error::Error(const Error& other) : code_(other.code_) {
  if (other.detail_ == nullptr) return;
  detail_ = make_detail();
  detail_->requested = other.detail_->requested;
  detail_->limit = other.detail_->limit;
  detail_->message = other.detail_->message;
  detail_->location = other.detail_->location;
  detail_->stack_trace = other.detail_->stack_trace;
  detail_->causes = other.detail_->causes;
}

inline Error& Error::caused_by(Error cause) & {
  detail_->causes.push_back(std::move(cause));
  return *this;
}

inline Error& Error::with_limit(std::uint64_t requested, std::uint64_t limit) & {
  detail_->requested = requested;
  detail_->limit = limit;
  return *this;
}

inline void Error::append_to(std::string& text, std::size_t indent) const {
  text.append(detail_->message);
  if (code_ != ErrorCode::several && detail_->causes.size() == 1) {
    text.append(": ");
    detail_->causes.front().append_to(text, indent);
    return;
  }
  for (const Error& cause : detail_->causes) {
    text.append("\n").append(indent + 2, ' ');
    cause.append_to(text, indent + 2);
  }
}

inline std::string Error::to_string() const {
  std::string text;
  append_to(text, 0);
  if (!detail_->stack_trace.empty()) text.append("\n").append(detail_->stack_trace);
  return text;
}

}  // namespace backplane
