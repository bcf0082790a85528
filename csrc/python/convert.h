// Values of the dispatcher as Python objects. All functions need the GIL.
#pragma once

#include <ATen/core/ivalue.h>
#include <pybind11/pybind11.h>

#include "views/plan.h"

namespace torchtpu::python {

pybind11::object to_python(const c10::IValue& value);
pybind11::object to_python(c10::ScalarType dtype);
pybind11::tuple to_python(c10::IntArrayRef values);
// [(size, extent, step, view dimension or -1), ...]
pybind11::list to_python(const views::Plan& plan);
c10::ScalarType to_scalar_type(pybind11::handle dtype);

}  // namespace torchtpu::python
