"""The policies that are derived: ATen's lists, held against what torch itself registered from them."""

import pytest
import torch

from codegen.torch_schema import torch_schema

OF_CUDA_ALONE = {"cudnn_convolution", "cudnn_convolution_transpose"}


def test_the_lists_are_what_cuda_has_registered() -> None:
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    assert {name.removeprefix("aten::") for name in registered} - OF_CUDA_ALONE == set(torch_schema().autocast)


@pytest.mark.parametrize(
    ("overload", "policy"),
    [
        ("mm", "lower"),
        ("conv_transpose2d.input", "lower"),
        ("pow.Tensor_Scalar", "fp32"),
        ("sum.dim_IntList", "fp32"),
        ("norm.ScalarOpt_dim", "fp32"),
        ("addcmul", "promote"),
        ("binary_cross_entropy", "refused"),
        ("add.Tensor", None),
    ],
)
def test_policies(overload: str, policy: str | None) -> None:
    assert torch_schema().autocast.get(overload) == policy
    assert policy is None or torch_schema().groups[overload].author.name == overload
