#include "views/plan.h"

#include <algorithm>

namespace torchtpu::views {
namespace {

// The dimensions of a row-major shape are the steps of a chain of boundaries 1 = d0 | d1 | ... | dk = numel: dimension i has stride
// d(i) and size d(i+1) / d(i). Reshapes drop or insert boundaries.
class Boundaries {
 public:
  explicit Boundaries(c10::IntArrayRef sizes) {
    int64_t stride = 1;
    chain_.push_back(1);
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      stride *= *size;
      if (*size != 1) chain_.push_back(stride);
    }
    if (chain_.size() == 1) chain_.push_back(1);  // a base of one element has one dimension
  }

  // Makes [stride, stride * (size - 1) + 1) lie within one dimension, whose stride divides `stride`.
  void merge_for(int64_t size, int64_t stride) {
    int64_t end = (size - 1) * stride + 1;
    auto crossed = [&](int64_t d) { return (stride < d && d < end) || (d <= stride && stride % d != 0); };
    // The chain's ends stay: 1 divides everything, and the last boundary is where memory ends.
    chain_.erase(std::remove_if(chain_.begin() + 1, chain_.end() - 1, crossed), chain_.end() - 1);
  }

  // Makes `stride` the lower end of a dimension. False when the dimension that it falls into does not divide there.
  bool split_at(int64_t stride) {
    auto upper = std::upper_bound(chain_.begin() + 1, chain_.end() - 1, stride);
    if (*(upper - 1) == stride) return true;
    if (*upper % stride != 0 || stride % *(upper - 1) != 0) return false;
    chain_.insert(upper, stride);
    return true;
  }

  size_t dimension_of(int64_t stride) const {
    return std::upper_bound(chain_.begin() + 1, chain_.end() - 1, stride) - chain_.begin() - 1;
  }

  size_t size() const { return chain_.size() - 1; }
  int64_t stride(size_t i) const { return chain_[i]; }
  int64_t length(size_t i) const { return chain_[i + 1] / chain_[i]; }

 private:
  c10::SmallVector<int64_t, 8> chain_;
};

}  // namespace

std::optional<Plan> solve(c10::IntArrayRef base_sizes, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  // Dimensions of size one and expanded ones take no part: they are broadcast at the end.
  c10::SmallVector<int64_t, 5> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && strides[i] != 0) dims.push_back(static_cast<int64_t>(i));
  }
  std::stable_sort(dims.begin(), dims.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });

  Boundaries boundaries(base_sizes);
  for (int64_t dim : dims) boundaries.merge_for(sizes[dim], strides[dim]);
  // Two dimensions of the view in one of the base: split it at the larger stride.
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    int64_t stride = strides[dims[i]];
    bool shared = boundaries.dimension_of(stride) == boundaries.dimension_of(strides[dims[i + 1]]);
    if (shared && !boundaries.split_at(stride)) return std::nullopt;
  }

  Plan plan;
  for (size_t i = boundaries.size(); i-- > 0;) {
    plan.segments.push_back({boundaries.length(i), boundaries.stride(i), 1, 1, -1});
  }
  for (int64_t dim : dims) {
    Segment& segment = plan.segments[boundaries.size() - 1 - boundaries.dimension_of(strides[dim])];
    if (segment.view_dim != -1 || strides[dim] % segment.stride != 0) return std::nullopt;
    segment.view_dim = dim;
    segment.step = strides[dim] / segment.stride;
    segment.extent = (sizes[dim] - 1) * segment.step + 1;
    if (segment.extent > segment.size) return std::nullopt;
  }
  return plan;
}

c10::SmallVector<int64_t, 5> base_sizes_in(c10::IntArrayRef base_sizes, size_t base_itemsize, size_t itemsize) {
  c10::SmallVector<int64_t, 5> result(base_sizes.begin(), base_sizes.end());
  if (base_itemsize == itemsize) return result;
  auto from = static_cast<int64_t>(base_itemsize), to = static_cast<int64_t>(itemsize);
  if (!result.empty() && result.back() * from % to == 0) {
    result.back() = result.back() * from / to;
    return result;
  }
  int64_t numel = 1;
  for (int64_t size : base_sizes) numel *= size;
  return {numel * from / to};
}

}  // namespace torchtpu::views
