#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <backplane/client.h>

#include "client/device_context.h"
#include "pure_server.h"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a test watches of its server, which lives on another thread.
struct Observed {
  std::vector<std::string> claims;  ///< Texts, in order. Looked at after a `sync`.
  std::vector<StreamId> streams;    ///< Of the launches.
  std::atomic<int> destroyed = 0;
  std::thread::id destroyed_on;
  std::thread::id created_on;
  bool throws = false;
  std::latch* hold_launch = nullptr;
};

class WatchedServer final : public PureServer {
 public:
  explicit WatchedServer(Observed& observed) : observed_(observed) {}
  WatchedServer(const WatchedServer&) = delete;
  WatchedServer& operator=(const WatchedServer&) = delete;
  ~WatchedServer() override {
    observed_.destroyed_on = std::this_thread::get_id();
    ++observed_.destroyed;
  }

  void claim(std::span<const BufferBinding> buffers, const Error& error, StreamId /*stream*/) override {
    for (const BufferBinding& buffer : buffers)
      observed_.claims.push_back(buffer.allocation->label() + ": " + error.message());
  }
  void launch(const KernelRef& /*kernel*/, const WorkgroupCount& /*count*/,
              const KernelArguments& /*arguments*/, StreamId stream, LaunchMode /*mode*/) override {
    observed_.streams.push_back(stream);
    if (observed_.hold_launch != nullptr) observed_.hold_launch->wait();
    if (observed_.throws) throw std::runtime_error("the driver fell over");
  }
  void write(std::span<WriteDescriptor> /*writes*/, StreamId /*stream*/) override {
    if (observed_.throws) throw 42;  // NOLINT(*-exception-baseclass*): a plugin may throw anything
  }
  Result<void> flush(StreamId /*stream*/) override {
    if (observed_.throws) throw std::runtime_error("flush fell over");
    return {};
  }

 private:
  Observed& observed_;
};

class PassCompiler final : public ICompiler {
 public:
  [[nodiscard]] std::span<const KernelForm> forms() const noexcept override { return forms_; }
  std::string fingerprint() override { return {}; }
  Result<std::vector<std::byte>> lower(const KernelDefinition& /*kernel*/) override {
    return std::vector<std::byte>();
  }
  Result<Artifact> finalize(const KernelDefinition& /*kernel*/,
                            std::span<const std::byte> /*lowered*/) override {
    return Artifact();
  }

 private:
  std::array<KernelForm, 1> forms_{KernelForm::cpu_function};
};

class ClientTest : public ::testing::Test {
 protected:
  Client open(std::shared_ptr<const void> library = nullptr, StreamPolicy policy = StreamPolicy::per_thread) {
    return Client(DeviceContext::open({.name = "test:0",
                                       .compiler = &compiler,
                                       .open_server = [this]() -> Result<std::unique_ptr<IServer>> {
                                         observed.created_on = std::this_thread::get_id();
                                         return std::make_unique<WatchedServer>(observed);
                                       },
                                       .library = std::move(library),
                                       .stream_policy = policy})
                      .value());
  }

  static Kernel kernel() {
    return Kernel::from_function("twice", [](const CpuWorkgroup&) {},
                                 {.buffers = {Access::read, Access::write}})
        .value();
  }

  Observed observed;
  PassCompiler compiler;
};

TEST_F(ClientTest, TheServerLivesAndDiesOnTheDevicesThread) {
  {
    const Client client = open();
  }
  EXPECT_EQ(observed.destroyed, 1);
  EXPECT_EQ(observed.created_on, observed.destroyed_on);
  EXPECT_NE(observed.created_on, std::this_thread::get_id());
}

TEST_F(ClientTest, AServerThatCannotBeOpenedIsAnError) {
  const auto opened = DeviceContext::open(
      {.name = "test:0",
       .compiler = &compiler,
       .open_server = []() -> Result<std::unique_ptr<IServer>> { throw std::runtime_error("no power"); },
       .library = nullptr});
  EXPECT_EQ(opened.error().code(), ErrorCode::exception);
  EXPECT_THAT(opened.error().to_string(), HasSubstr("no power"));
}

