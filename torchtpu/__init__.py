"""torchtpu: `tpu` as an ordinary PyTorch device.

PyTorch calls `_autoload` at the end of `import torch` (entry point group `torch.backends`), so `device="tpu"` works
with no further import. Importing this package, or one of its submodules, has no side effect and imports no torch.
"""

import importlib
import importlib.util
import sys
import types
import warnings
from pathlib import Path

__version__ = "0.1.0"

# The torch release that ops.yaml is written for and the extension is compiled against.
TORCH = "2.13"

_loaded = False


def _autoload() -> None:
    """Makes `tpu` a device of the running torch. Cheap: neither the device's runtime nor JAX starts before it is used.

    `import torch` must not fail because of us: what goes wrong is one warning, and every use of the device raises it.
    """
    global _loaded
    if _loaded:
        return
    _loaded = True
    import torch

    other = _other_backend(torch._C._get_privateuse1_backend_name())
    if other:
        warnings.warn(
            f"torchtpu stays off: {other} has taken PyTorch's slot for an extension device. Uninstall one of the two.",
            RuntimeWarning,
            stacklevel=2,
        )
        return
    torch.utils.rename_privateuse1_backend("tpu")
    problem = _torch_mismatch(torch.__version__) or _load_extension()
    if problem:
        from torchtpu import unavailable

        warnings.warn(problem, RuntimeWarning, stacklevel=2)
        torch._register_device_module("tpu", unavailable.module(problem))
    else:
        _register(torch)


def _other_backend(slot: str) -> str | None:
    """Who else owns PrivateUse1, the one device type that PyTorch leaves to extensions."""
    if "torch_tpu" in sys.modules:
        return "torch_tpu (Google's package)"
    return None if slot == "privateuseone" else f"a backend named '{slot}'"


def _torch_mismatch(version: str) -> str | None:
    if version.split(".")[:2] == TORCH.split("."):
        return None
    return f"torchtpu is built for torch {TORCH}, but this is torch {version}: pip install 'torch=={TORCH}.*'"


def _load_extension() -> str | None:
    """Imports the compiled extension and tells it what only Python knows; returns what is wrong."""
    try:
        _C = importlib.import_module("torchtpu._C")
    except ImportError as error:
        return f"torchtpu's extension does not load ({error}): run tools/setup in a checkout, or reinstall torchtpu"
    _C.set_plugin_candidates(
        _library("libtpu", "libtpu.so"), _library("lammps_jax_pjrt_cpu", "pjrt_c_api_cpu_plugin.so")
    )
    _C.set_miss_handlers(_trace, _second_look)
    return None


def _library(package: str, name: str) -> str:
    """The path of a shared library inside an installed package, which is not imported; "" when there is none."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / name
        if path.exists():
            return str(path)
    return ""


def _trace(request: dict) -> dict:
    """What the extension calls on a miss: the first of the process imports JAX, and a hit never comes here."""
    from torchtpu import miss

    return miss.trace(request)


def _second_look(overload: str, entry: str, args: list) -> None:
    """What the extension calls when a program found bad values: raises PyTorch's own error for them."""
    from torchtpu import miss

    miss.second_look(overload, entry, args)


def _register(torch: types.ModuleType) -> None:
    from torchtpu import device, dlpack

    torch._register_device_module("tpu", device)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    dlpack.install()
    _register_backend_flags(torch, device.is_available)


def _register_backend_flags(torch: types.ModuleType, is_available) -> None:
    """torch.backends.tpu: libraries take its presence as the sign that this torch knows TPUs."""
    flags = types.ModuleType("torch.backends.tpu", "Facts about the tpu backend of this build.")
    flags.is_built = lambda: True
    flags.is_available = is_available
    torch.backends.tpu = sys.modules[flags.__name__] = flags
