// A compiled program, loaded on the client's devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pjrt_c_api.h"

namespace torchtpu::pjrt {

// Every method may be called from any thread.
class Executable {
 public:
  // Takes ownership.
  explicit Executable(PJRT_LoadedExecutable* raw);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable();

  size_t num_outputs() const { return num_outputs_; }
  // Runs on `device`: any one if the program was compiled as portable, otherwise the one it was compiled for, which
  // takes 0.8 us less. `outputs` has room for num_outputs() raw buffers, which the caller then owns. The arguments at
  // `non_donatable` (indices, ascending) keep their buffers though the program donates them. May return before the work
  // is done; throws Error when it cannot start. The hit path of every op: no allocation, no lock of ours.
  void execute(PJRT_Device* device, PJRT_Buffer* const* arguments, size_t num_arguments, const int64_t* non_donatable,
               size_t num_non_donatable, PJRT_Buffer** outputs) const;
  // Machine code and metadata, for Client::deserialize.
  std::string serialize() const;

 private:
  PJRT_LoadedExecutable* raw_;
  PJRT_Device* home_ = nullptr;  // the one device that a program was compiled for; null for a portable program
  size_t num_outputs_ = 0;
};

}  // namespace torchtpu::pjrt
