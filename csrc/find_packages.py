"""What the build needs of the Python that it builds for. Prints "<folder of torch>;<folder of pjrt_c_api.h>" for CMake,
or one line on stderr that says what to install. Imports neither package."""

import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path

TORCH = "2.13."  # the minor version that the C++ is written against
HEADER_PACKAGE = "xla-cpu-pjrt"
HEADER = "xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h"


def check_python_headers() -> None:
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        sys.exit("this Python has no C headers: install its dev package (Debian, Ubuntu: apt install python3-dev)")


def torch_folder() -> Path:
    spec = find_spec("torch")
    found = version("torch") if spec else "none"
    if not found.startswith(TORCH):
        sys.exit(f"torchtpu needs torch {TORCH}x and this Python has {found}: pip install 'torch=={TORCH}*'")
    return Path(spec.origin).parent


def header_folder() -> Path:
    try:
        header = Path(distribution(HEADER_PACKAGE).locate_file(HEADER))
    except PackageNotFoundError:
        header = Path()
    if not header.is_file():
        sys.exit(f"torchtpu needs the PJRT header of {HEADER_PACKAGE} to build: pip install {HEADER_PACKAGE}==0.0.1")
    return header.parent


check_python_headers()
print(torch_folder(), header_folder(), sep=";")
