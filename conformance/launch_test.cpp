#include <array>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "harness/test.h"

namespace backplane::conformance {
namespace {

class Launch : public Test {
 protected:
  /// Launches saxpy on `count` elements and compares with the host.
  void expect_saxpy(std::uint32_t count) {
    const float a = random_floats(1)[0];
    const std::vector<float> x = random_floats(count);
    const std::vector<float> y = random_floats(count);
    const GuardedBuffer result(client, count * sizeof(float), "y");
    client.write(result.as<float>(), y);
    client.launch(saxpy, workgroups_for(count, 64), {client.create(x, "x"), result.as<float>()},
                  scalars(a, count));
    const auto actual = client.read(result.as<float>());
    ASSERT_TRUE(actual) << actual.error();
    std::vector<double> exact(count);
    for (std::size_t i = 0; i < count; ++i) exact[i] = static_cast<double>(a) * x[i] + y[i];
    expect_close(*actual, exact, {1e-7, 3e-7});
    result.expect_guards_intact();
  }

  const Kernel saxpy = installed_kernel("saxpy");
  const Kernel copy_words = installed_kernel("copy_words");
  const Kernel increment = installed_kernel("increment");
};

TEST_F(Launch, SaxpyIsRightAtEverySize) {
  for (const std::uint32_t count : {1U, 63U, 64U, 65U, 1000U, 262'144U, 1'000'003U}) expect_saxpy(count);
}

TEST_F(Launch, EveryInvocationKnowsWhereItIs) {
  constexpr std::array<std::uint32_t, 3> kGroups{3, 5, 2};
  constexpr std::array<std::uint32_t, 3> kSize{4, 3, 2};
  const Kernel identify = installed_kernel("identify");
  constexpr std::size_t kInvocations = 3 * 5 * 2 * 4 * 3 * 2;
  const GuardedBuffer ids(client, kInvocations * 16, "ids");
  client.launch(identify, {kGroups[0], kGroups[1], kGroups[2]}, {ids.as<std::uint32_t>()});
  const auto actual = client.read(ids.as<std::uint32_t>());
  ASSERT_TRUE(actual) << actual.error();
  std::vector<std::uint32_t> expected;
  for (std::uint32_t z = 0; z < kGroups[2] * kSize[2]; ++z) {
    for (std::uint32_t y = 0; y < kGroups[1] * kSize[1]; ++y) {
      for (std::uint32_t x = 0; x < kGroups[0] * kSize[0]; ++x) {
        expected.push_back(x / kSize[0] | y / kSize[1] << 8U | z / kSize[2] << 16U);
        expected.push_back(x % kSize[0] | y % kSize[1] << 8U | z % kSize[2] << 16U);
        expected.push_back((z % kSize[2] * kSize[1] + y % kSize[1]) * kSize[0] + x % kSize[0]);
        expected.push_back(kGroups[0] | kGroups[1] << 8U | kGroups[2] << 16U);
      }
    }
  }
  EXPECT_EQ(*actual, expected);
  ids.expect_guards_intact();
}

TEST_F(Launch, LaunchesOfOneStreamRunInOrder) {
  std::vector<std::uint32_t> values = random_words(1000);
  const Buffer<std::uint32_t> buffer = client.create(values);
  for (int i = 0; i < 100; ++i) client.launch(increment, workgroups_for(1000, 64), {buffer}, scalars(1000U));
  for (std::uint32_t& value : values) value += 100;
  EXPECT_EQ(client.read(buffer).value(), values);
}

TEST_F(Launch, ASliceIsAsGoodAsABuffer) {
  const std::vector<std::uint32_t> source = random_words(1024);
  const GuardedBuffer destination(client, 256 * 4, "destination");
  client.launch(copy_words, workgroups_for(256, 64),
                {client.create(source).slice(512, 256), destination.as<std::uint32_t>()}, scalars(256U));
  EXPECT_THAT(client.read(destination.as<std::uint32_t>()).value(),
              ::testing::ElementsAreArray(std::span(source).subspan(512, 256)));
  destination.expect_guards_intact();
}

TEST_F(Launch, SpecializationConstantsReachTheCode) {
  const Kernel block_sum = installed_kernel("block_sum");
  const std::vector<float> values = random_floats(1000);
  for (const std::uint32_t block : {8U, 1U, 100U}) {
    const std::uint32_t blocks = workgroups_for(1000, block);
    const GuardedBuffer sums(client, blocks * sizeof(float), "sums");
    const Kernel specialized = block == 8 ? block_sum : block_sum.specialize({{0, block}}).value();
    client.launch(specialized, blocks, {client.create(values), sums.as<float>()}, scalars(1000U));
    std::vector<double> exact(blocks);
    for (std::size_t i = 0; i < values.size(); ++i) exact[i / block] += values[i];
    const auto actual = client.read(sums.as<float>());
    ASSERT_TRUE(actual) << actual.error();
    expect_close(*actual, exact, {1e-6, 1e-5});
    sums.expect_guards_intact();
  }
}

TEST_F(Launch, AtomicsOfAllInvocationsCount) {
  const Kernel count_matches = installed_kernel("count_matches");
  const std::vector<std::uint32_t> values = random_words(100'000);
  const Buffer<std::uint32_t> bins = client.create(std::vector<std::uint32_t>(16, 0));
  client.launch(count_matches, workgroups_for(values.size(), 64), {client.create(values), bins},
                scalars(static_cast<std::uint32_t>(values.size())));
  std::vector<std::uint32_t> expected(16, 0);
  for (const std::uint32_t value : values) ++expected[value & 15U];
  EXPECT_EQ(client.read(bins).value(), expected);
}

TEST_F(Launch, ACheckedKernelStaysInsideItsBuffer) {
  const Kernel out_of_bounds = installed_kernel("out_of_bounds");
  for (const std::uint32_t index : {10U, 11U, 1000U, 0x3fff'ffffU, 0xffff'ffffU}) {
    const GuardedBuffer values(client, 10 * 4, "values");
    client.launch(out_of_bounds, 1, {values.as<std::uint32_t>()}, scalars(index, 7U));
    ASSERT_TRUE(client.sync({values.as<std::uint32_t>()}));
    values.expect_guards_intact();
  }
}

TEST_F(Launch, ACheckedKernelStaysInsideABufferSmallerThanAnElementWithItsPadding) {
  const Kernel vectors = Kernel::from_glsl("vectors", R"(
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer A { vec3 a[]; };
void main() { a[gl_GlobalInvocationID.x] = vec3(1); })")
                             .value();
  for (const std::size_t bytes : {12U, 15U, 16U, 31U}) {
    const GuardedBuffer values(client, bytes, "values");
    client.launch(vectors, 1, {values.as<std::byte>()});
    EXPECT_EQ(client.check({values.as<std::byte>()}).has_value(), bytes >= 16) << bytes;
    client.write(values.as<std::byte>(), std::vector<std::byte>(bytes));
    values.expect_guards_intact();
  }
}

TEST_F(Launch, NoWorkgroupsDoNothing) {
  const std::vector<std::uint32_t> values = random_words(100);
  const Buffer<std::uint32_t> buffer = client.create(values);
  client.launch(increment, 0, {buffer}, scalars(100U));
  client.launch(increment, {5, 0, 1}, {buffer}, scalars(100U));
  client.launch(increment, 0, {client.empty<std::uint32_t>(0)}, scalars(0U));
  EXPECT_EQ(client.read(buffer).value(), values);
}

TEST_F(Launch, KernelsOfOneLabelAndDifferentCodeAreDifferentKernels) {
  constexpr const char* kStore = R"(
layout(local_size_x = 1) in;
layout(binding = 0) buffer Value { uint value; };
void main() { value = %; })";
  for (const char digit : {'1', '2', '3'}) {
    std::string text = kStore;
    text[text.find('%')] = digit;
    const Buffer<std::uint32_t> value = client.empty<std::uint32_t>(1);
    client.launch(Kernel::from_glsl("store", text).value(), 1, {value});
    EXPECT_EQ(client.read(value).value().front(), static_cast<std::uint32_t>(digit - '0'));
  }
}

TEST_F(Launch, TheCountMayLieInABuffer) {
  const std::vector<std::uint32_t> values(200, 0);
  const Buffer<std::uint32_t> buffer = client.create(values);
  const Buffer<std::uint32_t> count = client.create(std::vector<std::uint32_t>{2, 1, 1}, "count");
  client.launch(increment, Workgroups::from_buffer(count), {buffer}, scalars(200U));
  const auto actual = client.read(buffer);
  if (!client.properties().capabilities.has(Capability::indirect)) {
    EXPECT_EQ(actual.error().code(), ErrorCode::unsupported_operation);
    return;
  }
  ASSERT_TRUE(actual) << actual.error();
  EXPECT_EQ(std::accumulate(actual->begin(), actual->end(), 0U), 128U);

  const std::uint32_t limit = client.properties().limits.workgroup_count[0];
  if (limit == ~std::uint32_t{0}) return;
  client.launch(increment,
                Workgroups::from_buffer(client.create(std::vector<std::uint32_t>{limit + 1, 1, 1})), {buffer},
                scalars(200U));
  EXPECT_EQ(client.read(buffer).error().code(), ErrorCode::launch_too_many_resources);
}

TEST_F(Launch, ManyThreadsLaunchAtOnceAndEachSeesItsOwnOrder) {
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([this, thread] {
      const Buffer<std::uint32_t> buffer = client.create(std::vector<std::uint32_t>(100, thread));
      for (int i = 0; i < 50; ++i) client.launch(increment, 2, {buffer}, scalars(100U));
      const auto actual = client.read(buffer);
      ASSERT_TRUE(actual) << actual.error();
      EXPECT_THAT(*actual, ::testing::Each(thread + 50));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Launch, WorkOnAnotherStreamSeesWhatItsInputsWereGiven) {
  const std::vector<std::uint32_t> values = random_words(1000);
  const Buffer<std::uint32_t> source = client.create(values);
  const Stream other("other");
  const Buffer<std::uint32_t> destination = client.empty<std::uint32_t>(1000);
  {
    const Stream::Scope on = other.use();
    client.launch(copy_words, workgroups_for(1000, 64), {source, destination}, scalars(1000U));
  }
  EXPECT_EQ(client.read(destination).value(), values);
}

TEST_F(Launch, ClientsOfOneDeviceShareItsMemory) {
  const std::vector<std::uint32_t> values = random_words(10);
  const Buffer<std::uint32_t> buffer = client.create(values);
  const Result<Client> again = open_again();
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->read(buffer).value(), values);
}

void sum_two(const CpuWorkgroup& workgroup) {
  const auto* source = reinterpret_cast<const std::uint32_t*>(workgroup.buffers[0].data());
  auto* destination = reinterpret_cast<std::uint32_t*>(workgroup.buffers[1].data());
  std::uint32_t add = 0;
  std::memcpy(&add, workgroup.scalars.data(), sizeof add);
  destination[workgroup.id[0]] = source[workgroup.id[0]] + add + workgroup.count[0];
}

TEST_F(Launch, ANativeFunctionRunsOnceAWorkgroupOrIsRefused) {
  const std::vector<std::uint32_t> values = random_words(100);
  const GuardedBuffer destination(client, 400, "destination");
  const Kernel native =
      Kernel::from_function("sum_two", sum_two, {.buffers = {Access::read, Access::write}, .scalar_bytes = 4})
          .value();
  client.launch(native, 100, {client.create(values), destination.as<std::uint32_t>()}, scalars(5U));
  const auto actual = client.read(destination.as<std::uint32_t>());
  if (client.properties().kind != DeviceKind::cpu) {
    EXPECT_EQ(actual.error().code(), ErrorCode::launch_compilation);
    return;
  }
  ASSERT_TRUE(actual) << actual.error();
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ((*actual)[i], values[i] + 105);
  destination.expect_guards_intact();
}

}  // namespace
}  // namespace backplane::conformance
