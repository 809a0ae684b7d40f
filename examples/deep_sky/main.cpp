#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detector.h"
#include "reference.h"

namespace {

using namespace deep_sky;

constexpr std::size_t kShown = 10;

/// What one device, or the host, found.
struct Finding {
  std::string where;
  Detection detection;
};

void print_finding(const Finding& finding, std::uint32_t width) {
  const Detection& found = finding.detection;
  std::cout << "\n"
            << finding.where << ": " << found.sources.size() << " sources, " << found.local_maxima
            << " local maxima, noise " << std::setprecision(4) << found.noise << "\n";
  std::cout << "    x     y  pixels      flux\n" << std::fixed << std::setprecision(2);
  for (std::size_t i = 0; i < std::min(kShown, found.sources.size()); ++i) {
    const Source& source = found.sources[i];
    std::cout << std::setw(5) << source.peak % width << std::setw(6) << source.peak / width << std::setw(8)
              << source.pixels << std::setw(10) << static_cast<float>(source.flux) * kFluxUnit << "\n";
  }
  for (const Stage& stage : found.stages) {
    std::cout << std::setw(24) << stage.name << std::setw(9) << static_cast<double>(stage.time.count()) / 1e6
              << " ms\n";
  }
  std::cout << std::defaultfloat;
}

/// Circles around every source, numbers at the brightest.
Picture annotate(Picture picture, const std::vector<Source>& sources) {
  for (std::size_t i = sources.size(); i-- > 0;) {
    const bool bright = i < kShown;
    const std::uint32_t row = sources[i].peak / picture.width;
    const double x = sources[i].peak % picture.width;
    const double y = row;
    const double radius = 3 + 0.7 * std::sqrt(static_cast<double>(sources[i].pixels));
    draw_circle(picture, x, y, radius, bright ? Colour{255, 90, 60} : Colour{90, 220, 120});
    if (!bright) continue;
    constexpr double kNumberWidth = 14;
    const bool fits = x + radius + kNumberWidth < picture.width;
    draw_number(picture, static_cast<int>(fits ? x + radius + 2 : x - radius - kNumberWidth),
                static_cast<int>(y - radius) - 2, static_cast<unsigned>(i + 1), {255, 200, 60});
  }
  return picture;
}

/// Prints how two findings compare; true where they agree: as many sources within one in a hundred, the same
/// brightest ones, their flux within one in a hundred.
bool compare(const Finding& a, const Finding& b) {
  const std::vector<Source>& first = a.detection.sources;
  const std::vector<Source>& second = b.detection.sources;
  const auto difference = static_cast<double>(first.size()) - static_cast<double>(second.size());
  bool agree = std::abs(difference) <= 0.01 * static_cast<double>(second.size());
  double worst_flux = 0;
  for (std::size_t i = 0; i < std::min({kShown, first.size(), second.size()}); ++i) {
    agree = agree && first[i].peak == second[i].peak;
    const auto flux = static_cast<double>(second[i].flux);
    worst_flux = std::max(worst_flux, std::abs(static_cast<double>(first[i].flux) - flux) / flux);
  }
  agree = agree && worst_flux <= 0.01;
  std::cout << a.where << " and " << b.where
            << (first == second ? " found exactly the same"
                : agree         ? " agree"
                                : " DIFFER")
            << ": " << first.size() << " and " << second.size() << " sources, flux of the brightest within "
            << worst_flux * 100 << " %\n";
  return agree;
}

backplane::Result<Finding> run_on(const backplane::Runtime& runtime, const std::string& device,
                                  const Picture& picture, const Settings& settings) {
  BACKPLANE_TRY(backplane::Client client, runtime.client(device));
  BACKPLANE_TRY(const Detector detector, Detector::create(client));
  BACKPLANE_CHECK(detector.detect(picture, settings));  // compiles; the second run is the one that is timed
  BACKPLANE_TRY(Detection detection, detector.detect(picture, settings));
  return Finding{client.name() + " (" + client.properties().name + ")", std::move(detection)};
}

std::string file_name(std::string device) {
  for (char& character : device) {
    if (character == ':') character = '_';
  }
  return "deep_sky_" + device + "_annotated.png";
}

backplane::Result<int> run(const std::filesystem::path& path, const std::filesystem::path& directory) {
  BACKPLANE_TRY(const Picture picture, read_png(path));
  if (!std::filesystem::is_directory(directory)) {
    return backplane::Error(
        backplane::ErrorCode::not_found,
        "\"" + directory.string() + "\" is no directory; name one for the pictures that are made.");
  }
  BACKPLANE_TRY(const backplane::Runtime runtime, backplane::Runtime::open());
  const Settings settings;
  std::cout << path.string() << ": " << picture.width << " x " << picture.height << " pixels\n";

  std::vector<Finding> findings;
  bool good = true;
  for (const backplane::RuntimeDevice& device : runtime.devices()) {
    const std::string name = device.plugin + ":" + std::to_string(device.id.value);
    auto finding = run_on(runtime, name, picture, settings);
    if (!finding) {
      std::cerr << name << ": " << finding.error() << "\n";
      good = false;
      continue;
    }
    print_finding(*finding, picture.width);
    const std::filesystem::path output = directory / file_name(name);
    BACKPLANE_CHECK(write_png(output, annotate(picture, finding->detection.sources)));
    std::cout << "written: " << output.string() << "\n";
    findings.push_back(*std::move(finding));
  }
  if (findings.empty()) {
    std::cerr << "No device could be used; \"backplane info\" says what was found and why.\n";
    return EXIT_FAILURE;
  }
  findings.push_back({"the host", detect_on_host(picture, settings)});
  std::cout << "\n";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t j = i + 1; j < findings.size(); ++j) good = compare(findings[i], findings[j]) && good;
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || std::string_view(argv[1]).starts_with('-')) {
    std::cerr << "Usage: deep_sky PICTURE.png [OUTPUT_DIRECTORY]\n"
                 "Finds the light sources of a picture of the sky on every device, and marks them.\n";
    return EXIT_FAILURE;
  }
  const backplane::Result<int> result = run(argv[1], argc == 3 ? argv[2] : ".");
  if (!result) std::cerr << result.error() << "\n";
  return result ? *result : EXIT_FAILURE;
}
