"""An import in a function buys something: the module is not loaded anyway with the one that the function is in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[2]
MODULES: Mapping[str, Path] = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.glob("abstractcore/**/*.py")
}
Import: TypeAlias = ast.Import | ast.ImportFrom


def is_made_later(node: ast.AST) -> bool:
    """Whether the imports of a block are for types, or made on first access."""
    head = node.test if isinstance(node, ast.If) else node.items[0].context_expr if isinstance(node, ast.With) else None
    return head is not None and ast.unparse(head).startswith(("TYPE_CHECKING", "_LazyImports(globals()"))


def imports_in(node: ast.AST, *, in_functions: bool) -> Iterator[Import]:
    """Yields the imports that are made with a module, or those in its functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if in_functions:
                yield from (each for each in ast.walk(child) if isinstance(each, Import))
        elif isinstance(child, Import):
            if not in_functions:
                yield child
        elif isinstance(child, ast.stmt | ast.ExceptHandler) and not is_made_later(child):
            yield from imports_in(child, in_functions=in_functions)


def imported_modules(module: str, node: Import) -> set[str]:
    """Returns the modules that an import loads: those that define its names, if a package imports them later."""
    if isinstance(node, ast.Import):
        return {name.name for name in node.names}
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    source = resolve_name(f"{'.' * node.level}{node.module or ''}", package)
    if source not in MODULES:
        return {source}
    names = {name.name for name in node.names}
    inner = {f"{source}.{name}" for name in names}.intersection(MODULES)
    values = [getattr(import_module(source), name) for name in names if f"{source}.{name}" not in inner]
    return {source, *inner, *(getattr(each, "__module__", source) for each in values)}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def loaded_first(module: str) -> set[str]:
    """Returns the modules that a module itself loads, and its package."""
    nodes = imports_in(tree_of(module), in_functions=False)
    return {module.rpartition(".")[0] or module}.union(*(imported_modules(module, node) for node in nodes))


@cache
def loaded_with(module: str) -> frozenset[str]:
    """Returns the modules that the import of a module loads."""
    loaded: set[str] = set()
    waiting = {module}
    while waiting:
        loaded |= waiting
        waiting = set[str]().union(*(loaded_first(name) for name in waiting if name in MODULES)) - loaded
    return frozenset(loaded)


def test_imports_in_functions_are_of_what_their_module_does_without():
    needless: list[str] = []
    for module, path in MODULES.items():
        for node in imports_in(tree_of(module), in_functions=True):
            imported = imported_modules(module, node)
            if imported <= loaded_with(module) and not any(module in loaded_with(each) for each in imported):
                needless.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert needless == []
