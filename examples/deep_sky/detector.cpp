#include "detector.h"

#include <limits>
#include <utility>
#include <vector>

#include "kernels.h"

namespace deep_sky {

using backplane::Buffer;
using backplane::Client;
using backplane::Kernel;
using backplane::Result;
using backplane::scalars;
using backplane::Workgroups;

struct Detector::Kernels {
  Kernel grey;
  Kernel blur_rows;
  Kernel blur_columns;
  Kernel subtract;
  Kernel row_moments;
  Kernel moments;
  Kernel mark;
  Kernel spread;
  Kernel measure;
  Kernel locate;
  Kernel collect;
};

Result<Detector> Detector::create(Client client) {
  BACKPLANE_TRY(Kernel grey, Kernel::from_glsl("grey", kGrey));
  BACKPLANE_TRY(Kernel blur_rows, Kernel::from_glsl("blur", kBlur));
  BACKPLANE_TRY(Kernel blur_columns, blur_rows.specialize({{0, true}}));
  BACKPLANE_TRY(Kernel subtract, Kernel::from_glsl("subtract", kSubtract));
  BACKPLANE_TRY(Kernel row_moments, Kernel::from_glsl("row_moments", kRowMoments));
  BACKPLANE_TRY(Kernel moments, Kernel::from_glsl("moments", kMoments));
  BACKPLANE_TRY(Kernel mark, Kernel::from_glsl("mark", kMark));
  BACKPLANE_TRY(Kernel spread, Kernel::from_glsl("spread", kSpread));
  BACKPLANE_TRY(Kernel measure, Kernel::from_glsl("measure", kMeasure));
  BACKPLANE_TRY(Kernel locate, Kernel::from_glsl("locate", kLocate));
  BACKPLANE_TRY(Kernel collect, Kernel::from_glsl("collect", kCollect));
  return Detector(std::move(client), std::make_shared<const Kernels>(
                                         Kernels{grey, blur_rows, blur_columns, subtract, row_moments,
                                                 moments, mark, spread, measure, locate, collect}));
}

/// One picture on its way through the kernels.
class Detector::Run {
 public:
  Run(const Client& client, const Kernels& kernels, const Picture& picture, const Settings& settings)
      : client_(client),
        kernels_(kernels),
        settings_(settings),
        width_(picture.width),
        height_(picture.height),
        count_(width_ * height_),
        pixels_(client.create(pack(picture), "pixels")),
        residual_(client.empty<float>(count_, "residual")),
        moments_(client.create(std::vector<float>{0.0F, std::numeric_limits<float>::max()}, "moments")),
        labels_(client.empty<std::uint32_t>(count_, "labels")),
        maxima_(client.create(std::vector<std::uint32_t>(1, 0), "maxima")) {}

  Result<Detection> run() {
    BACKPLANE_CHECK(stage("background", [this] { subtract_background(); }));
    BACKPLANE_CHECK(stage("noise", [this] { measure_noise(); }));
    BACKPLANE_CHECK(stage("threshold and maxima", [this] { mark(); }));
    Result<void> labelled;
    BACKPLANE_CHECK(stage("labels", [&] { labelled = label(); }));
    BACKPLANE_CHECK(std::move(labelled));
    Result<std::vector<Source>> sources{std::vector<Source>()};
    BACKPLANE_CHECK(stage("sources", [&] { sources = collect(); }));
    BACKPLANE_TRY(detection_.sources, std::move(sources));
    sort_by_brightness(detection_.sources);
    BACKPLANE_TRY(const std::vector<float> moments, client_.read(moments_));
    detection_.noise = moments[1];
    BACKPLANE_TRY(const std::vector<std::uint32_t> maxima, client_.read(maxima_));
    detection_.local_maxima = maxima.front();
    return std::move(detection_);
  }

 private:
  static constexpr std::uint32_t kWorkgroup = 256;

  /// Red, green, blue and an unused byte in a word.
  static std::vector<std::uint32_t> pack(const Picture& picture) {
    std::vector<std::uint32_t> words(picture.rgb.size() / 3);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint8_t* pixel = &picture.rgb[3 * i];
      words[i] = pixel[0] | std::uint32_t{pixel[1]} << 8U | std::uint32_t{pixel[2]} << 16U;
    }
    return words;
  }

  [[nodiscard]] Workgroups each_pixel() const { return backplane::workgroups_for(count_, kWorkgroup); }

