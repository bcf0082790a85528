// How many bytes of device memory live buffers hold, per device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace torchtpu::pjrt {

class Accounting {
 public:
  void add(int64_t bytes) {
    int64_t now = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(int64_t bytes) { in_use_.fetch_sub(bytes, std::memory_order_relaxed); }
  void reset_peak() { peak_.store(in_use(), std::memory_order_relaxed); }
  int64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> in_use_{0}, peak_{0};
};

constexpr size_t kMaxDevices = 64;

inline Accounting& accounting(size_t device) {
  static Accounting devices[kMaxDevices];
  return devices[device];
}

}  // namespace torchtpu::pjrt
