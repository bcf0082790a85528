// A PJRT event: something the device will have done.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "pjrt_c_api.h"

namespace torchtpu::pjrt {

class Event {
 public:
  // Takes ownership; null is an event that has happened.
  explicit Event(PJRT_Event* raw) : raw_(raw) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  ~Event();

  // Blocks; throws an Error that starts with `what` when the work failed.
  void await(const char* what) const;
  bool is_ready() const;
  // Calls `then` when it has happened, or at once, from any thread, with the Error of work that failed or null. The
  // event itself may be gone by then. `then` must not throw, and must not wait for the device.
  void on_ready(std::function<void(std::exception_ptr)> then) const;

 private:
  PJRT_Event* raw_;
};

}  // namespace torchtpu::pjrt
