// The one PJRT client of the process and its devices.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/buffer.h"
#include "pjrt/executable.h"
#include "pjrt/plugin.h"

namespace torchtpu::pjrt {

// Every method may be called from any thread.
class Client {
 public:
  // Created on first use; never destroyed, since plugins do not survive unloading. Throws Error or std::runtime_error;
  // a later call tries again. In a forked child of a process that had a client it throws, as does every method that
  // would reach the device: PJRT's threads are gone.
  static Client& get() {
    Client* client = instance_.load(std::memory_order_acquire);
    return client && loaded_api() ? *client : create();
  }
  // How many devices there will be, as far as that is known before the client exists: on the CPU platform, where they
  // are made for the asking. Throws what would keep the client from starting.
  static std::optional<size_t> device_count_to_come();
  // False until get() succeeded.
  static bool exists() { return instance_.load(std::memory_order_acquire) != nullptr; }

  const std::string& platform() const { return platform_; }                  // "tpu" or "cpu"
  const std::string& platform_version() const { return platform_version_; }  // as the plugin words it
  // "1.13.0": what portable artifacts must target.
  const std::string& stablehlo_version() const { return stablehlo_version_; }
  // device_pointer() of a buffer is host memory.
  bool host_can_read() const { return host_can_read_; }
  size_t device_count() const { return devices_.size(); }
  PJRT_Device* device(size_t index) const;
  std::string device_kind(size_t index) const;

  // Copies host memory (`bytes` in all, row-major) during the call.
  Buffer* from_host(const void* data, size_t bytes, PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims,
                    size_t device, Holder holder = Holder::Tensor);
  // Takes over host memory that nobody will write again: on the CPU platform it becomes the buffer where its alignment
  // allows (64 bytes), so that nothing is copied. Drops `owner`, from any thread, when the device needs it no longer.
  Buffer* adopt_host(std::shared_ptr<const void> owner, const void* data, size_t bytes, PJRT_Buffer_Type type,
                     const int64_t* dims, size_t num_dims, size_t device);
  // A copy of the buffer on another device of this client; the copy may still be under way on return.
  Buffer* copy_to_device(const Buffer& source, size_t device);
  // `program`: a portable StableHLO artifact or MLIR text/bytecode; `options`: a serialized CompileOptionsProto.
  std::unique_ptr<Executable> compile(std::string_view program, std::string_view options);
  std::unique_ptr<Executable> deserialize(std::string_view serialized);
  // What the platform itself counts, programs and temporaries included; -1 for what it does not tell.
  struct MemoryStats {
    int64_t bytes_in_use, bytes_limit;
  };
  MemoryStats memory_stats(size_t device) const;

 private:
  struct Upload;
  Client();
  static Client& create();
  Upload upload(const void* data, PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims, size_t device,
                PJRT_HostBufferSemantics semantics);

  static std::atomic<Client*> instance_;
  PJRT_Client* raw_;
  std::vector<PJRT_Device*> devices_;
  std::string platform_;
  std::string platform_version_;
  std::string stablehlo_version_;
  bool host_can_read_;
};

}  // namespace torchtpu::pjrt
