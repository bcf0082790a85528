#include "pjrt/environment.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace torchtpu::pjrt {

int64_t environment_number(const char* name, int64_t otherwise, int64_t least, int64_t most) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  const char* end = text + std::strlen(text);
  int64_t number = 0;
  auto parsed = std::from_chars(text, end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end && number >= least && number <= most) return number;
  auto range = most == INT64_MAX ? std::to_string(least) + " or more" : std::to_string(least) + " to " + std::to_string(most);
  throw std::invalid_argument(std::string("torchtpu: ") + name + " is '" + text + "'; it can be a whole number, " + range);
}

}  // namespace torchtpu::pjrt