TEST_F(ClientTest, AnExceptionInALaunchClaimsWhatItWasToWrite) {
  const Client client = open();
  observed.throws = true;
  const BufferHandle input = client.allocate(4, "input");
  const BufferHandle output = client.allocate(4, "output");
  client.launch(kernel(), 1, {input, output});
  ASSERT_TRUE(client.sync());
  EXPECT_THAT(observed.claims, ElementsAre("output: the driver fell over"));
}

TEST_F(ClientTest, SomethingThrownThatIsNoExceptionClaimsToo) {
  const Client client = open();
  observed.throws = true;
  client.write_bytes(client.allocate(4, "buffer"), std::array<std::byte, 4>{});
  ASSERT_TRUE(client.sync());
  ASSERT_EQ(observed.claims.size(), 1U);
  EXPECT_THAT(observed.claims[0], HasSubstr("buffer: "));
}

TEST_F(ClientTest, AnExceptionInABlockingCallIsItsError) {
  const Client client = open();
  observed.throws = true;
  EXPECT_THAT(client.flush().error().message(), HasSubstr("flush fell over"));
}

TEST_F(ClientTest, WorkGoesToTheStreamOfItsScope) {
  const Client client = open();
  const BufferHandle buffer = client.allocate(4);
  const StreamId own = Stream::current();
  const Stream upload("upload");
  client.launch(kernel(), 1, {buffer, buffer});
  {
    const Stream::Scope on = upload.use();
    EXPECT_EQ(Stream::current(), upload.id());
    client.launch(kernel(), 1, {buffer, buffer});
  }
  client.launch(kernel(), 1, {buffer, buffer});
  StreamId of_thread;
  std::thread([&] {
    of_thread = Stream::current();
    client.launch(kernel(), 1, {buffer, buffer});
  }).join();
  ASSERT_TRUE(client.sync());
  EXPECT_NE(of_thread, own);
  EXPECT_THAT(observed.streams, ElementsAre(own, upload.id(), own, of_thread));
}

TEST_F(ClientTest, ThePolicyDecidesWhatGetsAStreamOfItsOwn) {
  const Stream other;
  for (const auto& [policy, expected] :
       {std::pair{StreamPolicy::per_task, other.id()}, std::pair{StreamPolicy::single, StreamId{0}}}) {
    observed.streams.clear();
    const Client client = open(nullptr, policy);
    const BufferHandle buffer = client.allocate(4);
    client.launch(kernel(), 1, {buffer, buffer});
    {
      const Stream::Scope on = other.use();
      client.launch(kernel(), 1, {buffer, buffer});
    }
    ASSERT_TRUE(client.sync());
    EXPECT_THAT(observed.streams, ElementsAre(StreamId{0}, expected));
  }
}

TEST_F(ClientTest, ABufferOfAnotherDeviceIsRefused) {
  const Client client = open();
  const Client other = open();
  const BufferHandle foreign = other.allocate(4, "foreign");
  const BufferHandle own = client.allocate(4, "own");
  EXPECT_EQ(client.read_bytes(foreign).error().code(), ErrorCode::validation);
  EXPECT_EQ(client.read_async(foreign).wait().error().code(), ErrorCode::validation);
  EXPECT_EQ(client.check({foreign}).error().code(), ErrorCode::validation);
  client.launch(kernel(), 1, {foreign, own});
  ASSERT_TRUE(client.sync());
  EXPECT_THAT(observed.claims, ElementsAre(HasSubstr("own: Buffer \"foreign\" belongs to another device")));
}

