// What was issued to a device and may not have happened yet.
//
// A device runs programs in the order in which they are issued. So there is one queue a device, whatever streams a
// program uses, and a point in it is reached when all that was issued before has happened: the buffers of live tensors
// hold their values, and the programs whose results were dropped meanwhile have ended.
#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "pjrt/event.h"

namespace torchtpu::runtime {

// Calls that PJRT has not been given yet: their programs are being compiled, or they stand behind one whose program is.
class Backlog {
 public:
  virtual ~Backlog() = default;
  virtual bool empty() const = 0;
  // Blocks until it is empty.
  virtual void drain() = 0;
  // Runs `step` when what it holds now has been given to PJRT, which may be at once; from any thread. `step` must not
  // throw.
  virtual void then(std::function<void()> step) = 0;
};

// There is one, for all devices, which lies above the runtime: it is told of it here. It must live for ever.
void set_backlog(Backlog& backlog);

// Blocks until PJRT has been given everything that was issued: then figures of memory are those of the calls made so
// far. No thread that is waited for takes the GIL.
void drain();
// Blocks until everything that was issued to the device has finished; throws the first of what failed meanwhile.
void synchronize(c10::DeviceIndex device);
// Whether everything that was issued to the device has finished.
bool is_idle(c10::DeviceIndex device);

// The point behind everything that was issued to a device so far. Holds no buffer. Thread-safe.
class Point : public std::enable_shared_from_this<Point> {
 public:
  using Clock = std::chrono::steady_clock;

  Point(c10::DeviceIndex device, int64_t number) : device_(device), number_(number) {}
  static std::shared_ptr<Point> mark(c10::DeviceIndex device);
  bool reached() const;
  // Blocks until it is reached; throws the first failure of the work before it that was under way when it was marked.
  void await() const;
  // When it was reached; blocks until it is.
  Clock::time_point time() const;

 private:
  void watch() noexcept;
  void finish_one(std::exception_ptr failure) noexcept;

  const c10::DeviceIndex device_;
  const int64_t number_;  // among the points of the device, in the order of their marking
  std::atomic<int64_t> unfinished_{1};  // the watching itself is one
  std::vector<std::shared_ptr<const pjrt::Event>> events_;  // what has to happen, once watched
  std::atomic<bool> watched_{false}, reached_{false};
  std::atomic_flag failed_ = ATOMIC_FLAG_INIT;
  std::exception_ptr failure_;  // written by the first that fails, read once reached
  Clock::time_point time_;
};

}  // namespace torchtpu::runtime
