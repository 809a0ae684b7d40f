// Compiled into every plugin: the facts that its manifest file is written from, as one line of text that a
// script finds in the library. So the file says what the library was really built with, flags and all.

#include <array>
#include <cstddef>
#include <string_view>

#include <backplane/contract/toolchain.h>
#include <backplane/contract/version.h>

namespace {

class Line {
 public:
  constexpr Line& add(std::string_view text) {
    for (const char character : text) text_[length_++] = character;
    return *this;
  }

  constexpr Line& add(unsigned number) {
    unsigned unit = 1;
    while (number / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) text_[length_++] = static_cast<char>('0' + number / unit % 10);
    return *this;
  }

  [[nodiscard]] constexpr std::array<char, 256> take() const { return text_; }

 private:
  std::array<char, 256> text_{};
  std::size_t length_ = 0;
};

}  // namespace

// An array of its own with a mangled local name; "used", because nothing in the program reads it.
__attribute__((used)) static constexpr std::array<char, 256> kBackplanePluginFacts =
    Line()
        .add("backplane-plugin-facts interface=")
        .add(backplane::kInterfaceVersion.major)
        .add(".")
        .add(backplane::kInterfaceVersion.revision)
        .add(" toolchain=")
        .add(backplane::kToolchain)
        .add("|")
        .take();
