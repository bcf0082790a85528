#include "pjrt/client.h"

#include <cstring>
#include <mutex>
#include <stdexcept>

#include "pjrt/environment.h"
#include "pjrt/error.h"
#include "pjrt/event.h"

namespace torchtpu::pjrt {
namespace {

int64_t cpu_device_count() { return environment_number("TORCHTPU_CPU_DEVICES", 1, 1, kMaxDevices); }

PJRT_Client* create_raw_client(const PluginChoice& plugin) {
  TORCHTPU_PJRT_ARGS(PJRT_NamedValue, device_count);
  device_count.name = "cpu_device_count";
  device_count.name_size = std::strlen(device_count.name);
  device_count.type = PJRT_NamedValue_kInt64;
  device_count.value_size = 1;

  TORCHTPU_PJRT_ARGS(PJRT_Client_Create_Args, args);
  if (plugin.platform == "cpu") {
    device_count.int64_value = cpu_device_count();
    args.create_options = &device_count;
    args.num_options = 1;
  }
  const std::string what = "torchtpu: cannot start the " + plugin.platform + " platform with " + plugin.path;
  check(api().PJRT_Client_Create(&args), what.c_str());
  return args.client;
}

std::vector<PJRT_Device*> addressable_devices(PJRT_Client* client) {
  TORCHTPU_PJRT_ARGS(PJRT_Client_AddressableDevices_Args, args);
  args.client = client;
  check(api().PJRT_Client_AddressableDevices(&args), "torchtpu: cannot list the devices");
  return {args.addressable_devices, args.addressable_devices + args.num_addressable_devices};
}

std::string read_platform_name(PJRT_Client* client) {
  TORCHTPU_PJRT_ARGS(PJRT_Client_PlatformName_Args, args);
  args.client = client;
  check(api().PJRT_Client_PlatformName(&args), "torchtpu: cannot read the name of the platform");
  return {args.platform_name, args.platform_name_size};
}

std::string read_platform_version(PJRT_Client* client) {
  TORCHTPU_PJRT_ARGS(PJRT_Client_PlatformVersion_Args, args);
  args.client = client;
  check(api().PJRT_Client_PlatformVersion(&args), "torchtpu: cannot read the version of the platform");
  return {args.platform_version, args.platform_version_size};
}

std::string read_stablehlo_version(const PluginChoice& plugin) {
  TORCHTPU_PJRT_ARGS(PJRT_Plugin_Attributes_Args, args);
  check(api().PJRT_Plugin_Attributes(&args), "torchtpu: cannot read the attributes of the plugin");
  for (size_t i = 0; i < args.num_attributes; ++i) {
    const PJRT_NamedValue& attribute = args.attributes[i];
    if (std::string_view(attribute.name, attribute.name_size) != "stablehlo_current_version") continue;
    if (attribute.type != PJRT_NamedValue_kInt64List || attribute.value_size != 3) break;
    const int64_t* parts = attribute.int64_array_value;
    return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
  }
  throw std::runtime_error("torchtpu: the PJRT plugin " + plugin.path + " does not tell its StableHLO version");
}

}  // namespace

std::atomic<Client*> Client::instance_{nullptr};

std::optional<size_t> Client::device_count_to_come() {
  if (choose_plugin().platform != "cpu") return std::nullopt;
  return static_cast<size_t>(cpu_device_count());
}

Client& Client::create() {
  api();  // throws in a forked child, before the lock: its holder may not have survived the fork
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (Client* client = instance_.load(std::memory_order_acquire)) return *client;
  auto* client = new Client();
  instance_.store(client, std::memory_order_release);
  return *client;
}

Client::Client() {
  api();
  const PluginChoice& plugin = loaded_plugin();
  stablehlo_version_ = read_stablehlo_version(plugin);  // before the client: nothing to undo when it throws
  raw_ = create_raw_client(plugin);
  devices_ = addressable_devices(raw_);
  if (devices_.size() > kMaxDevices)
    throw std::runtime_error("torchtpu: more than " + std::to_string(kMaxDevices) + " devices in one process");
  platform_ = read_platform_name(raw_);
  platform_version_ = read_platform_version(raw_);
  host_can_read_ = platform_ == "cpu";
}

PJRT_Device* Client::device(size_t index) const {
  if (index >= devices_.size())
    throw std::runtime_error("torchtpu: invalid device index " + std::to_string(index) + "; number of devices: " +
                             std::to_string(devices_.size()));
  return devices_[index];
}

std::string Client::device_kind(size_t index) const {
  TORCHTPU_PJRT_ARGS(PJRT_Device_GetDescription_Args, description);
  description.device = device(index);
  check(api().PJRT_Device_GetDescription(&description), "torchtpu: cannot describe a device");
  TORCHTPU_PJRT_ARGS(PJRT_DeviceDescription_Kind_Args, kind);
  kind.device_description = description.device_description;
  check(api().PJRT_DeviceDescription_Kind(&kind), "torchtpu: cannot describe a device");
  return {kind.device_kind, kind.device_kind_size};
}

struct Client::Upload {
  PJRT_Buffer* buffer;
  Event done_with_host;
};

Client::Upload Client::upload(const void* data, PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims,
                              size_t device, PJRT_HostBufferSemantics semantics) {
  TORCHTPU_PJRT_ARGS(PJRT_Client_BufferFromHostBuffer_Args, args);
  args.client = raw_;
  args.data = data;
  args.type = type;
  args.dims = dims;
  args.num_dims = num_dims;
  args.host_buffer_semantics = semantics;
  args.device = this->device(device);
  check(api().PJRT_Client_BufferFromHostBuffer(&args), "torchtpu: cannot copy to the device");
  return {args.buffer, Event(args.done_with_host_buffer)};
}

Buffer* Client::from_host(const void* data, size_t bytes, PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims,
                          size_t device, Holder holder) {
  // Done with the host's memory on return.
  auto made = upload(data, type, dims, num_dims, device, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
  return new Buffer(made.buffer, bytes, device, holder);
}

Buffer* Client::adopt_host(std::shared_ptr<const void> owner, const void* data, size_t bytes, PJRT_Buffer_Type type,
                           const int64_t* dims, size_t num_dims, size_t device) {
  // Mutable: a program that the buffer is donated to may write where it lies.
  auto made = upload(data, type, dims, num_dims, device, PJRT_HostBufferSemantics_kMutableZeroCopy);
  auto buffer = std::make_unique<Buffer>(made.buffer, bytes, device);
  made.done_with_host.on_ready([owner = std::move(owner)](std::exception_ptr) {});
  return buffer.release();
}

Buffer* Client::copy_to_device(const Buffer& source, size_t device) {
  TORCHTPU_PJRT_ARGS(PJRT_Buffer_CopyToDevice_Args, args);
  args.buffer = source.raw();
  args.dst_device = this->device(device);
  check(api().PJRT_Buffer_CopyToDevice(&args), "torchtpu: cannot copy between devices");
  return new Buffer(args.dst_buffer, source.bytes(), device);
}

std::unique_ptr<Executable> Client::compile(std::string_view program, std::string_view options) {
  static constexpr std::string_view format = "mlir";
  // The API takes pointers to mutable text but only reads it.
  TORCHTPU_PJRT_ARGS(PJRT_Program, source);
  source.code = const_cast<char*>(program.data());
  source.code_size = program.size();
  source.format = format.data();
  source.format_size = format.size();

  TORCHTPU_PJRT_ARGS(PJRT_Client_Compile_Args, args);
  args.client = raw_;
  args.program = &source;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  check(api().PJRT_Client_Compile(&args), "torchtpu: cannot compile a program");
  return std::make_unique<Executable>(args.executable);
}

std::unique_ptr<Executable> Client::deserialize(std::string_view serialized) {
  TORCHTPU_PJRT_ARGS(PJRT_Executable_DeserializeAndLoad_Args, args);
  args.client = raw_;
  args.serialized_executable = serialized.data();
  args.serialized_executable_size = serialized.size();
  check(api().PJRT_Executable_DeserializeAndLoad(&args), "torchtpu: cannot load a program");
  return std::make_unique<Executable>(args.loaded_executable);
}

Client::MemoryStats Client::memory_stats(size_t device) const {
  constexpr MemoryStats unknown{-1, -1};
  TORCHTPU_PJRT_ARGS(PJRT_Device_MemoryStats_Args, args);
  args.device = this->device(device);
  if (PJRT_Error* error = api().PJRT_Device_MemoryStats(&args)) {
    ignore(error);  // the platform does not keep count
    return unknown;
  }
  return {args.bytes_in_use, args.bytes_limit_is_set ? args.bytes_limit : -1};
}

}  // namespace torchtpu::pjrt
