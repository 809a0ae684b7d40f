#pragma once

#include <cstddef>
#include <cstdint>

// The translator turns compute SPIR-V into machine code through LLVM. It lives in a shared object of its own,
// opened at the first compile and reached through plain C types alone, so that no plugin links LLVM.
// `IHost::translator()` hands out the table below. Every entry may be called by any thread, several at once.

namespace backplane {

/// What code is made for.
// NOLINTNEXTLINE(performance-enum-size): its size is part of the C table.
enum class TranslationTarget : std::uint32_t {
  host = 0,    ///< This machine: a relocatable object, to be linked by `TranslatorApi::link`.
  nvptx = 1,   ///< PTX text.
  amdgpu = 2,  ///< An AMD code object.
};

/// One kernel to translate. Pointers are borrowed for the call; strings end with 0 and may be null where
/// said.
struct TranslationRequest {
  std::uint32_t size;            ///< sizeof(TranslationRequest) of the caller.
  TranslationTarget target;      ///< What code is made for.
  const std::uint32_t* words;    ///< A validated, specialised SPIR-V module.
  std::size_t word_count;        ///< Length of `words`, in words.
  const char* entry_point;       ///< Name of the GLCompute entry point to translate.
  const char* label;             ///< The kernel's name in messages; null for none.
  const char* processor;         ///< LLVM's processor name, such as "sm_90"; null or "" for this machine's.
  const char* features;          ///< LLVM's feature string; null or "" for the processor's own.
  std::uint32_t subgroup_width;  ///< Invocations a subgroup has; at least 1.
  std::uint32_t optimization;    ///< 0 (none) to 3.
};

/// What an entry of the translator answers. Made by the translator, given back to `TranslatorApi::release`.
struct TranslationOutput {
  const std::byte* data;   ///< The product; null on failure.
  std::size_t byte_count;  ///< Length of `data`, in bytes.
  const char* error;       ///< Null on success; else a sentence that names the instruction.
  std::uint32_t
      unsupported;  ///< 1 where the module is valid and uses something the translator does not support.
  void* owner;      ///< The translator's own.
};

/// A block of device memory as translated host code sees it.
struct HostBuffer {
  void* data;  ///< Aligned to at least 16 bytes; generated code relies on it.
  std::uint64_t
      byte_count;  ///< What the kernel sees as the buffer's length; accesses are not checked against it.
};

/// What translated host code is called with. One value serves any number of concurrent calls, except that
/// `workgroup_memory` is private to each call. It and what it points to, `scalars` included, stay unchanged
/// while a call runs. Buffers may overlap: the kernel finds out, once a call, and then runs code that allows
/// for it.
struct HostKernelArguments {
  const HostBuffer* buffers;  ///< Indexed by binding number; as many as the kernel's highest binding plus 1.
  const std::byte* scalars;  ///< The push-constant block, whole, aligned to 16; not read where there is none.
  std::byte* workgroup_memory;  ///< At least the bytes of `HostKernelInfo`, aligned to 64.
  /// Workgroups of the whole launch, in each dimension. Times the workgroup size it stays below 2^31:
  /// generated code computes ids without regard to overflow.
  std::uint32_t count[3];
};

/// Runs the workgroups with linear index `begin <= index < end`, x fastest, one after the other.
using HostKernel = void (*)(const HostKernelArguments* arguments, std::uint64_t begin, std::uint64_t end);

/// Needs of a linked host kernel.
struct HostKernelInfo {
  HostKernel function;
  std::uint64_t workgroup_memory_bytes;  ///< Shared variables and the context that barriers need.
};

/// The translator's table. It only ever grows at the end; `size` says how far it reaches.
struct TranslatorApi {
  std::uint32_t size;

  /// Version of the translator and of LLVM, and this machine's processor and features: everything that the
  /// code it makes depends on beside the request. Valid for the life of the process.
  const char* (*fingerprint)() noexcept;

  /// SPIR-V to LLVM bitcode, not yet optimised. The same request always gives the same bytes.
  TranslationOutput (*lower)(const TranslationRequest* request) noexcept;

  /// The bitcode of `lower` to code for the request's target. Reads no other member of the request than
  /// `target`, `processor`, `features`, `optimization` and `label`.
  TranslationOutput (*generate)(const TranslationRequest* request, const std::byte* lowered,
                                std::size_t byte_count) noexcept;

  /// The text of bitcode (LLVM IR) or of generated code (assembly, PTX), for people.
  TranslationOutput (*disassemble)(const TranslationRequest* request, const std::byte* code,
                                   std::size_t byte_count) noexcept;

  void (*release)(TranslationOutput* output) noexcept;

  /// Links an object of target `host` into this process and fills `info`. Returns a handle for `unlink`; on
  /// failure null, with the reason in `failure`, which is to be released.
  void* (*link)(const std::byte* object, std::size_t byte_count, HostKernelInfo* info,
                TranslationOutput* failure) noexcept;

  /// Releases what `link` made; no call into it may be running.
  void (*unlink)(void* handle) noexcept;
};

/// The one symbol the translator's shared object exports.
inline constexpr const char* kTranslatorEntryPoint = "backplane_translator_v1";
using TranslatorEntryPoint = const TranslatorApi* (*)() noexcept;

}  // namespace backplane
