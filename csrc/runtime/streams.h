// Streams: names. All streams of a device share its one queue, so that what any of them runs is in the order in which
// the process issued it, and none runs beside another. A program that is right with concurrent streams is right here.
#pragma once

#include <c10/core/Stream.h>

namespace torchtpu::runtime {

c10::Stream default_stream(c10::DeviceIndex device);
// A stream that no earlier call returned.
c10::Stream new_stream(c10::DeviceIndex device);
// The calling thread's current stream on a device.
c10::Stream current_stream(c10::DeviceIndex device);
// Makes `stream` current on its device; returns the one that was. The current device stays.
c10::Stream exchange_stream(c10::Stream stream);

}  // namespace torchtpu::runtime
