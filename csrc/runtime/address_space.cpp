#include "runtime/address_space.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <mutex>
#include <vector>

#include "runtime/spin_lock.h"

namespace torchtpu::runtime {
namespace {

constexpr size_t kAlignment = 64;  // ATen's own kernels assume no more of a data_ptr
constexpr size_t kChunk = size_t{1} << 40;

// Ranges are powers of two, each size with its own free list; fresh ones are cut from reserved chunks of a tebibyte. Nothing is
// ever mapped readable, so a reservation costs page tables only for itself.
class AddressSpace {
 public:
  void* reserve(size_t nbytes) {
    std::lock_guard lock(lock_);
    size_t size = range_size(nbytes);
    auto& free = free_[std::countr_zero(size)];
    if (!free.empty()) {
      void* address = free.back();
      free.pop_back();
      return address;
    }
    if (size > remaining_) refill(size);
    char* address = next_;
    next_ += size;
    remaining_ -= size;
    return address;
  }

  void release(void* address, size_t nbytes) {
    std::lock_guard lock(lock_);
    free_[std::countr_zero(range_size(nbytes))].push_back(address);
  }

 private:
  static size_t range_size(size_t nbytes) { return std::bit_ceil(nbytes < kAlignment ? kAlignment : nbytes); }

  void refill(size_t size) {
    size_t chunk = size > kChunk ? size : kChunk;
    void* address = mmap(nullptr, chunk, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK_WITH(OutOfMemoryError, address != MAP_FAILED, "torchtpu: cannot reserve ", chunk,
                     " bytes of address space for a storage; is the address space limited (ulimit -v)?");
    next_ = static_cast<char*>(address);
    remaining_ = chunk;
  }

  SpinLock lock_;
  std::array<std::vector<void*>, 64> free_;
  char* next_ = nullptr;
  size_t remaining_ = 0;
};

AddressSpace& address_space() {
  static auto* space = new AddressSpace;  // outlives every storage
  return *space;
}

}  // namespace

void* reserve_address(size_t nbytes) { return nbytes == 0 ? nullptr : address_space().reserve(nbytes); }

void release_address(void* address, size_t nbytes) {
  if (address) address_space().release(address, nbytes);
}

}  // namespace torchtpu::runtime
