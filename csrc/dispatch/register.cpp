#include <ATen/core/dispatch/Dispatcher.h>

#include <set>

#include "dispatch/indices.h"
#include "dispatch/names.h"
#include "dispatch/op_spec.h"
#include "dispatch/trampoline.h"

namespace torchtpu::dispatch {
namespace {

class BoxedOp final : public c10::OperatorKernel {
 public:
  explicit BoxedOp(const OpSpec& spec) : spec_(spec) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) { run(spec_, stack); }

 private:
  const OpSpec& spec_;
};

// The ops that take Tensor?[]: advanced indexing, whose masks and CPU indices are rewritten first.
class BoxedIndexOp final : public c10::OperatorKernel {
 public:
  explicit BoxedIndexOp(const OpSpec& spec)
      : spec_(spec),
        puts_(std::set<std::string_view>{"index_put", "index_put_", "_index_put_impl_"}.contains(spec.overload)) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    if (puts_ && put_by_mask(*stack, spec_.args.size(), spec_.args[0].role == Role::Write)) return;
    prepare_indices(*stack, spec_.args.size());
    run(spec_, stack);
  }

 private:
  const OpSpec& spec_;
  bool puts_;
};

bool takes_indices(const c10::FunctionSchema& schema) {
  static const auto type = c10::ListType::create(c10::OptionalType::create(c10::TensorType::get()));
  return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                     [](const c10::Argument& argument) { return *argument.type() == *type; });
}

}  // namespace

void register_ops(torch::Library& library, const std::vector<OpSpec>& specs) {
  for (const OpSpec& spec : specs) {
    auto handle = c10::Dispatcher::singleton().findSchema(operator_name(spec.overload));
    bool indices = handle && takes_indices(handle->schema());
    library.impl(spec.overload, indices
                                    ? torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedIndexOp>(spec))
                                    : torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedOp>(spec)));
  }
}

}  // namespace torchtpu::dispatch
