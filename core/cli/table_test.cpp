#include "table.h"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace backplane::cli {
namespace {

TEST(Table, ColumnsLineUpUnderTheirHeader) {
  Table table({"plugin", "state"});
  table.add({"a-long-name", "ok"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "plugin       state\na-long-name  ok\n");
}

TEST(Table, CharactersOfSeveralBytesCountOnce) {
  Table table({"x", "y"});
  table.add({"é", "1"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "x  y\né  1\n");
}

TEST(Table, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printable("red\x1b[31m\n"), "red?[31m?");
}

}  // namespace
}  // namespace backplane::cli
