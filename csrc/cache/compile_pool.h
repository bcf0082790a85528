// The threads that programs are compiled on: TORCHTPU_COMPILE_THREADS of them.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace torchtpu::cache {

class Compilation;

// Never destroyed, and left alone by a forked child, which has none of the threads.
class CompilePool {
 public:
  static CompilePool& get();

  // False when there are no threads to compile on.
  bool submit(std::shared_ptr<Compilation> compilation);
  // Fails what has not begun, waits for what has, and ends the threads: from then on there are none. For the end of the process.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Compilation>> waiting_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stopped_ = false;
};

}  // namespace torchtpu::cache
