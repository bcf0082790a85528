#include "dispatch/formula.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "dispatch/names.h"

namespace torchtpu::dispatch {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;
using torch::jit::Stack;

constexpr auto kComposition = c10::DispatchKey::CompositeImplicitAutograd;

// Calls visit(tensor) for each place in which a value can hold a tensor, an absent one included.
template <class Visit>
void visit_tensors(const c10::Argument& argument, const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& item : value.toListRef()) visit(item.isTensor() ? item.toTensor() : at::Tensor());
  } else if (value.isNone() && argument.type()->isSubtypeOf(*c10::OptionalType::ofTensor())) {
    visit(at::Tensor());
  }
}

variable_list tensors_of(c10::ArrayRef<c10::Argument> arguments, c10::ArrayRef<c10::IValue> values) {
  variable_list tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    visit_tensors(arguments[i], values[i], [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  }
  return tensors;
}

c10::OperatorHandle find(const char* overload) {
  auto name = operator_name(overload);
  return c10::Dispatcher::singleton().findSchemaOrThrow(name.name.c_str(), name.overload_name.c_str());
}

c10::IValue optional_tensor(const at::Tensor& tensor) { return tensor.defined() ? c10::IValue(tensor) : c10::IValue(); }

class Formula final : public torch::autograd::Node {
 public:
  Formula(const FormulaSpec& spec, c10::OperatorHandle op, c10::ArrayRef<c10::IValue> args)
      : spec_(spec), op_(std::move(op)), backward_(find(spec.backward)) {
    for (size_t i = 0; i < args.size(); ++i) arguments_.push_back(save(i, args[i]));
  }

  void save_outputs(const variable_list& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      bool needed = binds({Binding::Kind::Output, static_cast<uint16_t>(i)});
      outputs_.push_back(needed ? SavedVariable(outputs[i], /*is_output=*/true) : SavedVariable());
    }
  }

  std::string name() const override { return std::string(spec_.overload) + "Backward"; }

  void release_variables() override {
    std::lock_guard lock(mutex_);
    for (auto& argument : arguments_) {
      for (auto& tensor : argument.tensors) tensor.reset_data();
    }
    for (auto& output : outputs_) output.reset_data();
  }

  variable_list apply(variable_list&& gradients) override {
    std::lock_guard lock(mutex_);
    return at::GradMode::is_enabled() ? differentiate_composition(gradients) : call_backward(gradients);
  }

 private:
  // An argument of the forward call: its tensors, in the places of `value`, or the value itself.
  struct Saved {
    size_t slot = 0;  // the edge of its first tensor
    std::vector<SavedVariable> tensors;
    c10::IValue value;
    bool is_list = false, kept = true;
  };

  bool binds(Binding wanted) const {
    return std::any_of(spec_.arguments.begin(), spec_.arguments.end(), [&](const Binding& binding) {
      return binding.kind == wanted.kind && binding.index == wanted.index;
    });
  }

  Saved save(size_t index, const c10::IValue& value) {
    Saved saved{slots_};
    saved.kept = binds({Binding::Kind::Argument, static_cast<uint16_t>(index)});
    saved.is_list = value.isTensorList() || value.isOptionalTensorList();
    visit_tensors(op_.schema().arguments()[index], value, [&](const at::Tensor& tensor) {
      saved.tensors.push_back(saved.kept ? SavedVariable(tensor, /*is_output=*/false) : SavedVariable());
      ++slots_;
    });
    if (saved.tensors.empty()) saved.value = value;
    return saved;
  }

  c10::IValue unpack(Saved& saved) {
    if (saved.is_list) {
      c10::List<at::Tensor> list;
      for (auto& tensor : saved.tensors) list.push_back(tensor.unpack());
      return list;
    }
    return saved.tensors.empty() ? saved.value : optional_tensor(saved.tensors[0].unpack());
  }

  c10::IValue argument_of_backward(const Binding& binding, const c10::Argument& argument, variable_list& gradients) {
    switch (binding.kind) {
      case Binding::Kind::Gradient: {
        auto& gradient = gradients[binding.index];
        bool optional = argument.type()->kind() == c10::TypeKind::OptionalType;
        if (!gradient.defined() && !optional) return input_metadata(binding.index).zeros_like();
        return optional_tensor(gradient);
      }
      case Binding::Kind::Argument: return unpack(arguments_[binding.index]);
      case Binding::Kind::Output: return outputs_[binding.index].unpack(getptr());
      case Binding::Kind::Mask: break;
    }
    c10::List<bool> mask;
    for (uint16_t index : spec_.wrt) mask.push_back(wanted(arguments_[index]));
    return mask;
  }

  bool wanted(const Saved& saved) const {
    for (size_t i = 0; i < saved.tensors.size(); ++i) {
      if (task_should_compute_output(saved.slot + i)) return true;
    }
    return false;
  }

  variable_list call_backward(variable_list& gradients) {
    Stack stack;
    for (size_t i = 0; i < spec_.arguments.size(); ++i) {
      stack.push_back(argument_of_backward(spec_.arguments[i], backward_.schema().arguments()[i], gradients));
    }
    backward_.callBoxed(stack);
    variable_list result(slots_);
    for (size_t i = 0; i < spec_.wrt.size(); ++i) {
      const Saved& saved = arguments_[spec_.wrt[i]];
      size_t slot = saved.slot;
      visit_tensors(backward_.schema().returns()[i], stack[i], [&](const at::Tensor& gradient) {
        if (task_should_compute_output(slot)) result[slot] = gradient;
        ++slot;
      });
    }
    return result;
  }

  // The gradient as a function of the saved tensors that autograd can follow: torch's composition, run again and differentiated.
  variable_list differentiate_composition(const variable_list& gradients) {
    TORCH_CHECK_NOT_IMPLEMENTED(op_.hasKernelForDispatchKey(kComposition), "derivative for ", spec_.backward,
                                " is not implemented");
    Stack stack;
    for (auto& saved : arguments_) {
      TORCH_CHECK_NOT_IMPLEMENTED(saved.kept || saved.tensors.empty(), "derivative for ", spec_.backward,
                                  " is not implemented: ", spec_.overload, " does not save all of its arguments");
      stack.push_back(unpack(saved));
    }
    auto inputs = tensors_of(op_.schema().arguments(), stack);
    c10::impl::ExcludeDispatchKeyGuard without_autocast(c10::autocast_dispatch_keyset);
    c10::Dispatcher::singleton().callBoxedForDispatchKey(op_, kComposition, &stack);
    auto outputs = tensors_of(op_.schema().returns(), stack);

    variable_list reached, weights, wrt;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
      reached.push_back(outputs[i]);
      weights.push_back(gradients[i]);
    }
    std::vector<size_t> slots;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      if (!inputs[slot].defined() || !inputs[slot].requires_grad() || !task_should_compute_output(slot)) continue;
      wrt.push_back(inputs[slot]);
      slots.push_back(slot);
    }
    variable_list result(slots_);
    if (reached.empty() || wrt.empty()) return result;
    auto found = torch::autograd::grad(reached, wrt, weights, /*retain_graph=*/true, /*create_graph=*/true,
                                       /*allow_unused=*/true);
    for (size_t i = 0; i < slots.size(); ++i) result[slots[i]] = found[i];
    return result;
  }

  const FormulaSpec& spec_;
  c10::OperatorHandle op_, backward_;
  size_t slots_ = 0;
  std::vector<Saved> arguments_;
  std::vector<SavedVariable> outputs_;
};

