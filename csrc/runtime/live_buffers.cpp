#include "runtime/live_buffers.h"

#include <array>
#include <cstdint>
#include <mutex>
#include "runtime/device_buffer.h"
#include "runtime/spin_lock.h"

namespace torchtpu::runtime {
namespace {

// Tensors come and go with every op on every thread: a few lists, so that threads rarely meet.
struct Shard {
  SpinLock lock;
  LiveBufferNode* head = nullptr;
};

std::array<Shard, 16>& shards() {
  static auto* all = new std::array<Shard, 16>;  // outlives every storage
  return *all;
}

Shard& shard_of(const LiveBufferNode* node) { return shards()[(reinterpret_cast<uintptr_t>(node) >> 8) % 16]; }

}  // namespace

LiveBufferNode::LiveBufferNode(DeviceBuffer* owner) : owner_(owner) {
  Shard& shard = shard_of(this);
  std::lock_guard lock(shard.lock);
  next_ = shard.head;
  if (next_) next_->previous_ = this;
  shard.head = this;
}

LiveBufferNode::~LiveBufferNode() {
  Shard& shard = shard_of(this);
  std::lock_guard lock(shard.lock);
  (previous_ ? previous_->next_ : shard.head) = next_;
  if (next_) next_->previous_ = previous_;
}

namespace {

template <class Predicate>
DeviceBuffer* find(Predicate&& predicate) {
  for (Shard& shard : shards()) {
    std::lock_guard lock(shard.lock);
    for (auto* node = shard.head; node; node = node->next()) {
      if (predicate(*node->owner())) return node->owner();
    }
  }
  return nullptr;
}

}  // namespace

DeviceBuffer* find_live_buffer(const void* address) {
  return find([&](const DeviceBuffer& buffer) { return buffer.address() == address; });
}

DeviceBuffer* find_live_buffer_around(const void* address) {
  const auto* wanted = static_cast<const char*>(address);
  return find([&](const DeviceBuffer& buffer) {
    const auto* begin = static_cast<const char*>(buffer.address());
    return begin && begin <= wanted && wanted < begin + buffer.nbytes();
  });
}

void visit_live_buffers(c10::DeviceIndex device, const std::function<void(DeviceBuffer&)>& visit) {
  for (Shard& shard : shards()) {
    std::lock_guard lock(shard.lock);
    for (auto* node = shard.head; node; node = node->next()) {
      if (node->owner()->device() == device) visit(*node->owner());
    }
  }
}

}  // namespace torchtpu::runtime
