#include "cache/compile_pool.h"

#include <algorithm>

#include "cache/compilation.h"
#include "cache/setting.h"

namespace torchtpu::cache {
namespace {

constexpr int64_t kMostThreads = 64;

size_t num_threads() {
  int64_t cores = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 4);
  return static_cast<size_t>(setting("TORCHTPU_COMPILE_THREADS", cores, 0, kMostThreads));
}

}  // namespace

CompilePool& CompilePool::get() {
  static auto* pool = new CompilePool;
  return *pool;
}

bool CompilePool::submit(std::shared_ptr<Compilation> compilation) {
  static const size_t most = num_threads();
  std::lock_guard lock(mutex_);
  if (stopped_ || most == 0) return false;
  waiting_.push_back(std::move(compilation));
  if (idle_ < waiting_.size() && threads_.size() < most) threads_.emplace_back([this] { work(); });
  changed_.notify_one();
  return true;
}

void CompilePool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    --idle_;
    if (stopped_) return;
    auto compilation = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    compilation->compile();
    compilation.reset();
    lock.lock();
  }
}

void CompilePool::stop() {
  std::deque<std::shared_ptr<Compilation>> abandoned;
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    abandoned.swap(waiting_);
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (auto& compilation : abandoned) compilation->abandon("the process is ending");
  for (auto& thread : threads) thread.join();
}

}  // namespace torchtpu::cache
