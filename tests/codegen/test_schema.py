"""generated/ops.schema.json: what editors are told."""

import json
from pathlib import Path

import pytest
import yaml

from codegen.spec.fields import FIELDS, STRATEGIES, json_schema, reference
from codegen.spec.model import Entry
from tests.codegen.json_schema import fits
from tests.codegen.specs import SMALL

ROOT = Path(__file__).resolve().parents[2]
HEAD = {"torch": "2.13"}


@pytest.mark.parametrize("spec", [ROOT / "ops.yaml", SMALL], ids=["ops.yaml", "small.yaml"])
def test_specs_fit(spec: Path) -> None:
    document = yaml.safe_load(spec.read_text())
    entry_schema = json_schema()["properties"]["ops"]["items"]
    assert [entry for entry in document["ops"] if not fits(entry, entry_schema)] == []
    assert fits(document, json_schema())


@pytest.mark.parametrize(
    "entry",
    [
        {"op": "mm", "lowring": "matmul.mm"},
        {"op": "mm", "promote": "int_to_flaot"},
        {"op": "mm", "promote": {"default": "self"}},
        {"op": "mm", "decompose": False},
        {"op": "mm", "meta": "fixed"},
        {"op": "mm", "tests": {"tol": {"fp32": 1e-5}}},
        {"op": "mm", "vjp": {"of": "matmul.mm"}},
        {"op": "mm", "custom": "tpu::mm() -> ()"},
        {"lowering": "matmul.mm"},
    ],
)
def test_mistakes_do_not_fit(entry: dict) -> None:
    assert not fits({**HEAD, "ops": [entry]}, json_schema())


def test_every_field_is_described_once() -> None:
    """The table, the model and what is made of the table have the same fields."""
    schema = json_schema()["properties"]["ops"]["items"]["properties"]
    assert list(schema) == list(FIELDS)
    assert all(field["description"] for field in schema.values())
    assert all(f"| `{name}` |" in reference() for name in FIELDS)
    assert set(FIELDS) == set(Entry.__dataclass_fields__) - {"written", "marks", "span"}
    assert len(STRATEGIES) == 6


def test_schema_is_what_the_table_makes() -> None:
    assert json.loads(json.dumps(json_schema())) == json_schema()
