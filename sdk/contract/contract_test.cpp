#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/sdk.h>

#include "pure_server.h"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr StreamId kStream{7};

// Layout: what crosses between separately built modules. A change here is a change of the interface.

static_assert(sizeof(Result<void>) == 16);
static_assert(sizeof(Error) == 16);
static_assert(sizeof(ManagedMemory) == sizeof(void*));
static_assert(sizeof(BufferBinding) == 24 && offsetof(BufferBinding, offset) == 8);
static_assert(sizeof(StreamId) == 8 && sizeof(DeviceId) == 4 && sizeof(KernelId) == 16);
static_assert(sizeof(CapabilitySet) == 8);
static_assert(sizeof(Bytes) == 40);
static_assert(sizeof(WorkgroupCount) == 40 && offsetof(WorkgroupCount, indirect) == 16);
static_assert(sizeof(KernelRef) == 24 && offsetof(KernelRef, index) == 16);
static_assert(sizeof(KernelArguments) == 64);
static_assert(sizeof(CopyDescriptor) == 64);
static_assert(sizeof(KernelBinding) == 16);
static_assert(sizeof(DeviceLimits) == 80 && offsetof(DeviceLimits, allocation_bytes) == 56);
static_assert(sizeof(MemoryUsage) == 32);
static_assert(sizeof(PluginManifest) == 56 && offsetof(PluginManifest, size) == 0 &&
              offsetof(PluginManifest, magic) == 4);
static_assert(offsetof(PluginManifest, toolchain) == 16 && offsetof(PluginManifest, create) == 40);
static_assert(sizeof(HostKernelArguments) == 40 && sizeof(TranslationRequest) == 64 &&
              sizeof(TranslatorApi) == 64);
static_assert(std::is_trivially_copyable_v<BufferBinding> && std::is_trivially_copyable_v<KernelRef>);
static_assert(std::is_nothrow_move_constructible_v<Error> && std::is_nothrow_move_constructible_v<Bytes>);

/// The slot of a virtual method, as the Itanium ABI encodes it in a pointer to member.
template <class Method>
std::size_t slot_of(Method method) {
  std::size_t encoded = 0;
  static_assert(sizeof method >= sizeof encoded);
  std::memcpy(&encoded, &method, sizeof encoded);
  return (encoded - 1) / sizeof(void*);
}

TEST(Layout, MethodsOfIServerKeepTheirSlots) {
  // Two slots are the destructor's.
  EXPECT_EQ(slot_of(&IServer::initialize_memory), 2U);
  EXPECT_EQ(slot_of(&IServer::launch), 10U);
  EXPECT_EQ(slot_of(&IServer::allocation_mode), 17U);
  EXPECT_EQ(slot_of(&IServer::staging), 18U);
  EXPECT_EQ(slot_of(&IServer::abandon_profile), 29U);
  EXPECT_EQ(slot_of(&IServer::sync_collective), 34U);
}

TEST(Layout, RevisionIsTheFirstSlotOfIHost) {
  EXPECT_EQ(slot_of(&IHost::revision), 0U);
}

// Defaults: a server that overrides only what it must.

class Defaults : public ::testing::Test {
 protected:
  void expect_unsupported(const Error& error, const std::string& operation) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported_operation);
    EXPECT_THAT(error.message(), HasSubstr(operation));
  }

  PureServer server;
  ManagedMemory memory = ManagedMemory::create(16, "buffer", std::make_shared<DroppedAllocations>());
  BufferBinding binding{memory.get(), 0, 16};
};

TEST_F(Defaults, ProvidedOperationsAnswerUnsupportedByName) {
  expect_unsupported(server.staging(std::array<std::size_t, 1>{16}, kStream).error(), "staging");
  expect_unsupported(server.copy(binding, binding, kStream).error(), "copy");
  expect_unsupported(server.fill(binding, {}, kStream).error(), "fill");
  expect_unsupported(server.native_resource(binding, kStream).error(), "native_resource");
  expect_unsupported(server.begin_capture(kStream).error(), "begin_capture");
  expect_unsupported(server.end_capture(kStream).error(), "end_capture");
  expect_unsupported(server.replay(GraphId{1}, kStream).error(), "replay");
  expect_unsupported(server.comm_init({}).error(), "comm_init");
  expect_unsupported(server.all_reduce({binding, binding, {}, {}, {}}, kStream).error(), "all_reduce");
  expect_unsupported(server.send({binding, 0, {}}, kStream).error(), "send");
  expect_unsupported(server.recv({binding, 0, {}}, kStream).error(), "recv");
  expect_unsupported(server.sync_collective(kStream).error(), "sync_collective");
}

