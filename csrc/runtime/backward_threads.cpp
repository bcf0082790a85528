#include "runtime/backward_threads.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/engine.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "runtime/device.h"

namespace torchtpu::runtime {
namespace {

// A pass may be under way that never ends. As long as autograd itself waits for its threads at the end of a process.
constexpr std::chrono::seconds kPatience{10};

// A step of a backward pass that does nothing, on the thread of the device of its input.
class Nothing final : public torch::autograd::Node {
 public:
  explicit Nothing(const at::Tensor& input) : Node(torch::autograd::edge_list{}) { add_input_metadata(input); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&&) override { return {}; }
};

void pass_through(c10::DeviceIndex device) {
  auto nothing = at::empty({0}, at::TensorOptions().device(c10::DeviceType::PrivateUse1, device));
  torch::autograd::Edge root(c10::make_intrusive<Nothing>(nothing), 0);
  torch::autograd::Engine::get_default_engine().execute({root}, {nothing}, /*keep_graph=*/false, /*create_graph=*/false,
                                                        /*accumulate_grad=*/true);
}

}  // namespace

void await_backward_threads() {
  // A pass returns before the thread that ended it has dropped the pass's state. Each thread takes one pass after another, so what
  // it drops has been dropped when the next pass has gone through it. That one is begun by a thread without Python's hooks, modes
  // and stashed objects, which are part of a pass's state: dropping it needs no GIL.
  auto done = std::make_shared<std::promise<void>>();
  std::thread([done] {
    try {
      for (c10::DeviceIndex device = 0; device < device_count(); ++device) pass_through(device);
    } catch (const std::exception&) {  // a device that takes no more work has nothing to be waited for
    }
    done->set_value();
  }).detach();
  done->get_future().wait_for(kPatience);
}

}  // namespace torchtpu::runtime
