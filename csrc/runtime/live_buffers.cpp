#include "runtime/live_buffers.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/device_buffer.h"
#include "runtime/errors.h"
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

DeviceBuffer* find_live_buffer(const void* address) {
  for (Shard& shard : shards()) {
    std::lock_guard lock(shard.lock);
    for (auto* node = shard.head; node; node = node->next()) {
      if (node->owner()->address() == address) return node->owner();
    }
  }
  return nullptr;
}

void await_live_buffers(c10::DeviceIndex device) {
  std::vector<Value> values;
  for (Shard& shard : shards()) {
    std::lock_guard lock(shard.lock);
    for (auto* node = shard.head; node; node = node->next()) {
      if (node->owner()->device() != device) continue;
      if (auto value = node->owner()->peek(); value.buffer || value.pending) values.push_back(std::move(value));
    }
  }
  FailureRef failure;
  guarded("synchronize", [&] {
    for (auto& [buffer, pending] : values) {
      if (pending) {
        pending->wait();
        buffer = pending->buffer();
        if (!failure && pending->failure() && !pending->failure()->reported()) failure = pending->failure();
      }
      if (buffer) buffer->await();
    }
  });
  if (failure) failure->raise();
}

}  // namespace torchtpu::runtime
