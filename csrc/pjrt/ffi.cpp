#include "pjrt/ffi.h"

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "pjrt/error.h"
#include "pjrt/plugin.h"

namespace torchtpu::pjrt {
namespace {

// The part of the interface that we use, which the header of the API leaves to a header of its own.
struct RegisterHandlerArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  int traits;
};

struct FfiExtension {
  PJRT_Extension_Base base;
  void* type_id_register;
  void* user_data_add;
  PJRT_Error* (*register_handler)(RegisterHandlerArgs*);
};

constexpr size_t kArgsSize = offsetof(RegisterHandlerArgs, traits) + sizeof(RegisterHandlerArgs::traits);
constexpr size_t kExtensionSize = sizeof(FfiExtension);

const FfiExtension& find_extension() {
  for (const auto* extension = api().extension_start; extension; extension = extension->next)
    if (extension->type == PJRT_Extension_Type_FFI && extension->struct_size >= kExtensionSize)
      return *reinterpret_cast<const FfiExtension*>(extension);
  throw std::runtime_error("torchtpu: the PJRT plugin " + loaded_plugin().path +
                           " takes no handlers of custom calls, which linear algebra needs");
}

}  // namespace

void register_host_handler(const std::string& target, void* handler) {
  constexpr std::string_view platform = "Host";
  RegisterHandlerArgs args{};
  args.struct_size = kArgsSize;
  args.target_name = target.data();
  args.target_name_size = target.size();
  args.handler = handler;
  args.platform_name = platform.data();
  args.platform_name_size = platform.size();
  const std::string what = "torchtpu: cannot register the handler of the custom call " + target;
  check(find_extension().register_handler(&args), what.c_str());
}

}  // namespace torchtpu::pjrt
