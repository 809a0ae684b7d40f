#pragma once

#include <functional>
#include <string>
#include <vector>

namespace backplane::bench {

/// One budget of the table: a figure against a baseline that was measured side by side with it.
struct Row {
  std::string id;      // "4.1": the budget and which part of it
  std::string what;    // one line for people
  std::string unit{};  // of figure and baseline: "ns", "us", "%"
  double figure = 0;
  std::string baseline_name{};
  double baseline = 0;
  double ratio = 0;   // figure / baseline; the median over rounds, not that of the medians
  double budget = 0;  // the largest ratio that passes

  [[nodiscard]] bool pass() const noexcept { return ratio <= budget; }
};

/// Measures the rows of one budget.
using RowFunction = std::function<std::vector<Row>()>;

/// Adds a budget to the program; one namespace-scope object per budget in the file that measures it. `id` and
/// `what` stand in the table, as short, if the function fails.
class Registration {
 public:
  Registration(std::string id, std::string what, RowFunction function);
};

/// Measures every registered budget whose id or text contains `filter`, in the order of their ids.
std::vector<Row> run_registered(const std::string& filter);

/// The rows as one aligned table for the terminal.
std::string to_text(const std::vector<Row>& rows);

/// The rows as a JSON array, a row an object.
std::string to_json(const std::vector<Row>& rows);

/// How often a comparison is repeated; the table shows medians.
inline constexpr int kRounds = 7;

[[nodiscard]] double median(std::vector<double> values);

/// The value below which `fraction` of the values lie.
[[nodiscard]] double quantile(std::vector<double> values, double fraction);

/// Fills figure, baseline and ratio of `row` from one pair of measurements a round.
Row compare(Row row, const std::vector<double>& figures, const std::vector<double>& baselines);

/// Runs every measurement once a round, in turn, and returns what each measured, by round.
std::vector<std::vector<double>> interleave(const std::vector<std::function<double()>>& measurements,
                                            int rounds = kRounds);

}  // namespace backplane::bench
