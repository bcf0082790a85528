// A PJRT event: something the device will have done.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "pjrt_c_api.h"

namespace torchtpu::pjrt {

class Event {
 public:
  // Takes ownership; null is an event that has happened. `of` names the work, for the error when it fails, and must live for ever.
  explicit Event(PJRT_Event* raw, const char* of = nullptr) : raw_(raw), of_(of) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)), of_(other.of_) {}
  ~Event();

  // Blocks; throws an Error when the work failed.
  void await() const;
  bool is_ready() const;
  // Calls `then` when it has happened, or at once, from any thread, with the Error of work that failed or null. The
  // event itself may be gone by then. `then` must not throw, and must not wait for the device.
  void on_ready(std::function<void(std::exception_ptr)> then) const;

 private:
  PJRT_Event* raw_;
  const char* of_;
};

}  // namespace torchtpu::pjrt
