// torchtpu._C: what torchtpu's Python side asks of the runtime. Nothing is computed here.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>

#include "cache/compile_pool.h"
#include "cache/memory_tier.h"
#include "dispatch/fallback.h"
#include "dispatch/run_ahead.h"
#include "pjrt/client.h"
#include "pjrt/ffi.h"
#include "pjrt/plugin.h"
#include "python/convert.h"
#include "python/miss_bridge.h"
#include "python/raw_execute.h"
#include "runtime/backward_threads.h"
#include "runtime/device.h"
#include "runtime/eager_mode.h"
#include "runtime/generator.h"
#include "runtime/work.h"
#include "runtime/value_checks.h"

namespace py = pybind11;

namespace torchtpu::python {
namespace {

py::dict cache_stats() {
  auto stats = cache::MemoryTier::get().stats();
  py::dict result;
  result["programs"] = stats.programs;
  result["hits"] = stats.hits;
  result["misses"] = stats.misses;
  result["evictions"] = stats.evictions;
  result["compile_seconds"] = stats.compile_seconds;
  return result;
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;

  m.def("set_plugin_candidates", &pjrt::set_plugin_candidates, py::arg("libtpu_path"), py::arg("cpu_path"));
  m.def("choose_plugin", [] {
    auto choice = pjrt::choose_plugin();
    return py::make_tuple(choice.platform, choice.path, choice.reason);
  });
  // handler: as jaxlib's registrations() have it.
  m.def("register_host_handler",
        [](const std::string& target, const py::capsule& handler) {
          pjrt::register_host_handler(target, PyCapsule_GetPointer(handler.ptr(), "xla._CUSTOM_CALL_TARGET"));
        },
        py::arg("target"), py::arg("handler"));
  m.def("set_miss_handlers", &set_miss_handlers, py::arg("trace"), py::arg("second_look"));

  m.def("initialize", [] { pjrt::Client::get(); }, release_gil());
  m.def("initialized", &pjrt::Client::exists);
  m.def("platform", [] { return pjrt::Client::get().platform(); }, release_gil());
  m.def("platform_version", [] { return pjrt::Client::get().platform_version(); }, release_gil());
  m.def("stablehlo_version", [] { return pjrt::Client::get().stablehlo_version(); }, release_gil());
  m.def("is_available", &runtime::is_available);
  m.def("device_count", [] { return static_cast<int>(runtime::device_count()); }, release_gil());
  m.def("device_kind",
        [](int64_t device) {
          return pjrt::Client::get().device_kind(static_cast<size_t>(runtime::resolve_device(device)));
        },
        release_gil());
  m.def("current_device", [] { return static_cast<int>(runtime::current_device()); });
  m.def("resolve_device", [](int64_t device) { return static_cast<int>(runtime::resolve_device(device)); },
        release_gil());
  m.def("set_device", [](int64_t device) { runtime::set_device(device); }, release_gil());
  m.def("exchange_device",
        [](int64_t device) {
          int previous = runtime::current_device();
          runtime::set_device(device);
          return previous;
        },
        release_gil());
  // For the end of the process: no thread of ours may be inside the plugin while it is torn down, and none of autograd's may need the
  // GIL of an interpreter that is gone, which ends the process with std::terminate.
  m.def("shut_down",
        [] {
          if (!pjrt::Client::exists()) return;
          runtime::await_backward_threads();
          cache::CompilePool::get().stop();
          dispatch::RunAhead::get().drain();
        },
        release_gil());
  m.def("drain", &runtime::drain, release_gil());
  m.def("waits_for_each_op", [] { return runtime::waits_for_each_op.load(); });
  m.def("checks_values", [] { return runtime::checks_values.load(); });
  m.def("set_checks_values", [](bool checks) { runtime::checks_values.store(checks); });
  m.def("set_waits_for_each_op", [](bool waits) { runtime::waits_for_each_op.store(waits); });
  m.def("synchronize", [](int64_t device) { runtime::synchronize(runtime::resolve_device(device)); },
        release_gil());
  m.def("default_generator", [](int64_t device) {
    const auto& generator = runtime::default_generator(runtime::resolve_device(device));
    return py::reinterpret_steal<py::object>(THPGenerator_Wrap(generator));
  });
  m.def("seed_default_generators", &runtime::seed_default_generators, py::arg("seed"));

  // The segments (size, extent, step, view dimension or -1) of a view of a row-major base, or None if only a gather fits.
  m.def("solve_view",
        [](const std::vector<int64_t>& base_sizes, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
           int64_t offset) -> py::object {
          auto plan = views::solve(base_sizes, sizes, strides);
          c10::SmallVector<int64_t, 8> starts;
          if (!plan || !plan->starts(offset, starts)) return py::none();
          return to_python(*plan);
        });

  // For tools/bench: straight through PJRT.
  py::class_<RawProgram>(m, "RawProgram")
      .def(py::init<std::string_view, std::string_view, const std::vector<std::vector<int64_t>>&>(), release_gil(),
           py::arg("program"), py::arg("options"), py::arg("shapes"))
      .def("time", &RawProgram::time, release_gil(), py::arg("calls"), py::arg("chain"))
      .def("wait", &RawProgram::wait, release_gil());
  m.def("time_awaits", &time_awaits, release_gil(), py::arg("calls"));

  m.def("cache_stats", &cache_stats);
  m.def("fallback_counts", &dispatch::fallback_counts);
  m.def("reset_fallback_counts", &dispatch::reset_fallback_counts);
}

}  // namespace torchtpu::python
