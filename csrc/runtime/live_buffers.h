// Every live device buffer of the process.
#pragma once

#include <c10/core/Device.h>

#include <vector>

#include "pjrt/event.h"

namespace torchtpu::runtime {

class DeviceBuffer;

// An intrusive list node: joins on construction, leaves on destruction.
class LiveBufferNode {
 public:
  explicit LiveBufferNode(DeviceBuffer* owner);
  ~LiveBufferNode();
  LiveBufferNode(const LiveBufferNode&) = delete;

  DeviceBuffer* owner() const { return owner_; }
  LiveBufferNode* next() const { return next_; }

 private:
  DeviceBuffer* owner_;
  LiveBufferNode* previous_ = nullptr;
  LiveBufferNode* next_ = nullptr;
};

// The buffer whose storage starts at this address, or null.
DeviceBuffer* find_live_buffer(const void* address);

// The ready event of every buffer on `device` that has been given a value.
std::vector<pjrt::Event> live_buffer_events(c10::DeviceIndex device);

}  // namespace torchtpu::runtime
