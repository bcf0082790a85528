"""Arguments for entries whose tests need to be told: which OpInfos reach them, and calls that nothing else yields.

`OPINFOS` names the OpInfos of entries whose ATen name is not theirs, `STAND_INS` the overloads that the CPU calls
instead with the same arguments. A function here returns the (args, kwargs) that it knows for an entry in one dtype:
`usual` and `random` for all entries that need them, any other where ops.yaml names it (`tests: {samples: name}`).
"""

import itertools
from collections.abc import Callable
from functools import partial

import torch
from torch.testing import make_tensor

Arguments = tuple[tuple, dict]

_CONVOLUTIONS = (
    "nn.functional.conv1d",
    "nn.functional.conv2d",
    "nn.functional.conv3d",
    "nn.functional.conv_transpose2d",
)

OPINFOS: dict[str, tuple[str, ...]] = {
    "_cdist_backward": ("cdist",),
    "_cdist_forward": ("cdist",),
    "_pdist_backward": ("nn.functional.pdist",),
    "_pdist_forward": ("nn.functional.pdist",),
    "_adaptive_avg_pool2d": ("nn.functional.adaptive_avg_pool2d",),
    "_adaptive_avg_pool2d_backward": ("nn.functional.adaptive_avg_pool2d",),
    "_adaptive_avg_pool3d": ("nn.functional.adaptive_avg_pool3d",),
    "_adaptive_avg_pool3d_backward": ("nn.functional.adaptive_avg_pool3d",),
    "_cholesky_solve_helper": ("cholesky_solve",),
    "_fft_c2c": ("fft.hfftn", "fft.ifftn", "fft.fft"),
    "_fft_c2r": ("fft.irfft", "fft.irfftn", "fft.hfft"),
    "_fft_r2c": ("fft.rfft", "fft.rfftn", "fft.fft"),
    "_linalg_det": ("linalg.det",),
    "_linalg_eigh": ("linalg.eigh", "linalg.eigvalsh"),
    "_linalg_eigvals": ("linalg.eigvals",),
    "_linalg_slogdet": ("linalg.slogdet",),
    "_linalg_solve_ex": ("linalg.solve_ex", "linalg.solve"),
    "_linalg_svd": ("linalg.svd", "linalg.svdvals"),
    "linalg_matrix_exp": ("matrix_exp",),
    "_embedding_bag": ("nn.functional.embedding_bag",),
    "_histogramdd_bin_edges": ("histogramdd",),
    "_histogramdd_from_bin_cts": ("histogramdd",),
    "_histogramdd_from_bin_tensors": ("histogramdd",),
    "_index_put_impl_": ("index_put",),
    "_local_scalar_dense": ("item",),
    "_log_softmax": ("log_softmax",),
    "_logcumsumexp": ("logcumsumexp",),
    "_log_softmax_backward_data": ("log_softmax",),
    "_segment_reduce_backward": ("_segment_reduce",),
    "segment_reduce": ("_segment_reduce",),
    "_scaled_dot_product_fused_attention_overrideable": ("nn.functional.scaled_dot_product_attention",),
    "_scaled_dot_product_fused_attention_overrideable_backward": ("nn.functional.scaled_dot_product_attention",),
    "_softmax": ("softmax",),
    "_softmax_backward_data": ("softmax",),
    "_stack": ("stack",),
    "_to_copy": ("to",),
    "_unique": ("unique",),
    "_unique2": ("unique",),
    "_unsafe_view": ("matmul",),
    "col2im": ("nn.functional.fold",),
    "im2col": ("nn.functional.unfold",),
    "avg_pool2d_backward": ("nn.functional.avg_pool2d",),
    "convolution_backward_overrideable": _CONVOLUTIONS,
    "convolution_overrideable": _CONVOLUTIONS,
    "embedding_dense_backward": ("nn.functional.embedding",),
    "elu_backward": ("nn.functional.elu",),
    "fractional_max_pool2d": ("nn.functional.fractional_max_pool2d",),
    "fractional_max_pool2d_backward": ("nn.functional.fractional_max_pool2d",),
    "fractional_max_pool3d": ("nn.functional.fractional_max_pool3d",),
    "fractional_max_pool3d_backward": ("nn.functional.fractional_max_pool3d",),
    "gelu_backward": ("nn.functional.gelu",),
    "glu_backward": ("nn.functional.glu",),
    "index": ("__getitem__",),
    "unique_dim": ("unique",),
    "max_pool2d_with_indices": ("nn.functional.max_pool2d",),
    "max_pool2d_with_indices_backward": ("nn.functional.max_pool2d",),
    "max_pool3d_with_indices": ("nn.functional.max_pool3d",),
    "max_pool3d_with_indices_backward": ("nn.functional.max_pool3d",),
    "multilabel_margin_loss_backward": ("nn.functional.multilabel_margin_loss",),
    "multilabel_margin_loss_forward": ("nn.functional.multilabel_margin_loss",),
    "native_batch_norm": ("nn.functional.batch_norm",),
    "native_batch_norm_backward": ("nn.functional.batch_norm",),
    "native_group_norm": ("nn.functional.group_norm",),
    "native_group_norm_backward": ("nn.functional.group_norm",),
    "native_layer_norm": ("nn.functional.layer_norm",),
    "native_layer_norm_backward": ("nn.functional.layer_norm",),
    "nll_loss2d_backward": ("nn.functional.cross_entropy",),
    "nll_loss2d_forward": ("nn.functional.cross_entropy",),
    "nll_loss_backward": ("nn.functional.nll_loss", "nn.functional.cross_entropy"),
    "nll_loss_forward": ("nn.functional.nll_loss", "nn.functional.cross_entropy"),
    "select_backward": ("select",),
    "slice_backward": ("__getitem__",),
    "threshold_backward": ("nn.functional.relu", "nn.functional.threshold"),
}
for _dims in (1, 2, 3):
    for _suffix in ("", "_backward"):
        OPINFOS[f"reflection_pad{_dims}d{_suffix}"] = ("nn.functional.pad.reflect",)
        OPINFOS[f"replication_pad{_dims}d{_suffix}"] = ("nn.functional.pad.replicate",)
