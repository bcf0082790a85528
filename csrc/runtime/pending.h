// The value that a queued execution will give a storage: until then every alias of it waits, or is queued behind it.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <atomic>

#include "pjrt/buffer.h"
#include "runtime/errors.h"

namespace torchtpu::runtime {

// Filled exactly once, from any thread.
class Pending final : public c10::intrusive_ptr_target {
 public:
  void fill(pjrt::BufferRef buffer) {
    buffer_ = std::move(buffer);
    finish();
  }
  void fail(FailureRef failure) {
    failure_ = std::move(failure);
    finish();
  }
  // The value is what it was before the execution, since that did not take place.
  void keep(pjrt::BufferRef buffer, FailureRef failure) {
    buffer_ = std::move(buffer);
    fail(std::move(failure));
  }

  bool done() const { return done_.load(std::memory_order_acquire); }
  // Blocks until done. Needs no lock: whoever fills it takes none of the waiter's.
  void wait() const { done_.wait(false, std::memory_order_acquire); }

  // The following are for values that are done: one of the two is there, or both after keep().
  const FailureRef& failure() const { return failure_; }
  const pjrt::BufferRef& buffer() const { return buffer_; }
  // Gives up the buffer: for the last one who holds this, so that it may be donated.
  pjrt::BufferRef take() { return std::move(buffer_); }

 private:
  void finish() {
    done_.store(true, std::memory_order_release);
    done_.notify_all();
  }

  pjrt::BufferRef buffer_;
  FailureRef failure_;
  std::atomic<bool> done_{false};
};

using PendingRef = c10::intrusive_ptr<Pending>;

}  // namespace torchtpu::runtime
