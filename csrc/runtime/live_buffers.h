// Every live device buffer of the process.
#pragma once

#include <c10/core/Device.h>

#include <functional>

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
// The buffer whose storage this address lies in, or null.
DeviceBuffer* find_live_buffer_around(const void* address);

// Calls `visit` with every buffer on `device`. It must be quick, and may neither make nor destroy one.
void visit_live_buffers(c10::DeviceIndex device, const std::function<void(DeviceBuffer&)>& visit);

}  // namespace torchtpu::runtime