TEST_F(Defaults, PreparingAndDestroyingGraphsDoesNothing) {
  EXPECT_TRUE(server.graph_prepare(kStream));
  server.graph_destroy(GraphId{42}, kStream);
  EXPECT_EQ(server.calls, 0);
}

TEST_F(Defaults, TheCallingStreamIsTheOnlyOne) {
  EXPECT_THAT(server.stream_ids(kStream), ElementsAre(kStream));
}

TEST_F(Defaults, PoolsCannotBeInstalled) {
  EXPECT_EQ(server.install_memory_pools({}, kStream).error().code(), ErrorCode::pools_unsupported);
}

TEST_F(Defaults, AbandoningAProfileEndsIt) {
  server.abandon_profile(kStream, ProfilingToken{9});
  EXPECT_EQ(server.ended, ProfilingToken{9});
}

TEST(CompilerDefaults, SourceTextIsEmpty) {
  struct Compiler final : ICompiler {
    [[nodiscard]] std::span<const KernelForm> forms() const noexcept override { return {}; }
    std::string fingerprint() override { return {}; }
    Result<std::vector<std::byte>> lower(const KernelDefinition&) override {
      return std::vector<std::byte>();
    }
    Result<Artifact> finalize(const KernelDefinition&, std::span<const std::byte>) override {
      return Artifact();
    }
  } compiler;
  EXPECT_EQ(compiler.source_text({}, {}), "");
}

// Values.

TEST(ErrorValue, CopiesStandAlone) {
  auto original = std::make_unique<Error>(Error(ErrorCode::launch_too_many_resources, "2048 exceeds 1024")
                                              .with_limit(2048, 1024)
                                              .caused_by(Error(ErrorCode::generic, "why.")));
  const Error copy = *original;
  original.reset();
  EXPECT_EQ(copy.code(), ErrorCode::launch_too_many_resources);
  EXPECT_EQ(copy.requested(), 2048U);
  EXPECT_EQ(copy.limit(), 1024U);
  EXPECT_EQ(copy.to_string(), "2048 exceeds 1024: why.");
  EXPECT_THAT(copy.location(), HasSubstr("contract_test.cpp:"));
}

TEST(ErrorValue, SeveralListsEachAndOneIsItself) {
  std::vector<Error> causes;
  causes.emplace_back(ErrorCode::out_of_memory, "First.");
  EXPECT_EQ(Error::several(causes).code(), ErrorCode::out_of_memory);
  causes.emplace_back(ErrorCode::validation, "Second.");
  const Error both = Error::several(causes);
  EXPECT_EQ(both.code(), ErrorCode::several);
  EXPECT_THAT(both.to_string(), HasSubstr("\n  First.\n  Second."));
}

TEST(ErrorValue, CodesKnowTheirClassAndName) {
  EXPECT_EQ(error_class(ErrorCode::out_of_memory), ErrorClass::io);
  EXPECT_EQ(error_class(ErrorCode::forked), ErrorClass::call);
  EXPECT_EQ(to_string(ErrorCode::pools_in_use), "pools_in_use");
  EXPECT_EQ(to_string(static_cast<ErrorCode>(0xffff)), "unknown");
}

Result<int> half(int number) {
  if (number % 2 != 0) return Error(ErrorCode::validation, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  BACKPLANE_TRY(const int once, half(number));
  return half(once);
}

TEST(ResultValue, PassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().message(), "odd");
  EXPECT_EQ(quarter(6).value_or(-1), -1);
  EXPECT_EQ(*quarter(6).or_else(half(4)), 2);
}

TEST(ResultValue, ValueThrowsTheErrorWithItsText) {
  try {
    static_cast<void>(half(3).value());
    FAIL() << "nothing was thrown";
  } catch (const Exception& exception) {
    EXPECT_STREQ(exception.what(), "odd");
    EXPECT_EQ(exception.error().code(), ErrorCode::validation);
  }
  EXPECT_THROW(Result<void>(Error(ErrorCode::generic, "no")).value(), Exception);
}

