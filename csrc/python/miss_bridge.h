// The miss path's two Python functions as C++ handlers.
#pragma once

#include <pybind11/pybind11.h>

namespace torchtpu::python {

// trace(request: dict) -> dict and second_look(overload: str, entry: str, args: list); torchtpu/miss says what the dicts hold.
void set_miss_handlers(pybind11::function trace, pybind11::function second_look);

}  // namespace torchtpu::python
