// What was issued to a device and may not have happened yet.
//
// A device runs programs in the order in which they are issued. So there is one queue a device, whatever streams a program uses,
// and a point in it is reached when all that was issued before has happened: the buffers of live tensors hold their values, and
// the programs whose results were dropped meanwhile have ended.
#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>

namespace torchtpu::runtime {

// Blocks until everything that was issued to the device has finished; throws the first of what failed meanwhile.
void synchronize(c10::DeviceIndex device);
// Whether everything that was issued to the device has finished.
bool is_idle(c10::DeviceIndex device);

// The point behind everything that was issued to a device so far. Holds no buffer. Thread-safe.
class Point {
 public:
  using Clock = std::chrono::steady_clock;

  static std::shared_ptr<Point> mark(c10::DeviceIndex device);
  bool reached() const { return reached_.load(std::memory_order_acquire); }
  // Blocks until it is reached; throws the first failure of the work before it that was still under way when it was marked.
  void await() const;
  // When it was reached, and not before.
  Clock::time_point time() const { return time_; }

 private:
  void finish_one(std::exception_ptr failure) noexcept;

  std::atomic<int64_t> unfinished_{1};  // the marking itself is one
  std::atomic<bool> reached_{false};
  std::atomic_flag failed_ = ATOMIC_FLAG_INIT;
  std::exception_ptr failure_;  // written by the first that fails, read once reached
  Clock::time_point time_;
};

}  // namespace torchtpu::runtime
