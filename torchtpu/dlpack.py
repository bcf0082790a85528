"""What torch.Tensor answers to `__dlpack_device__`, the question with which every consumer of DLPack begins."""

import functools

import torch


def install() -> None:
    """Wraps torch.Tensor.__dlpack_device__, once: torch patched for an answer about our tensors, and nothing else's.

    PyTorch 2.13 knows an extension's tensors there by comparing the type with the literal "privateuse1", which no
    renamed device is called (pytorch/pytorch#195815): it raises, so that torch.from_dlpack(tensor) cannot work although
    the export itself does. No hook lets a backend answer. kDLExtDev says that the address is none of the host's.
    """
    theirs = torch.Tensor.__dlpack_device__
    if hasattr(theirs, "_torchtpu"):
        return

    @functools.wraps(theirs)
    def __dlpack_device__(self: torch.Tensor) -> tuple:
        # Subclasses that override torch functions are asked by torch's, which comes back for what they leave to it.
        if torch.overrides.has_torch_function_unary(self) or self.device.type != "tpu":
            return theirs(self)
        return torch.utils.dlpack.DLDeviceType.kDLExtDev, self.device.index or 0

    __dlpack_device__._torchtpu = True
    torch.Tensor.__dlpack_device__ = __dlpack_device__
