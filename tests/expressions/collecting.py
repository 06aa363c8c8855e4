"""Finds the regular expressions of the packages, by their source: every call of `re` with a pattern."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "abstractcore": ROOT,
    "abstractcore_providers": ROOT / "providers",
    "abstractcore_media": ROOT / "media",
    "abstractcore_cli": ROOT / "cli",
    "abstractcore_server": ROOT / "server",
    **{
        path.name: path
        for folder in ("packages", "plugins")
        for path in sorted((ROOT / folder).iterdir())
        if (path / path.name).is_dir()
    },
}
ANCHORED = frozenset({"match", "fullmatch"})
_FUNCTIONS = ANCHORED | {"compile", "search", "sub", "subn", "split", "findall", "finditer"}
_METHODS = _FUNCTIONS - {"compile"}
_NOT_RUN = frozenset({"pattern", "flags", "groupindex", "groups"})


ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "abstractcore/catalogue/positions.py": {
        "names": ["models", "prices"],
        "name": "input",
        "header": r"\[{1,2}[ \t]*[\"']?models[\"']?[ \t]*\.[ \t]*[\"']?input[\"']?[ \t]*[.\]]",
    },
    "abstractcore/catalogue/documents.py": {"key": "models"},
    "cli/abstractcore_cli/catalogues.py": {"parts": ["claude", "sonnet", "5"]},
    "abstractcore/mcp/config.py": {"key": "mcpServers"},
    "abstractcore/traces/excerpts.py": {"pattern": r"refund\W+policy|invoice"},
    "abstractcore/scrubbing/secrets.py": {
        "secrets": ["key7", "abcd"],
        "forms": ["key7", "abcd"],
        "longest_first": ["sk-proj-0", "sk-pr", "eyJ"],
    },
    "server/abstractcore_server/configuration/reading.py": {"each": ("options", "api_version")},
    "server/abstractcore_server/context.py": {"pattern": "/v1/conversations/(?P<id>.+)/items/(?P<item>.+)"},
    "abstractcore/tools/prompted/value_ends.py": {"markers": ("<tool_call>", "[TOOL_CALLS]", "{"), "quote": '"'},
    "media/abstractcore_media/common/sniffing.py": {"signature": rb"\A.*TRUEVISION-XFILE"},
    "plugins/abstractmusic/abstractmusic/composing/wishes.py": {"word": "sea shanty"},
    "providers/abstractcore_providers/common/json_schemas/keywords.py": {"part": r"\(\?[=!<]|\\[1-9bB]|[$^]"},
    "providers/abstractcore_providers/common/conversations.py": {"key": "arguments"},
    "providers/abstractcore_providers/common/name_rules.py": {
        "first": "a-zA-Z_",
        "alphabet": "a-zA-Z0-9_.:-",
        "longest": 128,
        "self": SimpleNamespace(alphabet="a-zA-Z0-9_.:-", first="a-zA-Z_"),
    },
}
"""Values of what patterns inside functions are built of, by module."""


@dataclass(frozen=True, slots=True)
class Source:
    """A module as it is written."""

    name: str
    path: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name if self.path.endswith("__init__.py") else self.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Written:
    """A call of `re` with a pattern. `methods` are those that run it; `search` stands for whatever is not known."""

    place: str
    call: ast.Call
    methods: frozenset[str]

    @property
    def argument(self) -> str:
        return ast.unparse(self.call.args[0])


def sources() -> list[Source]:
    """Returns all modules of the packages."""
    found: list[Source] = []
    for package, folder in FOLDERS.items():
        for path in sorted((folder / package).rglob("*.py")):
            name = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
            found.append(Source(name, str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))))
    return found


def all_written(modules: list[Source]) -> Iterator[tuple[Source, Written]]:
    """Yields each call of `re` with a pattern."""
    uses = _uses(modules)
    for module in modules:
        names = {id(inner): name for name, value in _assigned(module.tree) for inner in ast.walk(value)}
        for call in ast.walk(module.tree):
            function = _function(call)
            if function is None:
                continue
            methods = {function}
            if function == "compile":
                methods = uses.get((module.name, names.get(id(call), "")), {"search"})
            yield module, Written(f"{module.path}:{call.lineno}", call, frozenset(methods))


def indirect(modules: list[Source]) -> list[str]:
    """Returns the places that use `re` in a way that `all_written` does not see."""
    found: list[str] = []
    for module in modules:
        called = {id(node.func) for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
        for node in ast.walk(module.tree):
            renamed = isinstance(node, ast.Import) and any(each.name == "re" and each.asname for each in node.names)
            taken = isinstance(node, ast.ImportFrom) and node.module == "re" and not node.level
            passed = _is_of_re(node) and id(node) not in called
            if renamed or taken or passed:
                found.append(f"{module.path}:{node.lineno}")
    return found


def compiled(module: Source, written: Written) -> re.Pattern[Any]:
    """Returns the pattern of a call; raises `NameError` for one with an argument that has no value in `ARGUMENTS`."""
    call = written.call
    flags = [each.value for each in call.keywords if each.arg == "flags"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        flags += call.args[1:2]
    names = vars(importlib.import_module(module.name)) | ARGUMENTS.get(module.path, {})
    return re.compile(*(eval(ast.unparse(each), names) for each in (call.args[0], *flags)))


def _function(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and _is_of_re(node.func):
        return node.func.attr
    return None


def _is_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "re"
        and node.attr in _FUNCTIONS
    )


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yields names of the module, with the expressions that are assigned to them."""
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            yield targets[0].id, value


def _uses(modules: list[Source]) -> Mapping[tuple[str, str], set[str]]:
    """Returns the methods that are called of each name of each module, there or where it is imported."""
    found: dict[tuple[str, str], set[str]] = {}
    for module in modules:
        owners = dict(_imports(module))
        methods = {
            id(name): node.attr
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Attribute)
            for name in _chosen_names(node.value)
        }
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            method = methods.get(id(node), "search")  # one that is given to a function may be searched there
            if method not in _NOT_RUN:
                key = owners.get(node.id, (module.name, node.id))
                found.setdefault(key, set()).add(method if method in _METHODS else "search")
    return found


def _chosen_names(node: ast.expr) -> Iterator[ast.Name]:
    """Yields the names of which an expression is one, or an item of one."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Subscript):
        yield from _chosen_names(node.value)
    elif isinstance(node, ast.IfExp):
        yield from (*_chosen_names(node.body), *_chosen_names(node.orelse))


def _imports(module: Source) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            package = module.package.split(".")
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            owner = ".".join(filter(None, (base, node.module)))
            for each in node.names:
                yield each.asname or each.name, (owner, each.name)
