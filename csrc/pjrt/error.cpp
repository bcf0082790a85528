#include "pjrt/error.h"

#include "pjrt/plugin.h"

namespace torchtpu::pjrt {

void ignore(PJRT_Error* error) noexcept {
  const PJRT_Api* table = loaded_api();
  if (!error || !table) return;
  TORCHTPU_PJRT_ARGS(PJRT_Error_Destroy_Args, destroy);
  destroy.error = error;
  table->PJRT_Error_Destroy(&destroy);
}

void throw_error(PJRT_Error* error, const char* what) {
  TORCHTPU_PJRT_ARGS(PJRT_Error_Message_Args, message);
  message.error = error;
  api().PJRT_Error_Message(&message);
  std::string text = std::string(what) + ": " + std::string(message.message, message.message_size);

  TORCHTPU_PJRT_ARGS(PJRT_Error_GetCode_Args, code);
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  ignore(api().PJRT_Error_GetCode(&code));

  ignore(error);
  throw Error(code.code, text);
}

}  // namespace torchtpu::pjrt
