#include "dispatch/autocast.h"

#include <ATen/autocast_mode.h>

#include "dispatch/names.h"

namespace torchtpu::dispatch {
namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;

// Calls `visit` with every tensor of the argument, defined or not, and puts what it returns in its place.
template <class F>
void for_each_tensor(c10::IValue& arg, F&& visit) {
  if (arg.isTensor()) {
    arg = visit(arg.toTensor());
  } else if (arg.isTensorList()) {
    auto list = arg.toTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) list.set(i, visit(list.get(i)));
    arg = std::move(list);
  } else if (arg.isOptionalTensorList()) {
    auto list = arg.toOptionalTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      if (auto tensor = list.get(i)) list.set(i, visit(*tensor));
    }
    arg = std::move(list);
  }
}

// As at::autocast::WrapFunction, for an op whose C++ signature nobody wrote down.
class CastingOp final : public c10::OperatorKernel {
 public:
  explicit CastingOp(AutocastPolicy policy) : policy_(policy) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastPrivateUse1);
    auto first = stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
    auto to = policy_ == AutocastPolicy::Fp32 ? at::kFloat : at::autocast::get_autocast_dtype(kDevice);
    if (policy_ == AutocastPolicy::Promote) {
      for (auto arg = first; arg != stack->end(); ++arg) {
        for_each_tensor(*arg, [&](const at::Tensor& tensor) {
          to = at::autocast::prioritize(to, tensor, kDevice);
          return tensor;
        });
      }
    }
    for (auto arg = first; arg != stack->end(); ++arg) {
      for_each_tensor(*arg, [&](const at::Tensor& tensor) { return at::autocast::cached_cast(to, tensor, kDevice); });
    }
    op.callBoxed(stack);
  }

 private:
  AutocastPolicy policy_;
};

}  // namespace

bool has_autocast_spec(const char* overload) {
  auto name = operator_name(overload);
  const auto& specs = autocast_specs();
  return std::any_of(specs.begin(), specs.end(),
                     [&](const AutocastSpec& spec) { return operator_name(spec.overload) == name; });
}

void register_autocast(torch::Library& library, std::string_view op_namespace) {
  for (const AutocastSpec& spec : autocast_specs()) {
    if (operator_name(spec.overload).getNamespace() != op_namespace) continue;
    library.impl(spec.overload,
                 spec.policy == AutocastPolicy::Fallthrough
                     ? torch::CppFunction::makeFallthrough()
                     : torch::CppFunction::makeFromBoxedFunctor(std::make_unique<CastingOp>(spec.policy)));
  }
}

}  // namespace torchtpu::dispatch
