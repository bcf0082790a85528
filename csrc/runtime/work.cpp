#include "runtime/work.h"

#include <algorithm>
#include <vector>

#include "pjrt/accounting.h"
#include "pjrt/client.h"
#include "pjrt/in_flight.h"
#include "runtime/device_buffer.h"
#include "runtime/errors.h"
#include "runtime/live_buffers.h"

namespace torchtpu::runtime {
namespace {

Backlog* backlog = nullptr;  // set while the extension is loaded, before there is work

// The numbers of the last point of a device that was marked, and of the last one that somebody waited for: all up to it
// are reached, although PJRT wakes those who wait for one buffer one after the other.
struct Numbers {
  std::atomic<int64_t> marked{0}, reached{0};
};

Numbers& numbers(c10::DeviceIndex device) {
  static Numbers all[pjrt::kMaxDevices];
  return all[static_cast<size_t>(device)];
}

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

// The events of what may be under way: of these values, as far as PJRT has been given them, and of dropped buffers.
// Nothing but the events is kept, for nobody donates a buffer that has a second holder.
Events events_of(std::vector<Value> values, c10::DeviceIndex device) {
  Events events = pjrt::in_flight(static_cast<size_t>(device)).events();
  for (auto& [buffer, pending] : values) {
    if (pending && pending->done()) buffer = pending->buffer();
    if (buffer) events.push_back(std::make_shared<const pjrt::Event>(buffer->ready_event()));
  }
  return events;
}

// Everything has happened, and somebody is told that something failed: storages whose value is missing keep the reason for whoever
// uses them, and are no news for the next who synchronizes.
void settle_failures(c10::DeviceIndex device) {
  visit_live_buffers(device, [&](DeviceBuffer& handle) {
    auto buffer = handle.peek().buffer;
    if (!buffer) return;
    try {
      buffer->await();
    } catch (const pjrt::Error& error) {
      auto missing = failure(error, "an earlier call", device);
      missing->tell();
      handle.fail(std::move(missing));
    }
  });
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
  const int64_t marked = numbers(device).marked.load();
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
        event->await();
      } catch (const pjrt::Error&) {
        if (!first) first = std::current_exception();
      }
    }
    pjrt::raise_to(numbers(device).reached, marked);
    if (first) {
      settle_failures(device);
      std::rethrow_exception(first);
    }
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
  auto point = std::make_shared<Point>(device, ++numbers(device).marked);
  backlog->then([point] { point->watch(); });
  return point;
}

void Point::watch() noexcept {
  std::exception_ptr failure;
  try {
    for (auto& event : events_of(std::move(Snapshot(device_).values), device_)) {
      if (!event->is_ready()) events_.push_back(std::move(event));
    }
    for (const auto& event : events_) {
      unfinished_.fetch_add(1, std::memory_order_relaxed);
      event->on_ready([self = shared_from_this()](std::exception_ptr error) { self->finish_one(std::move(error)); });
    }
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  watched_.store(true, std::memory_order_release);
  finish_one(std::move(failure));
}

bool Point::reached() const {
  if (reached_.load(std::memory_order_acquire) || number_ <= numbers(device_).reached.load()) return true;
  return watched_.load(std::memory_order_acquire) &&
         std::all_of(events_.begin(), events_.end(), [](const auto& event) { return event->is_ready(); });
}

Point::Clock::time_point Point::time() const {
  reached_.wait(false, std::memory_order_acquire);
  return time_;
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
  pjrt::raise_to(numbers(device_).reached, number_);
  if (failure_) guarded("synchronize", device_, [&] { std::rethrow_exception(failure_); });
}

}  // namespace torchtpu::runtime
