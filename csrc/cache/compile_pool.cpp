#include "cache/compile_pool.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cache/compilation.h"

namespace torchtpu::cache {
namespace {

constexpr size_t kMostThreads = 64;

size_t num_threads() {
  const char* text = std::getenv("TORCHTPU_COMPILE_THREADS");
  if (!text || !*text) return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 4);
  size_t number = 0;
  auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  TORCH_CHECK_VALUE(error == std::errc() && *end == '\0' && number <= kMostThreads, "TORCHTPU_COMPILE_THREADS is '", text,
                    "'; it can be a number from 0 to ", kMostThreads);
  return number;
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
