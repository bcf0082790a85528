"""generated/MANIFEST.json: what the tree was made from, so that a build of a stale tree can be refused.

Standard library only, and fast: CMake and tools/setup run this file. `python codegen/manifest.py [ROOT]` prints a line
and exits 1 when generated/ is stale.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

NAME = "MANIFEST.json"
ADVICE = "run tools/regen"


def manifest(spec: str, generator: str, entries: dict[str, str], outputs: dict[str, str]) -> str:
    """Of a generated tree: from the spec's text, the generator's hash, what is derived from each entry, the outputs."""
    record = {
        "ops.yaml": _sha(spec.encode()),
        "codegen": generator,
        "entries": {name: _sha(text.encode()) for name, text in sorted(entries.items())},
        "outputs": {path: _sha(text.encode()) for path, text in sorted(outputs.items())},
    }
    return json.dumps(record, indent=2) + "\n"


def entries(text: str) -> dict[str, str]:
    """The hash of each entry, from a manifest's text; nothing if it cannot be read."""
    try:
        return dict(json.loads(text)["entries"])
    except (ValueError, KeyError, TypeError):
        return {}


def codegen_hash(root: Path) -> str:
    """Of every source file of the generator, with its name."""
    digest = hashlib.sha256()
    folder = root / "codegen"
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".jinja") and p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + _sha(path.read_bytes()).encode() + b"\n")
    return digest.hexdigest()


def stale(root: Path) -> list[str]:
    """Why generated/ is not what ops.yaml and codegen/ make; nothing when it is."""
    folder = root / "generated"
    try:
        record = json.loads((folder / NAME).read_text())
        outputs = record["outputs"]
        if record["ops.yaml"] != _sha((root / "ops.yaml").read_bytes()):
            return ["ops.yaml has changed since generated/ was written"]
        if record["codegen"] != codegen_hash(root):
            return ["codegen/ has changed since generated/ was written"]
    except FileNotFoundError as error:
        return [f"{Path(error.filename).name} is missing"]
    except (ValueError, KeyError, TypeError):
        return [f"generated/{NAME} cannot be read"]
    reasons = []
    for path, digest in outputs.items():
        file = folder / path
        if not file.is_file():
            reasons.append(f"generated/{path} is missing")
        elif _sha(file.read_bytes()) != digest:
            reasons.append(f"generated/{path} was edited")
    return reasons


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    reasons = stale(root)
    for reason in reasons:
        print(f"generated/ is stale: {reason}; {ADVICE}", file=sys.stderr)
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
