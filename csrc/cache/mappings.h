// The memory mappings of the process. Each executable of the CPU platform takes some, the kernel allows so many (Linux: the file
// /proc/sys/vm/max_map_count), and a process that has none left cannot compile, allocate or load anything: it crashes.
#pragma once

namespace torchtpu::cache {

class Mappings {
 public:
  // Whether the process is running out of them. To be asked before each program that is added. Not thread-safe.
  bool scarce();

 private:
  int uncounted_ = 0;
};

}  // namespace torchtpu::cache
