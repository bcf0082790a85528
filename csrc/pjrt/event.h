// A PJRT event: something the device will have done.
#pragma once

#include "pjrt_c_api.h"

namespace torchtpu::pjrt {

class Event {
 public:
  // Takes ownership; null is an event that has happened.
  explicit Event(PJRT_Event* raw) : raw_(raw) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  // Blocks; throws an Error that starts with `what` when the work failed.
  void await(const char* what) const;
  bool is_ready() const;

 private:
  PJRT_Event* raw_;
};

}  // namespace torchtpu::pjrt