for _mode, _ops in {
    "nearest": ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
    "nearest-exact": ("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"),
    "linear": ("upsample_linear1d",),
    "bilinear": ("upsample_bilinear2d",),
    "bicubic": ("upsample_bicubic2d",),
    "trilinear": ("upsample_trilinear3d",),
}.items():
    for _op in _ops:
        OPINFOS[_op] = OPINFOS[f"{_op}_backward"] = (f"nn.functional.interpolate.{_mode}",)

STAND_INS: dict[str, tuple[str, ...]] = {
    "_index_put_impl_": ("index_put", "index_put_"),
    "_logcumsumexp": ("logcumsumexp",),
    "_stack": ("stack",),
    "_unique": ("_unique2",),
}

# Entries whose CPU kernel ends the process when it is given tensors without rows.
CRASH_WITHOUT_ROWS = frozenset({"_transform_bias_rescale_qkv", "_weight_norm_interface"})


def usual(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Calls of entries that no OpInfo makes on the CPU and whose arguments need to be chosen."""
    tensor = partial(make_tensor, device="cpu", dtype=dtype, low=1, high=5)
    small = partial(make_tensor, device="cpu", dtype=dtype, low=-0.5, high=0.5)
    lists = [[tensor((3, 4)), tensor((3,)), tensor((2, 2))] for _ in range(3)]
    attention = (small((12, 4)), small(12), small((4, 4)), small(4))
    norms_and_mlp = (*(small(4) for _ in range(4)), small((8, 4)), small(8), small((4, 8)), small(4))
    ascending = torch.arange(7).to(dtype)
    indices = torch.zeros(3, 4, dtype=torch.int64)
    calls: dict[str, list[Arguments]] = {
        "_cholesky_solve_helper": [((tensor((2, 4, 3)), tensor((2, 4, 4)).tril(), False), {}), ((tensor((4, 1)), tensor((4, 4)).triu(), True), {})],
        "_compute_linear_combination": [((tensor((3, 4, 2)), tensor((5, 3))), {})],
        "_add_relu.Tensor": [((small((3, 4)), small((3, 4))), {"alpha": 2}), ((small((3, 4)), small((4,))), {})],
        "_add_relu.Scalar": [((small((3, 4)), 0.25), {}), ((small((3, 4)), 0.25, 2), {})],
        "_cummax_helper": [((tensor((3, 4)), tensor((3, 4)), indices, dim), {}) for dim in (0, 1)],
        "_cummin_helper": [((tensor((3, 4)), tensor((3, 4)), indices, dim), {}) for dim in (0, 1)],
        "bucketize.Scalar": [
            ((3, ascending), {}),
            ((2, ascending), {"right": True}),
            ((9, ascending), {"out_int32": True}),
        ],
        "range.step": [
            ((1.0, 4.0, 0.7 if dtype.is_floating_point else 2), {"dtype": dtype}),
            ((4, -3, -2), {"dtype": dtype}),
        ],
        "_foreach_addcdiv.Tensor": [((*lists, tensor((3,))), {})],
        "_foreach_addcmul.Tensor": [((*lists, tensor((3,))), {})],
        "_foreach_mm": [(([tensor((2, 3)), tensor((4, 1))], [tensor((3, 2)), tensor((1, 3))]), {})],
        "_native_multi_head_attention": [((*[small((2, 3, 4))] * 3, 4, 2, *attention), {})],
        "_transformer_encoder_layer_fwd": [
            ((small((2, 3, 4)), 4, 2, *attention, gelu, norm_first, 1e-5, *norms_and_mlp), {})
            for gelu, norm_first in ((False, False), (True, True))
        ],
        "_transform_bias_rescale_qkv": [((small((2, 5, 12)), small(12), 2), {})],
        "adaptive_avg_pool3d_backward.grad_input": [
            ((small((2, 3, 2, 1, 2)), small((2, 3, 4, 3, 5))), {"grad_input": small((2, 3, 4, 3, 5))})
        ],
        "embedding_renorm_": [((tensor((5, 3)), torch.tensor([1, 4, 1]), 2.0, 2.0), {})],
        "fill.Tensor": [((tensor((3, 4)), tensor(())), {})],
        "linalg_eigvals": [((tensor((2, 3, 3)),), {}), ((tensor((4, 4)),), {})],
        "norm.ScalarOpt_dim": [((tensor((3, 4)), 2, [1]), {}), ((tensor((3, 4)), 1, [0], True), {})],
        "norm.ScalarOpt_dim_dtype": [((tensor((3, 4)), 2, [1]), {"keepdim": False, "dtype": torch.float64})],
        "searchsorted.Scalar": [((ascending, 3), {}), ((ascending, 2), {"right": True}), ((ascending, 9), {})],
        "unique_dim_consecutive": [
            ((torch.tensor([[1, 2], [1, 2], [0, 2], [1, 2]]).to(dtype), 0), {}),
            ((torch.tensor([[1, 1, 1, 3], [0, 0, 2, 3]]).to(dtype), 1, True, True), {}),
        ],
    }
    return (calls | _of_floats(dtype)).get(entry, [])


def _of_floats(dtype: torch.dtype) -> dict[str, list[Arguments]]:
    if not dtype.is_floating_point:
        return {}
    tensor = partial(make_tensor, device="cpu", dtype=dtype, low=1, high=5)
    small = partial(make_tensor, device="cpu", dtype=dtype, low=-0.5, high=0.5)
    share = torch.linspace(0.01, 0.99, 300).to(dtype)
    scores, mask = small((2, 2, 3, 3)), torch.eye(3, dtype=torch.bool)
    x = small(4, 6)
    return {
        "_dirichlet_grad": [
            ((share, tensor((300,)) * scale, tensor((300,)) * scale * 6), {}) for scale in (1, 0.1, 20)
        ],
        "_standard_gamma_grad": [
            ((tensor((300,)) * scale, share * most), {}) for scale, most in ((1, 8), (9, 90), (0.1, 1))
        ],
        "_masked_softmax": [  # the CPU differentiates those of the whole shape only
            ((scores, mask.expand(2, 2, 3, 3), -1, 2), {}),
            ((scores, mask[:2], -1, 1), {}),
            ((scores, mask.expand(2, 2, 3, 3), 1), {}),
            ((scores, mask, 3, 0), {}),
        ],
        "_masked_softmax_backward": [
            ((scores, scores.softmax(dim), mask.expand(2, 2, 3, 3), dim), {}) for dim in (-1, 1)
        ],
        "glu_backward_jvp": [
            ((torch.ops.aten.glu_backward(grad, x, 1), grad, x, small(4, 3), small(4, 6), 1), {})
            for grad in [small(4, 3)]
        ],
        "glu_jvp": [((torch.nn.functional.glu(x, dim), x, small(4, 6), dim), {}) for dim in (0, -1)],
    }


def functions(entry: str, dtype: torch.dtype) -> list[tuple[Callable, tuple]]:
    """Functions, with their arguments, for entries that PyTorch's CPU has no kernel for: devices go other ways."""
    if not dtype.is_floating_point:
        return []
    small = partial(make_tensor, device="cpu", dtype=dtype, low=-0.5, high=0.5)

    def layer(state: object, gates: int) -> tuple:
        """Two steps of one layer, whose cells are what is tested."""
        weights = [small((gates * 4, 3)), small((gates * 4, 4)), small(gates * 4), small(gates * 4)]
        return small((2, 2, 3)), state, weights, True, 1, 0.0, False, False, False

    if entry.startswith("_thnn_fused_gru_cell"):
        return [(torch.gru, layer(small((1, 2, 4)), gates=3))]
    if entry.startswith("_thnn_fused_lstm_cell"):
        return [(torch.lstm, layer([small((1, 2, 4)), small((1, 2, 4))], gates=4))]
    return []


def small_matrices(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Square matrices of norms around 1."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return []
    return [((make_tensor(shape, device="cpu", dtype=dtype, low=-0.5, high=0.5),), {}) for shape in ((4, 4), (2, 3, 3), (1, 1), (6, 6))]


def sliding(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Blocks that overlap, that leave gaps, and that reach into the padding; of a batch and of one image."""
    images = [make_tensor(shape, device="cpu", dtype=dtype) for shape in ((2, 3, 6, 5), (1, 2, 7, 8), (3, 6, 5))]
    numbers = [([2, 3], [1, 1], [0, 0], [1, 1]), ([3, 2], [2, 1], [1, 2], [2, 3]), ([2, 2], [1, 2], [1, 0], [1, 2])]
    unfolded = [((image, *each), {}) for image, each in zip(images, numbers)]
    if entry == "im2col":
        return unfolded
    columns = (torch.ops.aten.im2col(image.float(), *each).to(dtype) for image, each in zip(images, numbers))
    return [((column, list(image.shape[-2:]), *each), {}) for column, image, each in zip(columns, images, numbers)]


# How many numbers a distribution is judged by.
MANY = 4096


def random(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Calls of a random entry that draw enough numbers to judge their distribution."""
    empty = torch.zeros(MANY, dtype=dtype)
    factory = {"dtype": dtype, "device": torch.device("cpu")}
    half = torch.full((MANY,), 0.5, dtype=dtype)
    calls: dict[str, list[Arguments]] = {
        "_sample_dirichlet": [((torch.full((MANY, 3), 0.7, dtype=dtype),), {})],
        "_standard_gamma": [((torch.full((MANY,), alpha, dtype=dtype),), {}) for alpha in (0.3, 2.5, 50.0)],
        "binomial": [
            ((torch.full((MANY,), count, dtype=dtype), torch.full((MANY,), p, dtype=dtype)), {})
            for count, p in ((10.0, 0.3), (100.0, 0.8), (1e5, 0.4))
        ],
        "rrelu_with_noise_": [
            ((torch.full((MANY,), -2.0, dtype=dtype), torch.zeros(MANY, dtype=dtype), 0.1, 0.4, True), {})
        ],
        "bernoulli": [((half,), {})],
        "bernoulli.p": [((empty, 0.3), {})],
        "bernoulli_.Tensor": [((empty, torch.full((MANY,), 0.3)), {})],
        "bernoulli_.float": [((empty, 0.3), {})],
        "cauchy_": [((empty, 1.0, 0.5), {})],
        "exponential_": [((empty, 2.0), {})],
        "geometric_": [((empty, 0.3), {})],
        "log_normal_": [((empty, 0.5, 0.25), {})],
        "multinomial": [((torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=dtype), MANY, True), {})],
        "native_dropout": [((torch.ones(MANY, dtype=dtype), 0.4, True), {})],
        "normal.Tensor_Tensor": [((empty, half), {})],
        "normal.Tensor_float": [((empty, 2.0), {})],
        "normal.float_Tensor": [((1.0, half), {})],
        "normal_functional": [((empty, 1.0, 2.0), {})],
        "normal_": [((empty, 1.0, 2.0), {})],
        "poisson": [((torch.full((MANY,), rate, dtype=dtype),), {}) for rate in (0.5, 3.0, 40.0, 1e6)],
        "rand": [(([MANY],), factory)],
        "randint": [((10, [MANY]), factory)],
        "randint.low": [((-5, 10, [MANY]), factory)],
        "randn": [(([MANY],), factory)],
        "random_": [((torch.zeros(MANY, dtype=torch.int64),), {})],
        "random_.from": [((empty, -5, 10), {})],
        "random_.to": [((empty, 10), {})],
        "randperm": [((MANY,), {"device": torch.device("cpu")})],
        "randperm.generator": [((MANY,), {"generator": None, "device": torch.device("cpu")})],
        "uniform_": [((empty, -1.0, 3.0), {})],
    }
    return calls.get(entry, [])


def cell(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """A step of a recurrent network: 3 rows, 4 features in, 5 hidden; with biases and without."""
    gates = {"gru_cell": 3, "lstm_cell": 4}.get(entry, 1)
    make = partial(make_tensor, dtype=dtype, device="cpu", low=-1, high=1)
    state = [make(3, 5), make(3, 5)] if entry == "lstm_cell" else make(3, 5)
    weights = make(gates * 5, 4), make(gates * 5, 5)
    biases = make(gates * 5), make(gates * 5)
    return [((make(3, 4), state, *weights, *biases), {}), ((make(3, 4), state, *weights), {})]


def _parameters(dtype: torch.dtype, count: int) -> list[list[torch.Tensor]]:
    """So many lists of like tensors between 0 and 1; none for dtypes that no optimizer updates."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=0, high=1)
    return [[make(3, 4), make(3), make(())] for _ in range(count)]


def _steps(count: float) -> list[torch.Tensor]:
    return [torch.tensor(count) for _ in range(3)]


def _scaled(found: float) -> dict[str, torch.Tensor]:
    """What a gradient scaler hands to a step."""
    return {"grad_scale": torch.tensor(4.0), "found_inf": torch.tensor(found)}


def _rate(entry: str) -> float | torch.Tensor:
    return torch.tensor(0.01) if "tensor_lr" in entry else 0.01


def fused_adam(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Plain; with everything; in a step that a scaler skips."""
    plain = {"lr": _rate(entry), "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}
    plain |= {"amsgrad": False, "maximize": False}
    full = plain | {"weight_decay": 0.1, "amsgrad": True, "maximize": True, "beta1": 0.3}
    calls = []
    for kwargs in (plain, full, full | _scaled(0.0), full | _scaled(1.0)):
        if lists := _parameters(dtype, 5 if kwargs["amsgrad"] else 4):
            calls.append(((*lists[:4], lists[4] if kwargs["amsgrad"] else [], _steps(3.0)), kwargs))
    return calls


def fused_sgd(entry: str, dtype: torch.dtype) -> list[Arguments]:
    plain = {"weight_decay": 0.0, "momentum": 0.0, "lr": _rate(entry), "dampening": 0.0}
    plain |= {"nesterov": False, "maximize": False, "is_first_step": False}
    momentum = plain | {"weight_decay": 0.1, "momentum": 0.9, "dampening": 0.2}
    calls = []
    for kwargs in (
        plain,
        momentum,
        momentum | {"is_first_step": True, "maximize": True},
        momentum | {"nesterov": True} | _scaled(0.0),
        momentum | _scaled(1.0),
    ):
        if lists := _parameters(dtype, 3):
            calls.append(((*lists[:2], lists[2] if kwargs["momentum"] else []), kwargs))
    return calls


def fused_adagrad(entry: str, dtype: torch.dtype) -> list[Arguments]:
    plain = {"lr": _rate(entry), "lr_decay": 0.0, "weight_decay": 0.0, "eps": 1e-10, "maximize": False}
    full = plain | {"lr_decay": 0.1, "weight_decay": 0.1, "maximize": True}
    calls = []
    for kwargs in (plain, full, full | _scaled(0.0), full | _scaled(1.0)):
        if lists := _parameters(dtype, 3):
            calls.append(((*lists, _steps(3.0)), kwargs))
    return calls


def amp(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Gradients without and with an infinity; scales that stay, grow, cannot grow any more, and shrink."""
    if "update_scale" in entry:
        rows = ((8.0, 0, 0.0), (8.0, 2, 0.0), (3e38, 2, 0.0), (8.0, 1, 1.0))
        return [
            ((torch.tensor(scale), torch.tensor(tracker, dtype=torch.int32), torch.tensor(found), 2.0, 0.5, 3), {})
            for scale, tracker, found in rows
            if dtype == torch.float32
        ]
    calls = []
    for bad in (1.0, float("inf"), float("nan")):
        for gradients in _parameters(dtype, 1):
            gradients[1][0] = bad
            calls.append(((gradients, torch.zeros(1), torch.tensor([0.25])), {}))
    return calls


def addmm_activation(entry: str, dtype: torch.dtype) -> list[Arguments]:
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-1, high=1)
    if not dtype.is_floating_point:
        return []
    matrices = make((3, 4)), make((4, 5))
    return [
        ((make((5,)), *matrices), {}),
        ((make((3, 5)), *matrices), {"beta": 0.5, "alpha": 2.0, "use_gelu": True}),
    ]


def grouped_mm(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Rows of whole 16 bytes, which the kernels ask for, and groups that cover all of them; one of them is empty."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-1, high=1)
    offsets = torch.tensor([3, 3, 8], dtype=torch.int32)
    return [
        ((make((8, 16)), make((3, 16, 24)), offsets), {}),
        ((make((16, 8)), make((8, 24)), offsets), {}),
        ((make((3, 16, 24)), make((24, 8)), offsets), {}),
        ((make((3, 16, 8)), make((3, 8, 24))), {}),
        ((make((8, 16)), make((3, 24, 16)).mT, offsets), {}),
    ]


def int_mm(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Whatever the dtype that is asked for: it multiplies integers of 8 bits."""
    make = partial(make_tensor, device="cpu", dtype=torch.int8)
    unsigned = make((20, 8), dtype=torch.uint8)
    return [((make((20, 8)), make((8, 16))), {}), ((unsigned, make((8, 5))), {})] if dtype == torch.float32 else []


def int8_weights(entry: str, dtype: torch.dtype) -> list[Arguments]:
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-1, high=1)
    weights = make_tensor((16, 32), device="cpu", dtype=torch.int8)
    return [((make((3, 32)), weights, make((16,))), {})]


def scaled_mm(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """One scale for all, then one for each row and column; to float32, bfloat16 and float8."""
    if dtype != torch.float32:
        return []
    left, right = (torch.rand(16, 32).sub(0.5).to(torch.float8_e4m3fn) for _ in range(2))
    whole = torch.tensor(2.0), torch.tensor(0.25)
    rows = torch.rand(16, 1), torch.rand(1, 16)
    calls = []
    for recipe, (scale_a, scale_b) in enumerate((whole, rows)):
        for bias, out_dtype in ((None, torch.float32), (torch.rand(16), torch.bfloat16), (None, None)):
            bias = bias if bias is None or recipe == 0 else bias.bfloat16()
            scales = (scale_a, scale_b, bias, None, out_dtype)
            if "v2" in entry:
                scales = ([scale_a], [recipe], [0], [scale_b], [recipe], [0], bias, out_dtype)
            calls.append(((left, right.t(), *scales), {}))
    return calls


def assertion(entry: str, dtype: torch.dtype) -> list[Arguments]:
    message = ["it does not hold"] if ".msg" in entry else []
    token = [torch.rand(2)] if "functional" in entry else []
    return [((value.to(dtype), *message, *token), {}) for value in (torch.tensor(1), torch.tensor([[3]]))]


def quantized(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Numbers within the grid and beyond both of its ends."""
    if not dtype.is_floating_point:
        return []
    numbers = make_tensor((4, 6), device="cpu", dtype=dtype, low=-40, high=40)
    scales, points = torch.tensor([0.1, 0.25, 0.5, 1.0]), torch.tensor([0, 3, -5, 10], dtype=torch.int32)
    one = torch.tensor([0.25]), torch.tensor([3], dtype=torch.int32)
    calls: dict[str, list[Arguments]] = {
        "fake_quantize_per_tensor_affine_cachemask": [((numbers, 0.25, 3, -128, 127), {}), ((numbers, 0.1, 0, 0, 255), {})],
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": [
            ((numbers, *one, torch.tensor([on]), -128, 127), {}) for on in (1, 0)
        ],
        "fake_quantize_per_channel_affine_cachemask": [((numbers, scales, points, 0, -128, 127), {})],
    }
    return calls[entry]


def batch_norm(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """The overloads behind batch norm that nn.functional.batch_norm does not reach; in training, and in evaluation."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-2, high=2)
    positive = partial(make_tensor, device="cpu", dtype=dtype, low=0.5, high=2)
    image, running, affine = make((4, 3, 5)), (make(3), positive(3)), (make(3), make(3))
    numbers = (0.1, 1e-3)
    if entry == "batch_norm_update_stats":
        return [((image, *running, 0.1), {}), ((image, None, None, 0.1), {})]
    if entry == "_native_batch_norm_legit.no_stats":
        return [((image, *affine, True, *numbers), {}), ((image, None, None, True, *numbers), {})]
    if entry == "batch_norm_backward":
        saved = (image.mean((0, 2)), positive(3))
        masks = (True, [True] * 3), (True, [True, False, False]), (False, [True] * 3)
        reserve = torch.zeros(1, dtype=torch.uint8)
        return [((make((4, 3, 5)), image, affine[0], *running, *saved, update, 1e-3, mask, reserve), {}) for update, mask in masks]
    if entry == "_batch_norm_with_update":
        return [((image, *parameters, *running, *numbers), {}) for parameters in (affine, (None, None))]
    return [((image, *affine, *running, training, *numbers), {}) for training in (True, False)]


def weight_norm(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Of the rows, and of the columns."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-2, high=2)
    cases = (make((4, 3, 2)), make((4, 1, 1)), 0), (make((4, 3)), make((1, 3)), 1)
    if "backward" not in entry:
        return [(case, {}) for case in cases]
    norms = [torch.ops.aten._weight_norm_interface(*case)[1] for case in cases]
    return [((make(tuple(v.shape)), v, g, norm, dim), {}) for (v, g, dim), norm in zip(cases, norms)]


def embedding_bag(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Bags of every mode, one of them empty: with weights of the samples, with padding, with the last offset."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-2, high=2)
    weight, indices = make((6, 3)), torch.tensor([1, 2, 4, 5, 4, 5])
    calls = []
    for mode, by_frequency, weighted, padding_idx, last in (
        (0, False, True, -1, False),
        (0, True, False, 4, False),
        (1, False, False, 1, False),
        (2, False, False, -1, True),
        (0, False, False, 4, True),
    ):
        offsets = torch.tensor([0, 2, 2, 5, 6][: 5 if last else 4])
        weights = make(6) if weighted else None
        forward = (weight, indices, offsets, by_frequency, mode, False, weights, last, padding_idx)
        output, bags, sizes, largest = torch.ops.aten._embedding_bag(*forward)
        gradient, options = make(tuple(output.shape)), (by_frequency, mode)
        bags = bags if len(bags) else torch.tensor([0, 0, 2, 2, 2, 3])
        arguments = {
            "_embedding_bag": forward,
            "_embedding_bag_forward_only": forward,
            "_embedding_bag_dense_backward": (gradient, indices, bags, sizes, largest, 6, *options, weights, padding_idx),
            "_embedding_bag_per_sample_weights_backward": (gradient, weight, indices, offsets, bags, mode, padding_idx),
        }[entry]
        if mode == 0 or "per_sample" not in entry:
            calls.append((arguments, {}))
    return calls


def ctc_loss(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Of full lengths, since the CPU leaves the rest of log_alpha as it was; labels that repeat, padded or one after another."""
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-2, high=2)
    if not dtype.is_floating_point:
        return []
    padded, joined = torch.tensor([[1, 2, 2], [3, 1, 3]]), torch.tensor([1, 2, 2, 3, 1, 3], dtype=torch.int32)
    calls = []
    for targets, blank, infinity in ((padded, 0, False), (joined, 4, True)):
        forward = (make((7, 2, 5)).log_softmax(-1), targets, [7, 7], [3, 3], blank, infinity)
        if "backward" in entry:
            if dtype not in (torch.float32, torch.float64):
                return []
            saved = torch.ops.aten._ctc_loss(*forward)
            calls.append(((make(2), *forward[:4], *saved, *forward[4:]), {}))
        else:
            calls.append((forward, {}))
    return calls


def antialias(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Smaller along both axes, larger along one, much smaller; with corners that meet, and with scales that are given."""
    make = partial(make_tensor, device="cpu", dtype=dtype, low=0, high=1)
    image = (1, 2, 9, 12)
    calls = []
    for size, corners, scales in (
        ([4, 5], False, ()),
        ([12, 7], True, ()),
        ([4, 18], False, (0.45, 1.5)),
        ([1, 2], False, ()),
    ):
        if "backward" in entry:
            calls.append(((make((1, 2, *size)), size, list(image), corners, *scales), {}))
        else:
            calls.append(((make(image), size, corners, *scales), {}))
    return calls


def adaptive_pool(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Averages that overlap, that do not, and of a single sample."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-2, high=2)
    image = (2, 3, 6, 5, 4)[: 5 if "3d" in entry else 4]
    sizes = [2, 3, 4][: len(image) - 2]
    return [((make(image), sizes), {}), ((make(image), [1] * len(sizes)), {}), ((make(image[1:]), sizes), {})]


def grid(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Every mode, padding and reading of corners; of places inside and outside. bfloat16 has places that it holds exactly,
    since the CPU computes them in bfloat16 and would read other pixels, and no cubics, in which it keeps few digits."""
    if not dtype.is_floating_point:
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype, low=-1, high=1)
    rank = 3 if "3d" in entry else 2
    space, output = (4, 8, 4)[-rank:], (2, 3, 5)[-rank:]
    exact = dtype == torch.bfloat16
    calls = []
    for mode in range(2 if exact or rank == 3 else 3):
        for padding, corners in itertools.product(range(3), (False, True)):
            places = torch.randint(-10, 11, (2, *output, rank)) / 8 if exact else torch.rand(2, *output, rank) * 2.6 - 1.3
            forward = (make((2, 3, *space)), places.to(dtype), mode, padding, corners)
            gradient = make((2, 3, *output))
            calls.append(((gradient, *forward, [True, True]) if "backward" in entry else forward, {}))
    return calls


def ldl_factors(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Batches, for the harness expands the first dimension: one matrix for all is one, one row for all is none."""
    if dtype not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return []
    make = partial(make_tensor, device="cpu", dtype=dtype)
    calls = []
    for hermitian in (False, True):
        matrix = make((2, 4, 4))
        factors = torch.linalg.ldl_factor(matrix + (matrix.mH if hermitian else matrix.mT), hermitian=hermitian)
        calls += [((*factors, make((2, 4, columns))), {"hermitian": hermitian}) for columns in (1, 3)]
    return calls


def kaiser(entry: str, dtype: torch.dtype) -> list[Arguments]:
    """Windows of no, one and several points."""
    if not dtype.is_floating_point:
        return []
    more = {"kaiser_window": [()], "kaiser_window.periodic": [(True,), (False,)]}.get(entry, [(True, 3.0), (False, 30.0)])
    options = {"dtype": dtype, "device": torch.device("cpu")}
    return [((size, *each), options) for size in (12, 5, 2, 1, 0) for each in more]