TEST(BytesValue, ReleasesItselfOnceWithItsOwnFunction) {
  int released = 0;
  std::array<std::byte, 8> block{};
  {
    Bytes bytes(
        block.data(), block.size(), BytesKind::pinned,
        [](void* context, std::byte*, std::size_t size) noexcept {
          *static_cast<int*>(context) += static_cast<int>(size);
        },
        &released);
    const Bytes moved = std::move(bytes);
    EXPECT_EQ(moved.kind(), BytesKind::pinned);
    EXPECT_TRUE(bytes.empty());  // NOLINT(*-use-after-move): that is the point
  }
  EXPECT_EQ(released, 8);
}

TEST(BytesValue, CopiesAreAlignedAndEmptyOnesOwnNothing) {
  const std::array source{std::byte{1}, std::byte{2}};
  const Bytes copy = Bytes::copy(source);
  EXPECT_THAT(copy.span(), ElementsAre(std::byte{1}, std::byte{2}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.data()) % Bytes::kAlignment, 0U);
  EXPECT_TRUE(Bytes::copy({}).empty());
}

TEST(DeferredValue, ACompletedOneIsReadyAndTakenOnce) {
  auto deferred = Deferred<int>::completed(4);
  EXPECT_TRUE(deferred.valid());
  EXPECT_TRUE(deferred.ready());
  EXPECT_EQ(deferred.wait(), 4);
  EXPECT_FALSE(deferred.valid());
}

/// Complete once its flag is set; never blocks.
struct FlagState final : IDeferredState<int> {
  explicit FlagState(const bool& flag) : set(flag) {}
  bool wait_until(TimePoint /*deadline*/) override { return set; }
  int take() override { return 5; }
  const bool& set;
};

TEST(DeferredValue, ATimeoutLeavesItValid) {
  bool flag = false;
  Deferred<int> deferred(std::make_unique<FlagState>(flag));
  EXPECT_FALSE(deferred.wait_for(std::chrono::nanoseconds(1)));
  EXPECT_FALSE(deferred.wait_for(std::chrono::hours::max()));
  flag = true;
  EXPECT_TRUE(deferred.ready());
  EXPECT_EQ(deferred.wait(), 5);
}

TEST(DeferredValue, AStateThatCannotNotifyIsWaitedFor) {
  const bool flag = true;
  int seen = 0;
  Deferred<int>(std::make_unique<FlagState>(flag)).on_ready([&seen](int value) { seen = value; });
  EXPECT_EQ(seen, 5);
}

TEST(ManagedMemoryValue, TheLastReferenceFallsIntoTheList) {
  const auto dropped = std::make_shared<DroppedAllocations>();
  ManagedMemory first = ManagedMemory::create(8, "label", dropped);
  Allocation* const allocation = first.get();
  ManagedMemory second = first;
  first = {};
  EXPECT_TRUE(dropped->empty());
  second = {};
  Allocation* const taken = dropped->take_all();
  EXPECT_EQ(taken, allocation);
  EXPECT_EQ(DroppedAllocations::next(taken), nullptr);
  DroppedAllocations::destroy(taken);
}

TEST(ManagedMemoryValue, AnAllocationOutlivesItsServersList) {
  auto dropped = std::make_shared<DroppedAllocations>();
  ManagedMemory memory = ManagedMemory::create(8, "", dropped);
  EXPECT_TRUE(memory->belongs_to(*dropped));
  dropped.reset();
  memory = {};  // the list goes with its last allocation, and the sanitizers watch
}

TEST(CapabilitySetValue, HoldsAndSubtracts) {
  const CapabilitySet needed{Capability::int64, Capability::float64};
  const CapabilitySet offered{Capability::int64};
  EXPECT_TRUE(needed.has(Capability::float64));
  EXPECT_EQ(needed.without(offered), CapabilitySet{Capability::float64});
  EXPECT_TRUE(offered.without(needed).empty());
}

TEST(CapabilitySetValue, NamesItsMembersAndToleratesUnknownOnes) {
  EXPECT_THAT((CapabilitySet{Capability::int64, Capability::copy}.names()), ElementsAre("copy", "int64"));
  EXPECT_THAT(CapabilitySet{static_cast<Capability>(63)}.names(), ElementsAre("unknown"));
}

TEST(Toolchain, NamesSystemMachineAbiAndLibrary) {
  EXPECT_THAT(std::string(kToolchain), ::testing::MatchesRegex("[a-z]+-[a-z0-9_]+ [a-z]+ [a-z+0-9-]+( .*)?"));
}

}  // namespace
}  // namespace backplane
