"""`import torch` with torchtpu installed, and `import torchtpu` without torch."""

import re
from importlib.metadata import entry_points

import yaml

import torchtpu
from tests.runtime.subprocesses import ROOT, run


def test_torch_alone_brings_the_device() -> None:
    run("import torch; assert torch.ones(2, device='tpu').sum().item() == 2; assert torch.tpu.is_available()")


def test_importing_torchtpu_imports_no_torch() -> None:
    run("import sys, torchtpu, torchtpu.lowerings; assert 'torch' not in sys.modules")


def test_importing_torch_starts_nothing() -> None:
    run(
        """
        import sys, torch
        assert not torch.tpu.is_initialized()
        torch.manual_seed(1), torch.tpu.is_available(), torch.tpu.memory_stats(), torch.tpu.synchronize()
        assert not torch.tpu.is_initialized()
        assert not {"jax", "jaxlib", "torchtpu.miss"} & set(sys.modules)
        """.replace("\n        ", "\n")
    )


def test_import_is_quick() -> None:
    """Loading the backend takes at most 150 ms of `import torch`; the best of three, since the machine is busy."""
    program = "import time, torch, torchtpu as t; start = time.time(); t._autoload(); print(time.time() - start)"
    seconds = min(float(run(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0").stdout) for _ in range(3))
    assert seconds < 0.15


def test_autoload_twice_is_once() -> None:
    run("import torch, torchtpu; torchtpu._autoload(); assert torch.ones(1).tpu().is_tpu")


def test_entry_point() -> None:
    points = [
        point for point in entry_points(group="torch.backends") if point.name == "tpu" or "torchtpu" in point.value
    ]
    assert [point.load() for point in points] == [torchtpu._autoload]


def test_names() -> None:
    run(
        """
        import sys, torch
        assert torch.get_device_module("tpu") is torch.tpu is sys.modules["torch.tpu"]
        assert torch.tpu.__name__ == "torch.tpu"
        assert torch.backends.tpu.is_available() and torch.backends.tpu.is_built()
        assert torch.accelerator.current_accelerator() == torch.device("tpu")
        """.replace("\n        ", "\n")
    )


def test_stays_off_beside_another_backend() -> None:
    program = """
        import torch
        {other}
        import torchtpu
        torchtpu._autoload()
        assert not hasattr(torch, "tpu")
        """.replace("\n        ", "\n")
    for other, name in (
        ("import sys, types; sys.modules['torch_tpu'] = types.ModuleType('torch_tpu')", "torch_tpu"),
        ("torch.utils.rename_privateuse1_backend('npu')", "npu"),
    ):
        errors = run(program.format(other=other), TORCH_DEVICE_BACKEND_AUTOLOAD="0").stderr
        assert errors.count("torchtpu stays off") == 1 and name in errors


def test_broken_extension_leaves_torch_usable() -> None:
    """One warning; the CPU works; every use of the device says what is wrong."""
    errors = run(
        """
        import sys, torch
        sys.modules["torchtpu._C"] = None
        import torchtpu
        torchtpu._autoload()
        torch.manual_seed(0)
        assert torch.ones(2).sum() == 2 and not torch.tpu.is_available()
        model = torch.nn.Linear(2, 2)
        for use in (lambda: torch.ones(2, device="tpu"), lambda: model.to("tpu"), lambda: torch.autocast("tpu")):
            try:
                use()
            except RuntimeError as error:
                assert "tools/setup" in str(error), error
            else:
                raise AssertionError("no error")
        """.replace("\n        ", "\n"),
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    ).stderr
    assert errors.count("extension does not load") == 1


def test_other_torch_is_named() -> None:
    errors = run(
        "import torch, torchtpu; torch.__version__ = '2.12.1'; torchtpu._autoload(); "
        "assert torch.tpu.device_count() == 0",
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    ).stderr
    assert "is built for torch 2.13, but this is torch 2.12.1" in errors


def test_no_plugin_is_one_line() -> None:
    errors = run(
        "import torch\ntry: torch.ones(1, device='tpu')\nexcept RuntimeError as error: print(error)",
        TORCHTPU_PJRT_PLUGIN="/nowhere/plugin.so",
    ).stdout
    assert "/nowhere/plugin.so" in errors and len(errors.strip().splitlines()) == 1


def test_versions_agree() -> None:
    assert str(yaml.safe_load((ROOT / "ops.yaml").read_text())["torch"]) == torchtpu.TORCH
    assert re.fullmatch(r"\d+\.\d+\.\d+", torchtpu.__version__)
