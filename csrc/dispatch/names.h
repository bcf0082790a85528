// Names of overloads, as the generated tables and the dispatcher spell them.
#pragma once

#include <ATen/core/operator_name.h>

#include <string>

namespace torchtpu::dispatch {

// "add_.Tensor" is {aten::add_, Tensor}; "tpu::copy_" names its namespace itself.
inline c10::OperatorName operator_name(const char* overload) {
  std::string name = overload;
  auto dot = name.find('.');
  auto base = name.substr(0, dot);
  if (base.find("::") == std::string::npos) base = "aten::" + base;
  return {std::move(base), dot == std::string::npos ? "" : name.substr(dot + 1)};
}

}  // namespace torchtpu::dispatch
