// The one PJRT plugin of the process: which shared library it is, and why; loaded once.
#pragma once

#include <atomic>
#include <string>

#include "pjrt_c_api.h"

namespace torchtpu::pjrt {

struct PluginChoice {
  std::string platform;  // "tpu" or "cpu"
  std::string path;      // of the shared library
  std::string reason;    // for people: why this one
};

// Where the packages of the two platforms keep their libraries ("" when not installed): told by Python before first
// use, since only Python knows its packages.
void set_plugin_candidates(std::string libtpu_path, std::string cpu_plugin_path);

// Decides without loading anything. Environment: TORCHTPU_PJRT_PLUGIN names a library; TORCHTPU_PLATFORM=auto|tpu|cpu,
// where `auto` looks for a TPU in sysfs, whose PCI devices are listed in the folder `pci_devices` (another one in
// tests). Throws std::runtime_error with one line that says what to install when there is no plugin.
PluginChoice choose_plugin(const std::string& pci_devices = "/sys/bus/pci/devices");

namespace detail {
extern std::atomic<const PJRT_Api*> table;
const PJRT_Api& load_api();
}  // namespace detail

// The function table of the plugin once api() has loaded it; null before, and in a forked child, where destructors leak
// what they cannot free.
inline const PJRT_Api* loaded_api() noexcept { return detail::table.load(std::memory_order_acquire); }

// The function table of the chosen plugin; the first call loads and initializes it. Thread-safe. Threads do not survive
// a fork, so in a forked child of a process that had loaded the plugin it throws: no call can reach PJRT there.
inline const PJRT_Api& api() {
  const PJRT_Api* loaded = loaded_api();
  return loaded ? *loaded : detail::load_api();
}

// The choice behind api(); valid once api() returned.
const PluginChoice& loaded_plugin();

}  // namespace torchtpu::pjrt
