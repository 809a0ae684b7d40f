#pragma once

#include <string_view>  // also defines the standard library's own macros, which are read below

// The parts of the toolchain family that two modules must share to exchange standard-library types. Macros,
// because the fingerprint is one literal put together by the preprocessor.

#if defined(_WIN32)
#define BACKPLANE_TOOLCHAIN_SYSTEM "windows"
#elif defined(__APPLE__)
#define BACKPLANE_TOOLCHAIN_SYSTEM "macos"
#else
#define BACKPLANE_TOOLCHAIN_SYSTEM "linux"
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define BACKPLANE_TOOLCHAIN_MACHINE "x86_64"
#elif defined(__aarch64__) || defined(_M_ARM64)
#define BACKPLANE_TOOLCHAIN_MACHINE "aarch64"
#else
#error "Backplane does not know this processor architecture"
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define BACKPLANE_TOOLCHAIN_ABI "msvc"
#else
#define BACKPLANE_TOOLCHAIN_ABI "itanium"
#endif

#if defined(_LIBCPP_VERSION)
#define BACKPLANE_TOOLCHAIN_LIBRARY "libc++"
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define BACKPLANE_TOOLCHAIN_LIBRARY "libstdc++-cxx11"
#elif defined(__GLIBCXX__)
#define BACKPLANE_TOOLCHAIN_LIBRARY "libstdc++-old"
#else
#define BACKPLANE_TOOLCHAIN_LIBRARY "msvc-stl"
#endif

#if defined(_GLIBCXX_DEBUG)
#define BACKPLANE_TOOLCHAIN_CONTAINERS " debug-containers"
#else
#define BACKPLANE_TOOLCHAIN_CONTAINERS ""
#endif

#if defined(__SANITIZE_ADDRESS__)
#define BACKPLANE_TOOLCHAIN_SANITIZER " address-sanitizer"
#elif defined(__SANITIZE_THREAD__)
#define BACKPLANE_TOOLCHAIN_SANITIZER " thread-sanitizer"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BACKPLANE_TOOLCHAIN_SANITIZER " address-sanitizer"
#elif __has_feature(thread_sanitizer)
#define BACKPLANE_TOOLCHAIN_SANITIZER " thread-sanitizer"
#endif
#endif
#ifndef BACKPLANE_TOOLCHAIN_SANITIZER
#define BACKPLANE_TOOLCHAIN_SANITIZER ""
#endif

namespace backplane {

/// The toolchain family of the module this is compiled into: "system-machine abi standard-library", then
/// " debug-containers" and the sanitizer, if any. Two modules may exchange contract types only if theirs
/// agree.
inline constexpr std::string_view kToolchain = BACKPLANE_TOOLCHAIN_SYSTEM
    "-" BACKPLANE_TOOLCHAIN_MACHINE " " BACKPLANE_TOOLCHAIN_ABI
    " " BACKPLANE_TOOLCHAIN_LIBRARY BACKPLANE_TOOLCHAIN_CONTAINERS BACKPLANE_TOOLCHAIN_SANITIZER;

}  // namespace backplane
