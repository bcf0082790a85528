// Executions that cannot start yet: their program is being compiled, or one before them waits for its own. One thread starts them
// in the order of the calls, while the callers run ahead with pending results.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <variant>

#include "cache/program.h"
#include "runtime/device_buffer.h"
#include "runtime/work.h"

namespace torchtpu::dispatch {

// One call, with everything that it reads and writes.
struct Execution {
  struct Operand {
    runtime::Value value;
    bool donated;
  };

  struct Output {
    runtime::PendingRef pending;
    runtime::Value before;  // of what is written without being read
  };

  const cache::Program* program;
  cache::Pin pin;
  const char* overload;
  c10::DeviceIndex device;
  c10::SmallVector<Operand, 6> operands;
  c10::SmallVector<Output, 2> outputs;
};

// Never destroyed, and left alone by a forked child, which has none of its thread.
class RunAhead final : public runtime::Backlog {
 public:
  static RunAhead& get();

  // Whether something is queued: then what comes after it has to be queued as well.
  bool active() const { return queued_.load(std::memory_order_acquire) != 0; }
  // Blocks while too much is queued.
  void push(Execution execution);
  bool empty() const override { return !active(); }
  // Blocks until nothing is queued.
  void drain() override;
  void then(std::function<void()> step) override;

 private:
  using Entry = std::variant<Execution, std::function<void()>>;

  void push_locked(Entry entry);
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  std::atomic<size_t> queued_{0};  // the one that is being started included
  bool started_ = false;
};

}  // namespace torchtpu::dispatch