  template <class Work>
  Result<void> stage(const char* name, Work&& work) {
    BACKPLANE_TRY(const backplane::ProfileTicks ticks, client_.profile(std::forward<Work>(work)));
    detection_.stages.push_back({name, std::chrono::nanoseconds(ticks.nanoseconds())});
    return {};
  }

  void subtract_background() {
    const Buffer<float> grey = client_.empty<float>(count_, "grey");
    const Buffer<float> half = client_.empty<float>(count_, "half blurred");
    const Buffer<float> background = client_.empty<float>(count_, "background");
    const Buffer<float> weights = client_.create(gaussian(settings_), "weights");
    const backplane::Scalars shape = scalars(width_, height_, settings_.radius);
    client_.launch(kernels_.grey, each_pixel(), {pixels_, grey}, scalars(count_));
    client_.launch(kernels_.blur_rows, each_pixel(), {grey, weights, half}, shape);
    client_.launch(kernels_.blur_columns, each_pixel(), {half, weights, background}, shape);
    client_.launch(kernels_.subtract, each_pixel(), {grey, background, residual_}, scalars(count_));
  }

  void measure_noise() {
    const Buffer<float> rows = client_.empty<float>(std::size_t{4} * height_, "rows");
    for (std::uint32_t round = 0; round <= settings_.clippings; ++round) {
      client_.launch(kernels_.row_moments, backplane::workgroups_for(height_, 16),
                     {residual_, moments_, rows},
                     scalars(width_, height_, round == 0 ? 1.0F : settings_.clip));
      client_.launch(kernels_.moments, 1, {rows, moments_}, scalars(height_));
    }
  }

  void mark() {
    client_.launch(kernels_.mark, each_pixel(), {residual_, moments_, labels_, maxima_},
                   scalars(width_, height_, settings_.threshold));
  }

  /// Spreads labels until none changes; the host asks every few rounds.
  Result<void> label() {
    constexpr int kRoundsBetweenQuestions = 4;
    const Buffer<std::uint32_t> changed = client_.empty<std::uint32_t>(1, "changed");
    Buffer<std::uint32_t> next = client_.empty<std::uint32_t>(count_, "next labels");
    while (true) {
      for (int round = 0; round < kRoundsBetweenQuestions; ++round) {
        client_.write(changed, std::vector<std::uint32_t>(1, 0));
        client_.launch(kernels_.spread, each_pixel(), {labels_, next, changed}, scalars(width_, height_));
        std::swap(labels_, next);
      }
      BACKPLANE_TRY(const std::vector<std::uint32_t> answer, client_.read(changed));
      if (answer.front() == 0) return {};
    }
  }

  Result<std::vector<Source>> collect() {
    const std::vector<std::uint32_t> zeros(count_, 0);
    const Buffer<std::uint32_t> pixels = client_.create(zeros, "region pixels");
    const Buffer<std::uint32_t> flux = client_.create(zeros, "region flux");
    const Buffer<std::uint32_t> brightest = client_.create(zeros, "region peak brightness");
    const Buffer<std::uint32_t> peaks =
        client_.create(std::vector<std::uint32_t>(count_, count_), "region peaks");
    const std::uint32_t most = count_ / settings_.least_pixels;
    const Buffer<std::uint32_t> list =
        client_.create(std::vector<std::uint32_t>(1 + std::size_t{3} * (most + 1), 0), "sources");
    client_.launch(kernels_.measure, each_pixel(), {labels_, residual_, pixels, flux, brightest},
                   scalars(count_, kFluxUnit));
    client_.launch(kernels_.locate, each_pixel(), {labels_, residual_, brightest, peaks}, scalars(count_));
    client_.launch(kernels_.collect, each_pixel(), {labels_, pixels, flux, peaks, list},
                   scalars(count_, settings_.least_pixels));
    BACKPLANE_TRY(const std::vector<std::uint32_t> words, client_.read(list));
    std::vector<Source> sources;
    for (std::size_t i = 0; i < words.front(); ++i)
      sources.push_back({words[3 * i + 1], words[3 * i + 2], words[3 * i + 3]});
    return sources;
  }

  const Client& client_;
  const Kernels& kernels_;
  const Settings& settings_;
  std::uint32_t width_;
  std::uint32_t height_;
  std::uint32_t count_;
  Buffer<std::uint32_t> pixels_;
  Buffer<float> residual_;
  Buffer<float> moments_;
  Buffer<std::uint32_t> labels_;
  Buffer<std::uint32_t> maxima_;
  Detection detection_;
};

Result<Detection> Detector::detect(const Picture& picture, const Settings& settings) const {
  return Run(client_, *kernels_, picture, settings).run();
}

}  // namespace deep_sky
