// Addresses for storages whose bytes the host cannot read.
//
// PyTorch and the libraries on top of it compare data_ptr() to find shared storages, and add offsets to it. So every live
// storage owns a range of reserved, inaccessible memory as long as itself: unique, non-zero, stable, and a segmentation fault
// for a kernel that dereferences it by accident.
#pragma once

#include <cstddef>

namespace torchtpu::runtime {

// A range of at least `nbytes` (0 yields null, as an empty CPU storage has). Thread-safe.
void* reserve_address(size_t nbytes);
void release_address(void* address, size_t nbytes);

}  // namespace torchtpu::runtime
