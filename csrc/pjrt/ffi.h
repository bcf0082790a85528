// The plugin's foreign function interface: what the custom calls of a program on the CPU platform are bound to.
#pragma once

#include <string>

namespace torchtpu::pjrt {

// Tells the plugin of `handler`, an XLA_FFI_Handler, for the custom calls named `target`; for the whole process, before the
// first program that needs it is compiled or loaded. Throws an Error for a target that the plugin knows already, and
// std::runtime_error for a plugin that cannot be told.
void register_host_handler(const std::string& target, void* handler);

}  // namespace torchtpu::pjrt
