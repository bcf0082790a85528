#include "runtime/work.h"

#include "pjrt/in_flight.h"
#include "runtime/errors.h"
#include "runtime/live_buffers.h"

namespace torchtpu::runtime {
namespace {

constexpr char failed[] = "torchtpu: a computation on the device failed";

// Calls `use` with the events of all work of the device that may be under way, until it returns false.
template <class F>
void for_each_event(c10::DeviceIndex device, F&& use) {
  for (const auto& event : live_buffer_events(device)) {
    if (!use(event)) return;
  }
  for (const auto& event : pjrt::in_flight(static_cast<size_t>(device)).events()) {
    if (!use(*event)) return;
  }
}

}  // namespace

void synchronize(c10::DeviceIndex device) {
  guarded("synchronize", device, [&] {
    std::exception_ptr first;
    for_each_event(device, [&](const pjrt::Event& event) {
      try {
        event.await(failed);
      } catch (const pjrt::Error&) {
        if (!first) first = std::current_exception();
      }
      return true;
    });
    if (first) std::rethrow_exception(first);
  });
}

bool is_idle(c10::DeviceIndex device) {
  bool idle = true;
  for_each_event(device, [&](const pjrt::Event& event) { return idle = event.is_ready(); });
  return idle;
}

std::shared_ptr<Point> Point::mark(c10::DeviceIndex device) {
  auto point = std::make_shared<Point>();
  for_each_event(device, [&](const pjrt::Event& event) {
    if (event.is_ready()) return true;
    point->unfinished_.fetch_add(1, std::memory_order_relaxed);
    event.on_ready([point](std::exception_ptr failure) { point->finish_one(std::move(failure)); });
    return true;
  });
  point->finish_one(nullptr);
  return point;
}

void Point::finish_one(std::exception_ptr failure) noexcept {
  if (failure && !failed_.test_and_set()) failure_ = std::move(failure);
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  time_ = Clock::now();
  reached_.store(true, std::memory_order_release);
  reached_.notify_all();
}

void Point::await() const {
  reached_.wait(false, std::memory_order_acquire);
  if (failure_) guarded("synchronize", [&] { std::rethrow_exception(failure_); });
}

}  // namespace torchtpu::runtime
