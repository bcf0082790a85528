#include "dispatch/run_ahead.h"

#include <thread>

#include "dispatch/execute.h"
#include "pjrt/client.h"
#include "runtime/errors.h"

namespace torchtpu::dispatch {
namespace {

// What is queued holds its operands: no more than a training step of a large model.
constexpr size_t kMostQueued = 4096;

using runtime::FailureRef;

// The buffer of a value that is done, if it has one. Sets `failure` when the value is not what the order of the calls makes it.
pjrt::BufferRef take(runtime::Value& value, FailureRef& failure) {
  if (!value.pending) return std::move(value.buffer);
  auto pending = std::move(value.pending);
  const auto& failed = pending->failure();
  bool settled = failed && failed->reported() && pending->buffer();
  if (failed && !settled && !failure) failure = failed;
  return pending.use_count() == 1 ? pending->take() : pending->buffer();
}

// The buffers of one execution, whose operands are done: whatever fills them was queued before.
class Buffers {
 public:
  explicit Buffers(Execution& execution) {
    for (auto& operand : execution.operands) held_.push_back(take(operand.value, failure_));
    for (size_t i = 0; i < held_.size(); ++i) {
      if (held_[i]) bytes_ += held_[i]->bytes();
      raw_.push_back(held_[i] ? held_[i]->raw() : nullptr);
      // Someone else holds the value, or may still read it: it must survive this program.
      if (execution.operands[i].donated) (held_[i].unique() ? given_ : kept_).push_back(static_cast<int64_t>(i));
    }
  }

  // Why the first operand that is not what it should be is not.
  const FailureRef& failure() const { return failure_; }

  void execute(const pjrt::Executable& executable, c10::DeviceIndex device, PJRT_Buffer** outputs) {
    executable.execute(pjrt::Client::get().device(static_cast<size_t>(device)), raw_.data(), raw_.size(), kept_.data(),
                       kept_.size(), outputs);
    for (int64_t donated : given_) held_[donated]->give_away();
  }

  pjrt::BufferRef& operator[](size_t operand) { return held_[operand]; }
  size_t bytes() const { return bytes_; }

 private:
  c10::SmallVector<pjrt::BufferRef, 8> held_;
  c10::SmallVector<PJRT_Buffer*, 8> raw_;
  c10::SmallVector<int64_t, 4> kept_, given_;
  size_t bytes_ = 0;
  FailureRef failure_;
};

FailureRef failure(const Execution& execution, const pjrt::Error& error) {
  const auto& origin = execution.program->origin;
  auto what = origin.empty() ? std::string(execution.overload)
                             : c10::str(execution.overload, " (first called at ", origin, ")");
  return runtime::failure(error, what, execution.device);
}

void fill_outputs(Execution& execution, const Buffers& buffers, const c10::SmallVectorImpl<PJRT_Buffer*>& raw) {
  bool tracked = outlasts_its_results(buffers.bytes());
  for (size_t i = 0; i < raw.size(); ++i) {
    pjrt::BufferRef buffer(
        new pjrt::Buffer(raw[i], execution.program->outputs[i].nbytes, static_cast<size_t>(execution.device)));
    if (tracked) buffer->track();
    execution.outputs[i].pending->fill(std::move(buffer));
  }
}

// New results are missing; what was to be updated stays as it was, if it is still there.
void fail_outputs(Execution& execution, Buffers& buffers, const FailureRef& failure) {
  const auto& program = *execution.program;
  for (size_t i = 0; i < execution.outputs.size(); ++i) {
    auto& [pending, value] = execution.outputs[i];
    FailureRef ignored;
    auto before = take(value, ignored);
    for (size_t operand = 0; operand < program.operands.size(); ++operand) {
      bool same = program.outputs[i].kind == cache::Output::Kind::Store && program.operands[operand].use == program.outputs[i].use;
      if (same) before = buffers[operand + program.has_words];
    }
    if (before && !before->is_deleted()) {
      pending->keep(std::move(before), failure);
    } else {
      pending->fail(failure);
    }
  }
}

void start(Execution& execution) {
  Buffers buffers(execution);
  FailureRef failed = buffers.failure();
  c10::SmallVector<PJRT_Buffer*, 8> raw(execution.outputs.size());
  try {
    if (!failed) buffers.execute(execution.program->compilation->wait(), execution.device, raw.data());
  } catch (const pjrt::Error& error) {
    failed = failure(execution, error);
  }
  if (failed) {
    fail_outputs(execution, buffers, failed);
  } else {
    fill_outputs(execution, buffers, raw);
  }
}

}  // namespace

RunAhead& RunAhead::get() {
  static auto* instance = new RunAhead;
  return *instance;
}

namespace {
struct Registration {
  Registration() { runtime::set_backlog(RunAhead::get()); }
} registration;
}  // namespace

void RunAhead::push(Execution execution) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostQueued; });
  push_locked(std::move(execution));
}

void RunAhead::then(std::function<void()> step) {
  {
    std::lock_guard lock(mutex_);
    if (active()) return push_locked(std::move(step));
  }
  step();
}

void RunAhead::push_locked(Entry entry) {
  waiting_.push_back(std::move(entry));
  queued_.fetch_add(1, std::memory_order_release);
  if (!started_) {
    std::thread([this] { work(); }).detach();
    started_ = true;
  }
  changed_.notify_all();
}

void RunAhead::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (auto* execution = std::get_if<Execution>(&entry)) {
      start(*execution);
    } else {
      std::get<std::function<void()>>(entry)();
    }
    entry = {};  // before anybody is told that it is done
    lock.lock();
    queued_.fetch_sub(1, std::memory_order_release);
    changed_.notify_all();
  }
}

void RunAhead::drain() {
  if (!active()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !active(); });
}

}  // namespace torchtpu::dispatch
