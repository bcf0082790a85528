#include "pjrt/in_flight.h"

#include "pjrt/buffer.h"

namespace torchtpu::pjrt {

void InFlight::add(const Buffer& buffer) noexcept {
  try {
    Event event = buffer.ready_event();
    if (event.is_ready()) return;
    std::lock_guard lock(mutex_);
    forget_finished();
    events_.push_back(std::make_shared<const Event>(std::move(event)));
  } catch (const std::exception&) {
    // A destructor has nobody to tell; a buffer that cannot be asked is waited for by nobody.
  }
}

std::vector<std::shared_ptr<const Event>> InFlight::events() {
  std::lock_guard lock(mutex_);
  forget_finished();
  return {events_.begin(), events_.end()};
}

// A device works in order, so what has finished stands in front.
void InFlight::forget_finished() {
  while (!events_.empty() && events_.front()->is_ready()) events_.pop_front();
}

InFlight& in_flight(size_t device) {
  static auto* devices = new InFlight[kMaxDevices];  // outlives every buffer
  return devices[device];
}

}  // namespace torchtpu::pjrt
