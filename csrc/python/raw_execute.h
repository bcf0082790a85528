// A program run by PJRT with nothing around it: what tools/bench compares an op with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pjrt/buffer.h"
#include "pjrt/executable.h"

namespace torchtpu::python {

class RawProgram {
 public:
  // Compiles `program` and makes a float32 argument, all ones, of each of `shapes`, on the first device.
  RawProgram(std::string_view program, std::string_view options, const std::vector<std::vector<int64_t>>& shapes);

  // Nanoseconds that `calls` executions take, with the destruction of what they put out. With `chain`, each execution's
  // first output is the next one's first argument, which the program may donate.
  int64_t time(size_t calls, bool chain);
  // Blocks until the first argument, of a chain the last output, is there.
  void wait() { arguments_[0]->await(); }

 private:
  void call(bool chain);

  std::unique_ptr<pjrt::Executable> executable_;
  std::vector<pjrt::BufferRef> arguments_;
  std::vector<PJRT_Buffer*> raw_arguments_;
  std::vector<PJRT_Buffer*> raw_outputs_;
};

// Nanoseconds that `calls` waits for a number that is there, and reads of it, take.
int64_t time_awaits(size_t calls);

}  // namespace torchtpu::python
