// Ops of sparse COO tensors whose ATen kernels serve every device: they are made of ops on the indices and on the values. ATen
// registers one and the same function for SparseCPU and SparseCUDA; it serves us as well.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace torchtpu::native {
namespace {

void run_shared(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  c10::Dispatcher::singleton().callBoxedForDispatchKey(op, c10::DispatchKey::SparseCPU, stack);
}

// Every overload that native_functions.yaml gives one kernel for both, except those that we have our own for: their kernels go on
// to loops over host memory. tests/semantics/test_sparse.py compares the list with that of the installed PyTorch.
constexpr const char* kShared[] = {
    "abs", "abs_", "abs.out", "view_as_real", "view_as_complex", "sgn", "sgn_", "sgn.out", "conj_physical.out",
    "add.Tensor", "add_.Tensor", "asinh", "asinh_", "asinh.out", "atanh", "atanh_", "atanh.out", "asin", "asin_",
    "asin.out", "atan", "atan_", "atan.out", "_sparse_broadcast_to", "cat", "ceil", "ceil_", "ceil.out", "copy_",
    "div.Tensor", "div_.Tensor", "div.out", "div.Tensor_mode", "div_.Tensor_mode", "div.out_mode",
    "empty.memory_format", "empty_like", "erf", "erf_", "erf.out", "expm1", "expm1_", "expm1.out", "floor", "floor_",
    "floor.out", "floor_divide", "floor_divide_.Tensor", "floor_divide.out", "frac", "frac_", "frac.out", "isnan",
    "nan_to_num", "nan_to_num_", "nan_to_num.out", "log1p", "log1p_", "log1p.out", "mm", "mm.out", "mul.Tensor",
    "mul_.Tensor", "mv", "narrow_copy", "permute", "rad2deg", "rad2deg_", "rad2deg.out", "deg2rad", "deg2rad_",
    "deg2rad.out", "neg", "neg_", "neg.out", "round", "round_", "round.out", "relu", "relu_", "sin", "sin_", "sin.out",
    "sinh", "sinh_", "sinh.out", "sum", "sum.dim_IntList", "sqrt", "sqrt_", "sqrt.out", "tan", "tan_", "tan.out",
    "tanh", "tanh_", "tanh.out", "threshold_backward.grad_input", "threshold_backward", "trunc", "trunc_", "trunc.out",
    "unsqueeze", "zeros.out", "native_norm", "native_norm.ScalarOpt_dim_dtype", "norm.ScalarOpt_dim_dtype",
    "norm.ScalarOpt_dim", "clone", "resize_as_sparse_", "zero_", "sub.out", "sub.Tensor", "sub_.Tensor",
    "_sparse_coo_tensor_with_dims", "_sparse_coo_tensor_with_dims_and_tensors", "sparse_resize_",
    "sparse_resize_and_clear_", "_to_dense", "sparse_dim", "_dimI", "dense_dim", "_dimV", "_nnz", "is_coalesced",
    "_indices", "_values", "_coalesced_", "indices", "values", "copy_sparse_to_sparse_", "_to_sparse.sparse_dim",
    "_to_sparse", "erfinv", "erfinv_", "erfinv.out", "sign", "sign_", "sign.out", "signbit", "signbit.out", "any",
    "pow.Tensor_Scalar_out", "pow.Tensor_Scalar", "isinf", "isposinf", "isposinf.out", "isneginf", "isneginf.out",
};

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  for (const char* overload : kShared) m.impl(overload, torch::CppFunction::makeFromBoxedFunction<&run_shared>());
}

}  // namespace
}  // namespace torchtpu::native