TEST_F(ClientTest, BuffersMayOutliveTheirDevice) {
  auto client = std::make_unique<Client>(open());
  const BufferHandle buffer = client->allocate(64, "survivor");
  client.reset();
  EXPECT_EQ(observed.destroyed, 1);
  EXPECT_EQ(buffer.label(), "survivor");
}

TEST_F(ClientTest, ThePluginStaysLoadedUntilItsLastBufferIsGone) {
  auto library = std::make_shared<const int>(0);
  auto client = std::make_unique<Client>(open(library));
  auto buffer = std::make_unique<BufferHandle>(client->allocate(64));
  const std::weak_ptr<const int> loaded = library;
  library.reset();
  client.reset();
  EXPECT_FALSE(loaded.expired());
  buffer.reset();
  EXPECT_TRUE(loaded.expired());
}

TEST_F(ClientTest, AnAsynchronousReadKeepsTheDeviceOpen) {
  auto client = std::make_unique<Client>(open());
  Deferred<Result<Bytes>> later = client->read_async(client->allocate(64));
  client.reset();
  EXPECT_EQ(later.wait().value().size(), 64U);
  EXPECT_EQ(observed.destroyed, 1);
}

TEST_F(ClientTest, ManyCallbacksEachRunOnce) {
  const Client client = open();
  const BufferHandle buffer = client.allocate(8);
  constexpr int kReads = 50;
  std::atomic<int> ran = 0;
  std::latch all(kReads);
  for (int i = 0; i < kReads; ++i) {
    client.read_async(buffer).on_ready([&](Result<Bytes> bytes) {
      if (bytes) ++ran;
      all.count_down();
    });
  }
  all.wait();
  EXPECT_EQ(ran, kReads);
}

TEST_F(ClientTest, ATimeoutLeavesAReadWaitable) {
  std::latch hold(1);
  observed.hold_launch = &hold;
  const Client client = open();
  const BufferHandle buffer = client.allocate(8);
  client.launch(kernel(), 1, {buffer, buffer});
  Deferred<Result<Bytes>> later = client.read_async(buffer);
  EXPECT_FALSE(later.ready());
  EXPECT_FALSE(later.wait_for(std::chrono::milliseconds(1)));
  hold.count_down();
  EXPECT_EQ(later.wait().value().size(), 8U);
}

TEST_F(ClientTest, AChildOfForkIsAnsweredAndTheParentGoesOn) {
  const Client client = open();
  const BufferHandle buffer = client.allocate(8);
  ASSERT_TRUE(client.sync());
  const pid_t child = fork();
  if (child == 0) {
    const bool answered = client.flush().error().code() == ErrorCode::forked &&
                          client.read_bytes(buffer).error().code() == ErrorCode::forked &&
                          client.read_async(buffer).wait().error().code() == ErrorCode::forked;
    _exit(answered ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(client.read_bytes(buffer));
}

TEST(Scalars, ArePackedEachAtItsAlignment) {
  const Scalars block = scalars(1.0F, 2.0, std::uint8_t{3}, std::uint16_t{4});
  EXPECT_EQ(block.bytes().size(), 20U);
  double second = 0;
  std::memcpy(&second, block.bytes().data() + 8, sizeof second);
  EXPECT_EQ(second, 2.0);
  EXPECT_TRUE(scalars().bytes().empty());
}

TEST(BufferSlice, EndsWhereItsBufferEnds) {
  const Buffer<float> buffer(
      BufferHandle(ManagedMemory::create(40, "", std::make_shared<DroppedAllocations>()), 0, 40));
  EXPECT_EQ(buffer.slice(2, 3).size(), 3U);
  EXPECT_EQ(buffer.slice(2, 3).binding().offset, 8U);
  EXPECT_EQ(buffer.slice(8, 100).size(), 2U);
  EXPECT_EQ(buffer.slice(100, 1).size(), 0U);
  EXPECT_EQ(buffer.slice(~std::size_t{0}, ~std::size_t{0}).size(), 0U);
}

}  // namespace
}  // namespace backplane