class FormulaKernel final : public c10::OperatorKernel {
 public:
  explicit FormulaKernel(const FormulaSpec& spec) : spec_(spec) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    auto args = torch::jit::last(*stack, op.schema().arguments().size());
    auto inputs = tensors_of(op.schema().arguments(), args);
    bool forward_mode = std::any_of(inputs.begin(), inputs.end(), torch::autograd::isFwGradDefined);
    // torch.func: below this level there may be others, which know torch's ops but not all of its composed ones.
    bool transformed = c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerBackMode);
    bool composed = op.hasKernelForDispatchKey(kComposition);
    TORCH_CHECK_NOT_IMPLEMENTED(composed || !forward_mode, "Trying to use forward AD with ", spec_.overload,
                                " that does not support it because it has not been implemented yet.");
    if (composed && (forward_mode || transformed)) {
      c10::Dispatcher::singleton().callBoxedForDispatchKey(op, kComposition, stack);
      return;
    }
    c10::intrusive_ptr<Formula> formula;
    if (at::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(inputs)) {
      formula = c10::make_intrusive<Formula>(spec_, op, args);
      formula->set_next_edges(torch::autograd::collect_next_edges(inputs));
    }
    {
      at::AutoDispatchBelowAutograd guard;
      op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
    }
    if (!formula) return;
    auto outputs = tensors_of(op.schema().returns(), torch::jit::last(*stack, op.schema().returns().size()));
    torch::autograd::set_history(outputs, formula);
    formula->save_outputs(outputs);
  }

 private:
  const FormulaSpec& spec_;
};

}  // namespace

void register_formulas(torch::Library& library, const std::vector<FormulaSpec>& specs) {
  for (const FormulaSpec& spec : specs) {
    library.impl(spec.overload, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<FormulaKernel>(spec)));
  }
}

void refuse_gradients(torch::Library& library, const std::vector<const char*>& overloads) {
  for (const char* overload : overloads) library.impl(overload, torch::autograd::autogradNotImplementedFallback());
}

}  // namespace torchtpu::dispatch
