#include "python/miss_bridge.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/Exception.h>
#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>

#include "dispatch/miss.h"
#include "pjrt/client.h"
#include "python/convert.h"

namespace py = pybind11;

namespace torchtpu::python {
namespace {

using dispatch::Call;
using dispatch::MissReply;
using dispatch::MissRequest;

// The dispatcher's state as in a fresh thread, without autograd: no mode, transform or autocast of the caller reaches the meta
// kernels, the lowerings or the second look.
c10::impl::LocalDispatchKeySet clean_state() {
  c10::impl::PODLocalDispatchKeySet pod{};
  pod.set_included(c10::default_included_set.remove(c10::DispatchKey::ADInplaceOrView));
  pod.set_excluded(c10::default_excluded_set | c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  return c10::impl::LocalDispatchKeySet(pod);
}

// Warnings of C++, which PyTorch would hand on to the caller of the op, also of calls that were only tried.
struct Unheard : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// Runs Python code for the dispatcher: with the GIL, in a clean state, without warnings of C++ (what a call is to warn
// of, it must on a hit as well, which comes nowhere near), and with Python's exceptions in the form that PyTorch hands
// on to the caller, across threads too.
template <class F>
auto call_python(F&& body) {
  py::gil_scoped_acquire gil;
  c10::impl::ForceDispatchKeyGuard guard(clean_state());
  Unheard unheard;
  c10::WarningUtils::WarningHandlerGuard silence(&unheard);
  try {
    return body();
  } catch (py::error_already_set& error) {
    error.restore();
    python_error persistent;
    persistent.persist();
    throw persistent;
  }
}

py::list to_list(c10::ArrayRef<c10::IValue> args) {
  py::list list;
  for (const c10::IValue& arg : args) list.append(to_python(arg));
  return list;
}

py::dict describe(const dispatch::Use& use, const std::optional<views::Plan>& plan) {
  const auto& base = use.buffer->base();
  py::dict result;
  result["tensor"] = to_python(*use.tensor);
  result["storage"] = use.storage;
  result["same"] = use.same;
  result["written"] = use.written;
  result["whole"] = use.whole;
  result["base_sizes"] = to_python(c10::IntArrayRef(base.sizes));
  result["base_dtype"] = to_python(base.dtype);
  result["wide"] = base.numel() > INT32_MAX;
  result["segments"] = py::none();
  if (plan) result["segments"] = to_python(*plan);
  return result;
}

py::dict describe(const MissRequest& request) {
  const Call& call = request.call;
  auto& client = pjrt::Client::get();
  py::dict result;
  result["overload"] = call.spec.overload;
  result["entry"] = call.spec.entry;
  result["args"] = to_list(call.args);
  result["resized"] = call.resized;
  py::list uses, numbers, key_sizes;
  for (size_t i = 0; i < call.uses.size(); ++i) uses.append(describe(call.uses[i], request.plans[i]));
  for (const auto& number : call.numbers) {
    bool wrapped = number.tensor && number.tensor->unsafeGetTensorImpl()->is_wrapped_number();
    auto value = number.scalar ? *number.scalar : wrapped ? c10::IValue(number.tensor->item()) : c10::IValue(*number.tensor);
    numbers.append(py::make_tuple(to_python(value), number.specialized));
  }
  result["uses"] = uses;
  result["numbers"] = numbers;
  for (dispatch::KeySize size : call.spec.key_sizes) key_sizes.append(size(call.args));
  result["key_sizes"] = key_sizes;
  result["platform"] = client.platform();
  result["portable"] = client.device_count() > 1;
  result["stablehlo_version"] = client.stablehlo_version();
  return result;
}

runtime::Sizes to_sizes(py::handle values) {
  runtime::Sizes sizes;
  for (auto value : values) sizes.push_back(value.cast<int64_t>());
  return sizes;
}

cache::Format to_format(const std::string& name) {
  static const std::pair<const char*, cache::Format> formats[] = {
      {"f32", cache::Format::F32}, {"f64", cache::Format::F64}, {"s32", cache::Format::S32},
      {"s64", cache::Format::S64}, {"c64", cache::Format::C64}, {"c128", cache::Format::C128}};
  for (auto& [known, format] : formats) {
    if (name == known) return format;
  }
  TORCH_INTERNAL_ASSERT(false, "torchtpu: unknown number format ", name);
}

cache::Output to_output(const py::tuple& output) {
  auto kind = output[0].cast<std::string>();
  if (kind == "error") return {.kind = cache::Output::Kind::Error, .nbytes = sizeof(int32_t)};
  if (kind == "store") {
    return {.kind = cache::Output::Kind::Store, .use = output[1].cast<uint16_t>(), .nbytes = output[2].cast<size_t>()};
  }
  if (kind == "count") {
    return {.kind = cache::Output::Kind::Count, .cut = output[1].cast<uint16_t>(), .axis = output[2].cast<uint16_t>(),
            .nbytes = sizeof(int32_t)};
  }
  cache::Output result{cache::Output::Kind::New};
  result.sizes = to_sizes(output[1]);
  result.strides = to_sizes(output[2]);
  result.base = {to_sizes(output[3]), to_scalar_type(output[4])};
  result.nbytes = static_cast<size_t>(result.base.numel()) * c10::elementSize(result.base.dtype);
  return result;
}

cache::Result to_result(const py::tuple& result) {
  auto kind = result[0].cast<std::string>();
  if (kind == "undefined") return {cache::Result::Kind::Undefined};
  if (kind == "output") return {cache::Result::Kind::Output, result[1].cast<int64_t>()};
  if (kind == "argument") return {cache::Result::Kind::Argument, result[1].cast<int64_t>()};
  if (kind == "integer") return {cache::Result::Kind::Integer, result[1].cast<int64_t>()};
  cache::Result list{cache::Result::Kind::List};
  for (auto item : result[1]) list.items.push_back(to_result(item.cast<py::tuple>()));
  return list;
}

std::unique_ptr<cache::Redirect> to_redirect(const py::dict& reply) {
  auto redirect = std::make_unique<cache::Redirect>();
  if (reply.contains("cpu")) {
    redirect->cpu = reply["cpu"].cast<std::string>();
    return redirect;
  }
  if (!reply.contains("resizes")) return nullptr;
  for (auto item : reply["resizes"]) {
    auto resize = item.cast<py::tuple>();
    redirect->resizes.push_back({resize[0].cast<uint16_t>(), to_sizes(resize[1]), to_sizes(resize[2])});
  }
  return redirect;
}

MissReply to_reply(const py::dict& reply) {
  MissReply result;
  auto& program = result.program;
  program.redirect = to_redirect(reply);
  if (program.redirect) return result;
  result.stablehlo = reply["stablehlo"].cast<std::string>();
  result.options = reply["options"].cast<std::string>();
  program.origin = reply["origin"].cast<std::string>();
  program.has_words = reply["has_words"].cast<bool>();
  program.seeded = reply["seeded"].cast<bool>();
  program.data_sizes = reply["data_sizes"].cast<bool>();
  for (auto item : reply["numbers"]) {
    auto number = item.cast<py::tuple>();
    program.numbers.push_back({number[0].cast<uint16_t>(), to_format(number[1].cast<std::string>())});
  }
  for (auto item : reply["operands"]) {
    auto operand = item.cast<py::tuple>();
    program.operands.push_back({operand[0].cast<uint16_t>(), operand[1].cast<bool>()});
  }
  for (auto item : reply["outputs"]) program.outputs.push_back(to_output(item.cast<py::tuple>()));
  for (auto item : reply["results"]) program.results.push_back(to_result(item.cast<py::tuple>()));
  for (auto item : reply["copies"]) program.copies.push_back(item.cast<std::pair<uint16_t, uint16_t>>());
  return result;
}

}  // namespace

void set_miss_handlers(py::function trace, py::function second_look) {
  // Never destroyed: a program may still be needed while the interpreter shuts down.
  auto* trace_function = new py::function(std::move(trace));
  auto* second_look_function = new py::function(std::move(second_look));
  dispatch::set_miss_handlers({
      [trace_function](const MissRequest& request) {
        return call_python([&] { return to_reply((*trace_function)(describe(request))); });
      },
      [](const std::function<void()>& body) {
        if (!PyGILState_Check()) return body();
        py::gil_scoped_release no_gil;
        body();
      },
      [second_look_function](const dispatch::OpSpec& spec, c10::ArrayRef<c10::IValue> args) {
        call_python([&] { (*second_look_function)(spec.overload, spec.entry, to_list(args)); });
      },
  });
}

}  // namespace torchtpu::python
