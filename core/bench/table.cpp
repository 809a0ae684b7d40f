#include "table.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace backplane::bench {
namespace {

struct Entry {
  std::string id;
  std::string what;
  RowFunction function;
};

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

Row failed_row(const Entry& entry, const std::string& why) {
  return {.id = entry.id,
          .what = entry.what + ": " + why,
          .unit = "",
          .baseline_name = "",
          .ratio = std::numeric_limits<double>::infinity()};
}

std::vector<Row> run_entry(const Entry& entry) {
  try {
    std::vector<Row> rows = entry.function();
    if (rows.empty()) rows.push_back(failed_row(entry, "measured nothing"));
    return rows;
  } catch (const std::exception& exception) {
    return {failed_row(entry, exception.what())};
  }
}

}  // namespace

Registration::Registration(std::string id, std::string what, RowFunction function) {
  entries().push_back({std::move(id), std::move(what), std::move(function)});
}

std::vector<Row> run_registered(const std::string& filter) {
  std::vector<Entry> chosen;
  for (const Entry& entry : entries()) {
    if ((entry.id + ' ' + entry.what).find(filter) != std::string::npos) chosen.push_back(entry);
  }
  std::ranges::sort(chosen, {}, [](const Entry& entry) { return std::stod(entry.id); });
  std::vector<Row> rows;
  for (const Entry& entry : chosen) std::ranges::move(run_entry(entry), std::back_inserter(rows));
  return rows;
}

std::string to_text(const std::vector<Row>& rows) {
  std::size_t width = 4;
  for (const Row& row : rows) width = std::max(width, row.what.size());
  std::string text = fmt::format("{:<5} {:<{}} {:>12} {:<8} {:>12} {:>9} {:>9}\n", "#", "what", width,
                                 "figure", "baseline", "", "ratio", "budget");
  for (const Row& row : rows) {
    text += fmt::format("{:<5} {:<{}} {:>9.1f} {:<2} {:<8} {:>9.1f} {:<2} {:>9.4f} {:>9.4f}  {}\n", row.id,
                        row.what, width, row.figure, row.unit, row.baseline_name, row.baseline, row.unit,
                        row.ratio, row.budget, row.pass() ? "pass" : "short");
  }
  return text;
}

std::string to_json(const std::vector<Row>& rows) {
  nlohmann::json array = nlohmann::json::array();
  for (const Row& row : rows) {
    array.push_back({{"id", row.id},
                     {"what", row.what},
                     {"unit", row.unit},
                     {"figure", row.figure},
                     {"baseline_name", row.baseline_name},
                     {"baseline", row.baseline},
                     {"ratio", row.ratio},
                     {"budget", row.budget},
                     {"pass", row.pass()}});
  }
  return array.dump(2);
}

double quantile(std::vector<double> values, double fraction) {
  const auto rank = std::lround(fraction * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + rank);
  return values[static_cast<std::size_t>(rank)];
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

Row compare(Row row, const std::vector<double>& figures, const std::vector<double>& baselines) {
  std::vector<double> ratios;
  ratios.reserve(figures.size());
  for (std::size_t round = 0; round < figures.size(); ++round)
    ratios.push_back(figures[round] / baselines[round]);
  row.figure = median(figures);
  row.baseline = median(baselines);
  row.ratio = median(std::move(ratios));
  return row;
}

std::vector<std::vector<double>> interleave(const std::vector<std::function<double()>>& measurements,
                                            int rounds) {
  std::vector<std::vector<double>> results(measurements.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < measurements.size(); ++i) results[i].push_back(measurements[i]());
  }
  return results;
}

}  // namespace backplane::bench
