#include "python/convert.h"

#include <torch/csrc/Device.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/autograd/python_variable.h>

namespace py = pybind11;

namespace torchtpu::python {

py::object to_python(const c10::IValue& value) {
  if (value.isTensor()) {
    const auto& tensor = value.toTensor();
    return tensor.defined() ? py::reinterpret_steal<py::object>(THPVariable_Wrap(tensor)) : py::none();
  }
  if (value.isInt()) return py::int_(value.toInt());
  if (value.isUnsigned()) return py::int_(value.toUInt());
  if (value.isBool()) return py::bool_(value.toBool());
  if (value.isDouble()) return py::float_(value.toDouble());
  if (value.isComplexDouble()) {
    auto number = value.toComplexDouble();
    return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(number.real(), number.imag()));
  }
  if (value.isString()) return py::str(value.toStringRef());
  if (value.isDevice()) return py::reinterpret_steal<py::object>(THPDevice_New(value.toDevice()));
  if (value.isList()) {
    py::list list;
    for (const c10::IValue& item : value.toListRef()) list.append(to_python(item));
    return list;
  }
  return py::none();  // None, and generators: a program knows nothing of where its seed comes from
}

py::object to_python(c10::ScalarType dtype) {
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(torch::getTHPDtype(dtype)));
}

py::tuple to_python(c10::IntArrayRef values) {
  py::tuple tuple(values.size());
  for (size_t i = 0; i < values.size(); ++i) tuple[i] = values[i];
  return tuple;
}

py::list to_python(const views::Plan& plan) {
  py::list segments;
  for (const auto& s : plan.segments) segments.append(py::make_tuple(s.size, s.extent, s.step, s.view_dim));
  return segments;
}

c10::ScalarType to_scalar_type(py::handle dtype) {
  TORCH_CHECK_TYPE(THPDtype_Check(dtype.ptr()), "expected a torch.dtype");
  return reinterpret_cast<THPDtype*>(dtype.ptr())->scalar_type;
}

}  // namespace torchtpu::python
