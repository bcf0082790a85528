// Errors of the PJRT C API as C++ exceptions, and how an argument struct is made.
#pragma once

#include <stdexcept>
#include <string>

#include "pjrt_c_api.h"

// Declares `name`, a zeroed argument struct of the PJRT C API that carries its size, which lets plugins of other
// versions work.
#define TORCHTPU_PJRT_ARGS(type, name) \
  type name{};                         \
  name.struct_size = type##_STRUCT_SIZE

namespace torchtpu::pjrt {

class Error : public std::runtime_error {
 public:
  Error(PJRT_Error_Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  PJRT_Error_Code code() const { return code_; }

 private:
  PJRT_Error_Code code_;
};

[[noreturn]] void throw_error(PJRT_Error* error, const char* what);

// Throws an Error that starts with `what` and destroys `error`; returns at once when it is null.
inline void check(PJRT_Error* error, const char* what) {
  if (error) [[unlikely]]
    throw_error(error, what);
}

// Destroys `error`, if any: for destructors, which have nobody to tell.
void ignore(PJRT_Error* error) noexcept;

}  // namespace torchtpu::pjrt
