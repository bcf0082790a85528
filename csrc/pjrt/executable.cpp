#include "pjrt/executable.h"

#include "pjrt/error.h"
#include "pjrt/plugin.h"

namespace torchtpu::pjrt {
namespace {

// The description of a loaded executable, which holds no code of its own.
class Description {
 public:
  explicit Description(PJRT_LoadedExecutable* loaded) {
    TORCHTPU_PJRT_ARGS(PJRT_LoadedExecutable_GetExecutable_Args, args);
    args.loaded_executable = loaded;
    check(api().PJRT_LoadedExecutable_GetExecutable(&args), "torchtpu: cannot describe a program");
    raw_ = args.executable;
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() {
    const PJRT_Api* table = loaded_api();
    if (!table) return;
    TORCHTPU_PJRT_ARGS(PJRT_Executable_Destroy_Args, args);
    args.executable = raw_;
    ignore(table->PJRT_Executable_Destroy(&args));
  }
  PJRT_Executable* raw() const { return raw_; }

 private:
  PJRT_Executable* raw_;
};

void destroy(PJRT_LoadedExecutable* executable) noexcept {
  const PJRT_Api* table = loaded_api();
  if (!table) return;
  TORCHTPU_PJRT_ARGS(PJRT_LoadedExecutable_Destroy_Args, args);
  args.executable = executable;
  ignore(table->PJRT_LoadedExecutable_Destroy(&args));
}

PJRT_Device* home_device(PJRT_LoadedExecutable* executable) {
  TORCHTPU_PJRT_ARGS(PJRT_LoadedExecutable_AddressableDevices_Args, args);
  args.executable = executable;
  check(api().PJRT_LoadedExecutable_AddressableDevices(&args), "torchtpu: cannot list the devices of a program");
  return args.num_addressable_devices == 1 ? args.addressable_devices[0] : nullptr;
}

size_t count_outputs(PJRT_LoadedExecutable* executable) {
  const Description description(executable);
  TORCHTPU_PJRT_ARGS(PJRT_Executable_NumOutputs_Args, args);
  args.executable = description.raw();
  check(api().PJRT_Executable_NumOutputs(&args), "torchtpu: cannot count the outputs of a program");
  return args.num_outputs;
}

}  // namespace

Executable::Executable(PJRT_LoadedExecutable* raw) : raw_(raw) {
  try {
    home_ = home_device(raw);
    num_outputs_ = count_outputs(raw);
  } catch (...) {
    destroy(raw);
    throw;
  }
}

Executable::~Executable() { destroy(raw_); }

void Executable::execute(PJRT_Device* device, PJRT_Buffer* const* arguments, size_t num_arguments,
                         const int64_t* non_donatable, size_t num_non_donatable, PJRT_Buffer** outputs) const {
  TORCHTPU_PJRT_ARGS(PJRT_ExecuteOptions, options);
  options.non_donatable_input_indices = non_donatable;
  options.num_non_donatable_input_indices = num_non_donatable;

  TORCHTPU_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args, args);
  args.executable = raw_;
  args.options = &options;
  args.argument_lists = &arguments;
  args.num_devices = 1;
  args.num_args = num_arguments;
  args.output_lists = &outputs;
  args.execute_device = device == home_ ? nullptr : device;
  check(api().PJRT_LoadedExecutable_Execute(&args), "torchtpu: cannot run a program");
}

std::string Executable::serialize() const {
  const Description description(raw_);
  TORCHTPU_PJRT_ARGS(PJRT_Executable_Serialize_Args, args);
  args.executable = description.raw();
  check(api().PJRT_Executable_Serialize(&args), "torchtpu: cannot serialize a program");
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

}  // namespace torchtpu::pjrt
