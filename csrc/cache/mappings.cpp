#include "cache/mappings.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace torchtpu::cache {
namespace {

// How many programs are added between two counts. A program of an op takes 3 to 10 mappings; a count takes 1 us for each that there
// is, at most about as long as one compilation.
constexpr int kUncounted = 32;

int64_t allowed() {
  int64_t count = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> count;
  return count;
}

int64_t in_use() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

}  // namespace

bool Mappings::scarce() {
  if (uncounted_-- > 0) return false;
  uncounted_ = kUncounted;
  static const int64_t most = allowed() / 4 * 3;
  return most && in_use() > most;
}

}  // namespace torchtpu::cache
