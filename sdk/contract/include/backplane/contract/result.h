#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <backplane/contract/error.h>

namespace backplane {

/// What `Result::value()` throws, for applications that prefer exceptions. Never crosses a plugin boundary.
class Exception : public std::exception {
 public:
  explicit Exception(Error error) : error_(std::move(error)), text_(error_.to_string()) {}

  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
  std::string text_;
};

/// Either a value or the `Error` that kept it from being made. Must be looked at.
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T>, "a Result holds a value; use a pointer to refer to one");

 public:
  using value_type = T;

  template <class U = T>
    requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, Result> &&
             !std::same_as<std::remove_cvref_t<U>, Error>)
  Result(U&& value)
      : value_(std::in_place, std::forward<U>(value)) {}      // NOLINT(*-explicit-*): "return value;"
  Result(Error error) noexcept : error_(std::move(error)) {}  // NOLINT(*-explicit-*): "return error;"

  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. Throws `Exception` if there is none.
  T& value() & { return require(), *value_; }
  const T& value() const& { return require(), *value_; }
  T&& value() && { return require(), *std::move(value_); }

  /// The value, or `alternative` if there is none.
  template <class U>
  T value_or(U&& alternative) && {
    return std::move(value_).value_or(std::forward<U>(alternative));
  }

  /// This result if it has a value, else `alternative`.
  Result or_else(Result alternative) && { return has_value() ? std::move(*this) : std::move(alternative); }

  /// The value, which must be there.
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

  /// The error, which must be there.
  [[nodiscard]] const Error& error() const& noexcept { return error_; }
  [[nodiscard]] Error&& error() && noexcept { return std::move(error_); }

 private:
  void require() const {
    if (!has_value()) throw Exception(error_);
  }

  std::optional<T> value_;
  Error error_;  // "none" where there is a value
};

/// Success, or the `Error` that prevented it. Must be looked at. The size of an `Error`.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() noexcept = default;
  Result(Error error) noexcept : error_(std::move(error)) {}  // NOLINT(*-explicit-*): "return error;"

  [[nodiscard]] bool has_value() const noexcept { return error_.code() == ErrorCode::none; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Throws `Exception` on failure.
  void value() const {
    if (!has_value()) throw Exception(error_);
  }

  /// The error, which must be there.
  [[nodiscard]] const Error& error() const& noexcept { return error_; }
  [[nodiscard]] Error&& error() && noexcept { return std::move(error_); }

 private:
  Error error_;
};

static_assert(sizeof(Result<void>) == 16, "a status is two words: a pointer and a code");

}  // namespace backplane

#define BACKPLANE_DETAIL_JOIN_EXPANDED(a, b) a##b
#define BACKPLANE_DETAIL_JOIN(a, b) BACKPLANE_DETAIL_JOIN_EXPANDED(a, b)

#define BACKPLANE_DETAIL_TRY(temporary, declaration, ...) \
  auto temporary = (__VA_ARGS__);                         \
  if (!temporary) return std::move(temporary).error();    \
  declaration = *std::move(temporary)

/// `BACKPLANE_TRY(auto value, expression);` declares the value of a Result, or returns its error.
#define BACKPLANE_TRY(declaration, ...) \
  BACKPLANE_DETAIL_TRY(BACKPLANE_DETAIL_JOIN(backplane_try_, __LINE__), declaration, __VA_ARGS__)

/// `BACKPLANE_CHECK(expression);` returns the error of a `Result<void>`, if there is one.
#define BACKPLANE_CHECK(...)                                                                               \
  do {                                                                                                     \
    if (auto backplane_check = (__VA_ARGS__); !backplane_check) return std::move(backplane_check).error(); \
  } while (false)
