#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "table.h"

// Measures Backplane against its budgets and prints one table. The exit status is that of the program, not of
// the budgets, unless --strict is given.
int main(int argc, char** argv) {
  CLI::App app{"Backplane's budgets: every figure against a baseline measured in the same run."};
  std::string filter;
  std::string json;
  bool strict = false;
  app.add_option("--filter", filter, "Only budgets whose number or text contains this");
  app.add_option("--json", json, "Write the table to this file as well, as JSON");
  app.add_flag("--strict", strict, "Exit with 1 if a budget is short");
  CLI11_PARSE(app, argc, argv);

  const auto rows = backplane::bench::run_registered(filter);
  std::cout << backplane::bench::to_text(rows);
  if (!json.empty()) {
    std::ofstream file(json);
    file << backplane::bench::to_json(rows) << '\n';
    if (!file.flush()) {
      std::cerr << "backplane_bench: cannot write \"" << json << "\"\n";
      return 2;
    }
  }
  const bool all_pass = std::ranges::all_of(rows, [](const auto& row) { return row.pass(); });
  return strict && !all_pass ? 1 : 0;
}
