#include "runtime/work.h"

#include <vector>

#include "pjrt/client.h"
#include "pjrt/in_flight.h"
#include "runtime/device_buffer.h"
#include "runtime/errors.h"
#include "runtime/live_buffers.h"

namespace torchtpu::runtime {
namespace {

constexpr char failed[] = "torchtpu: a computation on the device failed";

Backlog* backlog = nullptr;  // set while the extension is loaded, before there is work

// What the live tensors of a device hold: taken while locks are held, so only references.
struct Snapshot {
  explicit Snapshot(c10::DeviceIndex device) {
    visit_live_buffers(device, [this](DeviceBuffer& buffer) {
      if (!untold) untold = buffer.untold();
      if (auto value = buffer.peek(); value.buffer || value.pending) values.push_back(std::move(value));
    });
  }

  std::vector<Value> values;
  FailureRef untold;
};

using Events = std::vector<std::shared_ptr<const pjrt::Event>>;

// The events of what may be under way: of these values, as far as PJRT has been given them, and of dropped buffers. Nothing but
// the events is kept, for nobody donates a buffer that has a second holder.
Events events_of(std::vector<Value> values, c10::DeviceIndex device) {
  Events events = pjrt::in_flight(static_cast<size_t>(device)).events();
  for (auto& [buffer, pending] : values) {
    if (pending && pending->done()) buffer = pending->buffer();
    if (buffer) events.push_back(std::make_shared<const pjrt::Event>(buffer->ready_event()));
  }
  return events;
}

// A forked child would wait for threads that it does not have.
void refuse_if_forked() {
  if (pjrt::Client::exists()) pjrt::api();
}

}  // namespace

void set_backlog(Backlog& one) { backlog = &one; }

void drain() {
  if (pjrt::loaded_api()) backlog->drain();  // not in a forked child, where nobody empties it
}

void synchronize(c10::DeviceIndex device) {
  refuse_if_forked();
  Snapshot snapshot(device);
  drain();
  FailureRef failure = snapshot.untold;
  for (const auto& [_, pending] : snapshot.values) {
    if (!pending) continue;
    pending->wait();
    if (!failure && pending->failure() && !pending->failure()->reported()) failure = pending->failure();
  }
  guarded("synchronize", device, [&] {
    std::exception_ptr first;
    for (const auto& event : events_of(std::move(snapshot.values), device)) {
      try {
        event->await(failed);
      } catch (const pjrt::Error&) {
        if (!first) first = std::current_exception();
      }
    }
    if (first) std::rethrow_exception(first);
  });
  if (failure) failure->raise();
}

bool is_idle(c10::DeviceIndex device) {
  refuse_if_forked();
  if (!backlog->empty()) return false;  // it does not tell for which device
  for (const auto& event : events_of(std::move(Snapshot(device).values), device)) {
    if (!event->is_ready()) return false;
  }
  return true;
}

std::shared_ptr<Point> Point::mark(c10::DeviceIndex device) {
  refuse_if_forked();
  auto point = std::make_shared<Point>();
  backlog->then([point, device] { point->watch(device); });
  return point;
}

void Point::watch(c10::DeviceIndex device) noexcept {
  std::exception_ptr failure;
  try {
    for (const auto& event : events_of(std::move(Snapshot(device).values), device)) {
      if (event->is_ready()) continue;
      unfinished_.fetch_add(1, std::memory_order_relaxed);
      event->on_ready([self = shared_from_this()](std::exception_ptr failure) { self->finish_one(std::move(failure)); });
    }
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  finish_one(std::move(failure));
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
