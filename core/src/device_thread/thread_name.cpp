#include "device_thread/thread_name.h"

#if defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace backplane::detail {

std::string short_thread_name(std::string_view name) {
  constexpr std::size_t kLongest = 15;
  if (name.size() <= kLongest) return std::string(name);
  std::size_t length = kLongest;
  const auto continues_character = [&](std::size_t i) {
    return (static_cast<unsigned char>(name[i]) & 0xc0U) == 0x80U;
  };
  while (length > 0 && continues_character(length)) --length;
  return std::string(name.substr(0, length));
}

void set_thread_name(std::string_view name) {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), short_thread_name(name).c_str());
#elif defined(__APPLE__)
  pthread_setname_np(short_thread_name(name).c_str());
#else
  static_cast<void>(name);
#endif
}

}  // namespace backplane::detail
