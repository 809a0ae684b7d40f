#include "half_conversion.h"

#include <array>

namespace backplane::translator {
namespace {

__extension__ using Half = _Float16;

float extend(Half value) {
  return static_cast<float>(value);
}
Half truncate(float value) {
  return static_cast<Half>(value);
}
Half truncate_double(double value) {
  return static_cast<Half>(value);
}

}  // namespace

std::array<HalfConversion, 3> half_conversions() {
  // NOLINTBEGIN(modernize-use-designated-initializers): a table, read by its columns.
  return {{{"__extendhfsf2", reinterpret_cast<const void*>(&extend)},
           {"__truncsfhf2", reinterpret_cast<const void*>(&truncate)},
           {"__truncdfhf2", reinterpret_cast<const void*>(&truncate_double)}}};
  // NOLINTEND(modernize-use-designated-initializers)
}

}  // namespace backplane::translator
