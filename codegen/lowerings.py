"""Finds the JAX callables that ops.yaml names, and reads their signatures and sources."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from codegen.diagnostics import did_you_mean
from codegen.spec.model import Entry, Path

# The modules of FAMILIES that hold no lowerings but what is done with lowerings of all families.
SHARED = ("vjp", "pallas")
LIBRARIES = {"jnp": "jax.numpy", "lax": "jax.lax", "jsp": "jax.scipy.special"}
FAMILIES = "torchtpu.lowerings"


@dataclass(frozen=True)
class NotFound(Exception):
    """A path that leads nowhere: `part` of it is wrong."""

    message: str
    help: str | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Named:
    """A function that an entry names at `path`, to be looked up in `lowerings`."""

    path: Path
    dotted: str
    lowerings: Lowerings

    def source(self) -> str:
        return self.lowerings.source(self.dotted)


class Lowerings:
    """Resolves dotted paths. `package` holds the families; tests use their own. Kernels stand in a package beside it."""

    def __init__(self, package: str = FAMILIES) -> None:
        self.package = package
        self._modules: dict[str, ModuleType | NotFound] = {}
        self._definitions: dict[str, list[ast.stmt]] = {}

    def resolve(self, path: str) -> Callable[..., Any]:
        head, dot, name = path.partition(".")
        if not dot or not name:
            raise NotFound(
                f"'{path}' is not a dotted path",
                f"write {', '.join(f'{lib}.x' for lib in LIBRARIES)} or family.function",
            )
        module = self._module(head)
        target: Any = module
        for part in name.split("."):
            choices = [choice for choice in dir(target) if not choice.startswith("_")]
            if part.startswith("_") or not hasattr(target, part):
                raise NotFound(f"{module.__name__} has no '{name}'" + did_you_mean(part, choices))
            target = getattr(target, part)
        if not callable(target):
            raise NotFound(f"'{path}' is not a function")
        return target

    @functools.cached_property
    def kernels(self) -> Lowerings:
        return Lowerings(self.package.rpartition(".")[0] + ".kernels")

    def named_by(self, entry: Entry) -> list[Named]:
        """The functions that compute the entry."""
        named = [Named(("lowering",), entry.lowering, self)] if entry.lowering else []
        named += [Named(("vjp", "of"), entry.vjp.of, self)] if entry.vjp else []
        if entry.pallas:
            named += [Named(("pallas", part), getattr(entry.pallas, part), self.kernels) for part in ("kernel", "when")]
            named += [Named(("pallas", "fallback"), entry.pallas.fallback, self)]
        return named

    def package_of(self, family: str) -> str:
        return FAMILIES if family in SHARED else self.package

    def is_family(self, path: str) -> bool:
        return path.partition(".")[0] not in LIBRARIES

    def parameters(self, path: str) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.resolve(path)).parameters)

    def source(self, path: str) -> str:
        """The text of `definitions`: what the behaviour of the lowering rests on; of a library function, nothing."""
        return "\n".join(ast.unparse(node) for node in self.definitions(path))

    def definitions(self, path: str) -> list[ast.stmt]:
        """The definition of a hand-written lowering, followed by those that it reaches in the families."""
        if path not in self._definitions:
            found: dict[tuple[str, str], ast.stmt] = {}
            function = inspect.unwrap(self.resolve(path))
            self._reach(getattr(function, "__module__", ""), getattr(function, "__name__", ""), found)
            self._definitions[path] = list(found.values())
        return self._definitions[path]

    def _reach(self, module_name: str, name: str, found: dict[tuple[str, str], ast.stmt]) -> None:
        if (module_name, name) in found or not module_name.startswith((self.package, FAMILIES)):
            return
        module = importlib.import_module(module_name)
        definition = _top_level(module).get(name)
        if definition is None:
            return
        found[module_name, name] = definition
        for node in ast.walk(definition):
            if isinstance(node, ast.Name):
                value = getattr(module, node.id, None)
                self._reach(getattr(inspect.unwrap(value), "__module__", None) or module_name, node.id, found)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                owner = getattr(module, node.value.id, None)
                if isinstance(owner, ModuleType):
                    self._reach(owner.__name__, node.attr, found)

    def _module(self, head: str) -> ModuleType:
        if head not in self._modules:
            self._modules[head] = self._import(head)
        module = self._modules[head]
        if isinstance(module, NotFound):
            raise module
        return module

    def _import(self, head: str) -> ModuleType | NotFound:
        name = LIBRARIES.get(head) or f"{self.package_of(head)}.{head}"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                return NotFound(f"{name} does not import: {error}")
            choices = [*LIBRARIES, *self._families()]
            return NotFound(f"there is no family '{head}' in {self.package}" + did_you_mean(head, choices))
        except Exception as error:  # a family is the author's own code: whatever it raises is what they have to read
            return NotFound(f"{name} does not import: {type(error).__name__}: {error}")

    def _families(self) -> list[str]:
        try:
            package = importlib.import_module(self.package)
        except ModuleNotFoundError:  # no kernels
            return []
        return [module.name for module in pkgutil.iter_modules(package.__path__)]


@functools.cache
def _top_level(module: ModuleType) -> dict[str, ast.stmt]:
    """Top-level definitions and assignments of a module, by name."""
    named: dict[str, ast.stmt] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            named.update({target.id: node for target in node.targets if isinstance(target, ast.Name)})
    return named
