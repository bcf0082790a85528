#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include "pjrt/error.h"

namespace torchtpu::pjrt {
namespace {

std::mutex mutex;  // guards the next three; a forked child may find it held for ever
std::string libtpu_candidate;
std::string cpu_candidate;
PluginChoice loaded_choice;
std::atomic<bool> forked{false};

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error("torchtpu: " + message); }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string first_word(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

// A PCI device of Google's that is neither storage nor network: virtual machines of Google Cloud without a TPU have a
// network card and disks of the same vendor.
bool is_tpu(const std::filesystem::path& device) {
  if (first_word(device / "vendor") != "0x1ae0") return false;
  const std::string pci_class = first_word(device / "class");
  return pci_class.rfind("0x01", 0) != 0 && pci_class.rfind("0x02", 0) != 0;
}

bool has_tpu(const std::string& pci_devices) {
  std::error_code missing;  // no sysfs, no TPU
  for (const auto& device : std::filesystem::directory_iterator(pci_devices, missing))
    if (is_tpu(device.path())) return true;
  return false;
}

// What an explicitly named library is for, as far as its name tells.
std::string platform_of(const std::string& path) {
  return std::filesystem::path(path).filename().string().find("libtpu") != std::string::npos ? "tpu" : "cpu";
}

PluginChoice choose(const std::string& pci_devices) {
  const std::string platform = environment("TORCHTPU_PLATFORM");
  const bool is_auto = platform.empty() || platform == "auto";
  if (!is_auto && platform != "tpu" && platform != "cpu")
    fail("TORCHTPU_PLATFORM is \"" + platform + "\"; it must be one of auto, tpu, cpu");

  if (const std::string path = environment("TORCHTPU_PJRT_PLUGIN"); !path.empty())
    return {is_auto ? platform_of(path) : platform, path, "TORCHTPU_PJRT_PLUGIN names it"};

  const bool tpu_found = is_auto && has_tpu(pci_devices);
  const std::string reason = !is_auto    ? "TORCHTPU_PLATFORM=" + platform
                             : tpu_found ? "this machine has a TPU"
                                         : "this machine has no TPU";
  if (tpu_found || platform == "tpu") {
    if (libtpu_candidate.empty())
      fail(reason + " but libtpu is not installed; install it with: pip install \"torchtpu[tpu]\"" +
           (tpu_found ? " (or set TORCHTPU_PLATFORM=cpu)" : ""));
    return {"tpu", libtpu_candidate, reason};
  }
  if (cpu_candidate.empty())
    fail(
        "no PJRT plugin for the CPU platform; install it with: pip install \"torchtpu[cpu]\" (or name one in "
        "TORCHTPU_PJRT_PLUGIN)");
  return {"cpu", cpu_candidate, reason};
}

// Plugins log to stderr what they also return as an error; they read this variable once, while they load.
class QuietPlugin {
 public:
  QuietPlugin() : set_(!std::getenv(variable)) {
    if (set_) setenv(variable, "3", 0);
  }
  ~QuietPlugin() {
    if (set_) unsetenv(variable);
  }

 private:
  static constexpr char variable[] = "TF_CPP_MIN_LOG_LEVEL";
  bool set_;
};

const PJRT_Api* open(const std::string& path) {
  const QuietPlugin quiet;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) fail("cannot load the PJRT plugin " + path + ": " + dlerror());
  auto get_api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  const PJRT_Api* table = get_api ? get_api() : nullptr;
  if (!table) fail(path + " is not a PJRT plugin: it has no GetPjrtApi");
  // Everything we call unconditionally lies before this member.
  constexpr size_t needed = offsetof(PJRT_Api, PJRT_TopologyDescription_Create);
  const PJRT_Api_Version& version = table->pjrt_api_version;
  if (version.major_version != PJRT_API_MAJOR || table->struct_size < needed)
    fail("the PJRT plugin " + path + " speaks version " + std::to_string(version.major_version) + "." +
         std::to_string(version.minor_version) + " of the PJRT API; torchtpu needs version " +
         std::to_string(PJRT_API_MAJOR) + "." + std::to_string(PJRT_API_MINOR) + " or a newer minor one");
  return table;
}

// Errors of the initialization are turned into text by hand: check() needs the table that is not published yet.
void initialize(const PJRT_Api& table, const std::string& path) {
  TORCHTPU_PJRT_ARGS(PJRT_Plugin_Initialize_Args, args);
  PJRT_Error* error = table.PJRT_Plugin_Initialize(&args);
  if (!error) return;
  TORCHTPU_PJRT_ARGS(PJRT_Error_Message_Args, message);
  message.error = error;
  table.PJRT_Error_Message(&message);
  const std::string text(message.message, message.message_size);
  TORCHTPU_PJRT_ARGS(PJRT_Error_Destroy_Args, destroy);
  destroy.error = error;
  table.PJRT_Error_Destroy(&destroy);
  fail("cannot initialize the PJRT plugin " + path + ": " + text);
}

void disown() {
  forked.store(true, std::memory_order_release);
  detail::table.store(nullptr, std::memory_order_release);
}

}  // namespace

std::atomic<const PJRT_Api*> detail::table{nullptr};

void set_plugin_candidates(std::string libtpu_path, std::string cpu_plugin_path) {
  std::lock_guard lock(mutex);
  libtpu_candidate = std::move(libtpu_path);
  cpu_candidate = std::move(cpu_plugin_path);
}

PluginChoice choose_plugin(const std::string& pci_devices) {
  std::lock_guard lock(mutex);
  return choose(pci_devices);
}

const PJRT_Api& detail::load_api() {
  if (forked.load(std::memory_order_acquire))
    fail(
        "cannot use the tpu device in a forked subprocess: to use it with multiprocessing, you must use the 'spawn' or "
        "'forkserver' start method");
  std::lock_guard lock(mutex);
  if (const PJRT_Api* loaded = loaded_api()) return *loaded;
  PluginChoice choice = choose("/sys/bus/pci/devices");
  const PJRT_Api* opened = open(choice.path);
  initialize(*opened, choice.path);
  loaded_choice = std::move(choice);
  static const int registered = pthread_atfork(nullptr, nullptr, disown);
  if (registered != 0) fail("pthread_atfork failed: out of memory");
  detail::table.store(opened, std::memory_order_release);
  return *opened;
}

const PluginChoice& loaded_plugin() { return loaded_choice; }

}  // namespace torchtpu::pjrt
