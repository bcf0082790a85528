// Work that goes on although nobody holds its result any more.
//
// Dropping a buffer does not stop the program that fills it, so a device is not idle, and a benchmark that drops its
// results not over, before those have happened.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/event.h"

namespace torchtpu::pjrt {

class Buffer;

class InFlight {
 public:
  // Remembers that `buffer`, which is about to be destroyed, has no value yet; nothing when it has one.
  void add(const Buffer& buffer) noexcept;
  // The ready events of the buffers that had no value when they were destroyed, and may still have none.
  std::vector<std::shared_ptr<const Event>> events();

 private:
  void forget_finished();

  std::mutex mutex_;
  std::deque<std::shared_ptr<const Event>> events_;  // in the order in which their buffers were destroyed
};

InFlight& in_flight(size_t device);

}  // namespace torchtpu::pjrt
