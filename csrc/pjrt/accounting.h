// How much device memory live buffers hold, per device.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace torchtpu::pjrt {

// Who holds a buffer: a tensor, or the runtime for its own ends (operand buffers).
enum class Holder : uint8_t { Tensor, Runtime };

inline void raise_to(std::atomic<int64_t>& peak, int64_t now) {
  int64_t before = peak.load(std::memory_order_relaxed);
  while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

// A quantity that comes and goes. Two totals that only grow, since every buffer of every op is counted: what is there
// is their difference, and one atomic addition each way is all that it costs.
class Tally {
 public:
  // What is there, what there was at most, and what came and went in all.
  struct Reading {
    int64_t current, peak, allocated, freed;
  };

  // Returns what is there now.
  int64_t add(int64_t amount) {
    int64_t now = allocated_.fetch_add(amount, relaxed) + amount - freed_.load(relaxed);
    raise_to(peak_, now);
    return now;
  }
  void remove(int64_t amount) { freed_.fetch_add(amount, relaxed); }

  // What went is read first: other threads can only make the difference too large meanwhile, never negative.
  int64_t current() const {
    int64_t freed = freed_.load(std::memory_order_acquire);
    return allocated_.load(relaxed) - freed;
  }
  Reading read() const {
    int64_t freed = freed_.load(std::memory_order_acquire), allocated = allocated_.load(relaxed);
    return {allocated - freed, std::max(peak_.load(relaxed), allocated - freed),
            allocated - allocated_before_.load(relaxed), freed - freed_before_.load(relaxed)};
  }
  void reset_peak() { peak_.store(current(), relaxed); }
  // The totals start anew.
  void reset_totals() {
    freed_before_.store(freed_.load(relaxed), relaxed);
    allocated_before_.store(allocated_.load(relaxed), relaxed);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  std::atomic<int64_t> allocated_{0}, freed_{0}, peak_{0};
  std::atomic<int64_t> allocated_before_{0}, freed_before_{0};  // as the totals were when they were reset
};

class alignas(64) Accounting {
 public:
  void add(int64_t bytes, Holder holder) {
    if (holder == Holder::Tensor) {
      blocks_.add(1);
      raise_to(peak_of_all_, bytes_.add(bytes) + runtime_bytes_.current());
    } else {
      runtime_blocks_.add(1);
      raise_to(peak_of_all_, runtime_bytes_.add(bytes) + bytes_.current());
    }
  }
  void remove(int64_t bytes, Holder holder) {
    (holder == Holder::Tensor ? blocks_ : runtime_blocks_).remove(1);
    (holder == Holder::Tensor ? bytes_ : runtime_bytes_).remove(bytes);
  }

  // What tensors hold.
  Tally::Reading bytes() const { return bytes_.read(); }
  Tally::Reading blocks() const { return blocks_.read(); }
  // What tensors and the runtime hold. The peak of the number of blocks is the sum of both peaks: at most too large.
  Tally::Reading all_bytes() const {
    auto sum = add(bytes_.read(), runtime_bytes_.read());
    sum.peak = std::max(sum.current, peak_of_all_.load(std::memory_order_relaxed));
    return sum;
  }
  Tally::Reading all_blocks() const { return add(blocks_.read(), runtime_blocks_.read()); }
  // How often the device had no memory for a buffer.
  int64_t ooms() const { return ooms_.load(std::memory_order_relaxed); }
  void count_oom() { ooms_.fetch_add(1, std::memory_order_relaxed); }

  void reset_peaks() {
    for (Tally* tally : {&bytes_, &blocks_, &runtime_bytes_, &runtime_blocks_}) tally->reset_peak();
    peak_of_all_.store(bytes_.current() + runtime_bytes_.current(), std::memory_order_relaxed);
  }
  void reset_totals() {
    for (Tally* tally : {&bytes_, &blocks_, &runtime_bytes_, &runtime_blocks_}) tally->reset_totals();
    ooms_.store(0, std::memory_order_relaxed);
  }

 private:
  static Tally::Reading add(Tally::Reading a, Tally::Reading b) {
    return {a.current + b.current, a.peak + b.peak, a.allocated + b.allocated, a.freed + b.freed};
  }

  Tally bytes_, blocks_, runtime_bytes_, runtime_blocks_;
  std::atomic<int64_t> peak_of_all_{0}, ooms_{0};
};

constexpr size_t kMaxDevices = 64;

inline Accounting& accounting(size_t device) {
  static Accounting devices[kMaxDevices];
  return devices[device];
}

}  // namespace torchtpu::pjrt
