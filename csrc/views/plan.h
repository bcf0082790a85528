// How a strided view finds its elements in the row-major array that holds its storage (design D4).
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <optional>

namespace torchtpu::views {

// One dimension of the refined shape: a reshape of the base in which every dimension of the view is a strided slice of a
// dimension of its own.
struct Segment {
  int64_t size;       // of this refined dimension
  int64_t stride;     // of it, in elements of the view
  int64_t extent;     // elements of it that the view spans, from its start: (view size - 1) * step + 1
  int64_t step;       // between two elements of the view
  int64_t view_dim;   // the dimension of the view that runs over it, or -1: the view takes one position
  bool has_start() const { return extent < size; }  // otherwise the start can only be 0
};

// Slice: segments, read with slice, transpose and broadcast. Gather: an index per element; the last resort.
struct Plan {
  enum class Kind : uint8_t { Slice, Gather };
  Kind kind = Kind::Slice;
  c10::SmallVector<Segment, 4> segments;

  size_t num_starts() const {
    size_t count = kind == Kind::Gather;
    for (const Segment& segment : segments) count += segment.has_start();
    return count;
  }
  // The start in each segment that has one, from the storage offset of this call: what travels in the operand buffer. False when
  // the view would wrap around a segment, so that the plan does not describe it. A gather starts at the offset itself.
  bool starts(int64_t offset, c10::SmallVectorImpl<int64_t>& out) const {
    if (kind == Kind::Gather) out.push_back(offset);
    for (const Segment& segment : segments) {
      int64_t start = offset / segment.stride % segment.size;
      if (start + segment.extent > segment.size) return false;
      if (segment.has_start()) out.push_back(start);
    }
    return true;
  }
};

// The plan for the view (sizes, strides, any offset) of a row-major base; `base_sizes` are in elements of the view's dtype.
// Empty when only a gather fits. The result need not hold for every offset: ask starts().
std::optional<Plan> solve(c10::IntArrayRef base_sizes, c10::IntArrayRef sizes, c10::IntArrayRef strides);

// The base shape in elements of another size: its last dimension grows or shrinks; flat where that does not divide. Elements
// beyond the last whole one are left out.
c10::SmallVector<int64_t, 5> base_sizes_in(c10::IntArrayRef base_sizes, size_t base_itemsize, size_t itemsize);

}  // namespace torchtpu::views
