"""Public names as data: signatures, docstrings and members, read from the source by griffe, without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import dedent, indent

import griffe

from tests.documents import ROOT
from tests.reference.rooms import MADE_FOR_USERS, ROOMS

SOURCES = (ROOT, *(path.parent for path in ROOT.glob("packages/*/pyproject.toml")))
_CODE = re.compile(r"`([A-Za-z_][\w.]*)`")
_WIDTH = 100
_PACKAGES = sorted({room.partition(".")[0] for room in ROOMS})


@dataclass(frozen=True, eq=False)
class Entry:
    """A name with its signature and description: a public name, or a member of one."""

    name: str
    target: griffe.Object
    signature: str
    parameters: Sequence[str] = ()
    options: griffe.Class | None = None
    """The typed dict whose keys are the other keyword arguments."""

    @property
    def text(self) -> str:
        """The docstring."""
        return self.target.docstring.value if self.target.docstring else ""

    @property
    def named(self) -> set[str]:
        """The names in backticks in the docstring, with the last ones of dotted names."""
        return {part for name in _CODE.findall(self.text) for part in (name, name.rpartition(".")[2])}

    @cached_property
    def raised(self) -> set[str]:
        """The names of exceptions that its own statements raise, but for those that it catches itself."""
        if not isinstance(self.target, griffe.Function):
            return set()
        tree = ast.parse(dedent(self.target.source))
        tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers]
        caught = {id(inner) for each in tries for line in each.body for inner in ast.walk(line)}
        raises = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and id(node) not in caught]
        named = [each.exc.func if isinstance(each.exc, ast.Call) else each.exc for each in raises if each.exc]
        return {ast.unparse(each).rpartition(".")[2] for each in named}


@dataclass(frozen=True, eq=False)
class Page(Entry):
    """A public name of a room."""

    room: str = ""
    kind: str = ""
    bases: Sequence[str] = ()
    fields: Sequence[Entry] = ()
    methods: Sequence[Entry] = ()
    keys: Sequence[Entry] = field(default=(), repr=False)
    """The other keyword arguments of a function."""

    @property
    def module(self) -> str:
        """The module that defines it."""
        return self.target.module.path

    @property
    def is_error(self) -> bool:
        """Whether it is an exception of these packages."""
        if not isinstance(self.target, griffe.Class):
            return False
        return "AbstractCoreError" in {self.name, *(each.name for each in self.target.mro())}

    @property
    def full_name(self) -> str:
        return f"{self.room}.{self.name}"

    @property
    def first_sentence(self) -> str:
        paragraph = " ".join(self.text.partition("\n\n")[0].split())
        return re.split(r"(?<=[.:]) (?=[A-Z`])", paragraph)[0].rstrip(":")


class Reader:
    """The source of all public packages, read once."""

    def __init__(self) -> None:
        loader = griffe.GriffeLoader(search_paths=SOURCES, allow_inspection=False)
        for package in _PACKAGES:
            loader.load(package)
        self._loaded = loader.modules_collection
        self._public = {target.path for _, _, target in self._exported()}

    def _exported(self) -> Iterator[tuple[str, str, griffe.Object]]:
        """Yields each public name with its first room."""
        seen: set[str] = set()
        for room in ROOMS:
            for name in self.names(room):
                target = self._target(f"{room}.{name}")
                if target is not None and not isinstance(target, griffe.Module) and target.path not in seen:
                    seen.add(target.path)
                    yield room, name, target

    def pages(self) -> Iterator[Page]:
        """Yields the public names, in the order of their rooms."""
        for room, name, target in self._exported():
            yield self._page(room, name, target)

    def names(self, room: str) -> list[str]:
        """Returns what a package exports: its `__all__`, or what it imports as itself."""
        package = self._loaded[room]
        if package.exports:
            return sorted(str(name) for name in package.exports)
        return sorted(name for name, each in package.members.items() if each.is_alias and not name.startswith("_"))

    def _target(self, path: str) -> griffe.Object | None:
        found = self._loaded[path]
        try:
            return found.final_target if isinstance(found, griffe.Alias) else found
        except griffe.AliasResolutionError:  # of the standard library
            return None

    def _page(self, room: str, name: str, target: griffe.Object) -> Page:
        if isinstance(target, griffe.Class):
            return self._class(room, name, target)
        if isinstance(target, griffe.Function):
            entry = self._function(name, target)
            keys = [self._attribute(each) for each in self._fields(entry.options)] if entry.options else []
            return Page(
                name, target, entry.signature, entry.parameters, entry.options, room=room, kind="function", keys=keys
            )
        assert isinstance(target, griffe.Attribute | griffe.TypeAlias)
        return Page(name, target, f"{name} = {target.value}", room=room, kind="type or value")

    def _class(self, room: str, name: str, target: griffe.Class) -> Page:
        created = next((each.members["__init__"] for each in self._line(target) if "__init__" in each.members), None)
        signature, parameters = f"class {name}", ()
        if isinstance(created, griffe.Function) and name not in MADE_FOR_USERS:
            entry = self._function(name, created)
            signature, parameters = (
                f"class {entry.signature.removeprefix('def ').partition(') ->')[0]}",
                entry.parameters,
            )
            signature = signature if signature.endswith(")") else f"{signature})"
        bases = [str(base).partition("[")[0].rpartition(".")[2] for base in target.bases]
        methods = [self._function(each.name, each) for each in self._methods(target)]
        fields = [self._attribute(each) for each in self._fields(target)]
        return Page(
            name, target, signature, parameters, room=room, kind="class", bases=bases, fields=fields, methods=methods
        )

    def _line(self, target: griffe.Class) -> Iterator[griffe.Class]:
        """Yields the class and its bases in these packages, up to one that has a page."""
        yield target
        for base in target.mro():
            if base.path in self._public:
                return
            if base.path.partition(".")[0] in _PACKAGES:
                yield base

    def _members(self, target: griffe.Class) -> dict[str, griffe.Object]:
        """Returns the members that have public names, its own before inherited ones."""
        found: dict[str, griffe.Object] = {}
        for each in self._line(target):
            for name, member in each.members.items():
                if not name.startswith("_") and not isinstance(member, griffe.Alias):
                    found.setdefault(name, member)
        return found

    def _methods(self, target: griffe.Class) -> list[griffe.Function]:
        return [each for each in self._members(target).values() if isinstance(each, griffe.Function)]

    def _fields(self, target: griffe.Class) -> list[griffe.Attribute]:
        return [each for each in self._members(target).values() if isinstance(each, griffe.Attribute)]

    def _attribute(self, target: griffe.Attribute) -> Entry:
        value = f" = {target.value}" if target.value is not None and "field(" not in str(target.value) else ""
        return Entry(target.name, target, f"{target.name}: {target.annotation or 'Any'}{value}")

    def _function(self, name: str, target: griffe.Function) -> Entry:
        words: list[str] = []
        parameters: list[str] = []
        options: griffe.Class | None = None
        starred = False
        for each in target.parameters:
            if each.name in ("self", "cls"):
                continue
            if each.kind is griffe.ParameterKind.keyword_only and not starred:
                words.append("*")
                starred = True
            words.append(_parameter(each))
            if each.kind is griffe.ParameterKind.var_positional:
                starred = True
            if each.kind is griffe.ParameterKind.var_keyword and "Unpack[" in str(each.annotation):
                options = self._options(target, str(each.annotation))
            else:
                parameters.append(each.name)
        return Entry(name, target, _signature(name, target, words), parameters, options)

    def _options(self, target: griffe.Function, annotation: str) -> griffe.Class | None:
        inside = annotation.partition("[")[2].rstrip("]")
        parts = target.resolve(inside.partition(".")[0]), *inside.split(".")[1:]
        found = self._target(".".join(parts))
        return found if isinstance(found, griffe.Class) else None


def _parameter(parameter: griffe.Parameter) -> str:
    stars = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}
    annotation = f": {parameter.annotation}" if parameter.annotation is not None else ""
    has_default = parameter.default is not None and parameter.kind not in stars
    default = f"{' = ' if annotation else '='}{parameter.default}" if has_default else ""
    return f"{stars.get(parameter.kind, '')}{parameter.name}{annotation}{default}"


def _signature(name: str, target: griffe.Function, words: Sequence[str]) -> str:
    begin = "async def" if "async" in target.labels else "def"
    returns = f" -> {target.returns}" if target.returns is not None else ""
    line = f"{begin} {name}({', '.join(words)}){returns}"
    if len(line) <= _WIDTH:
        return line
    lines = indent(",\n".join(words), "    ")
    return f"{begin} {name}(\n{lines},\n){returns}"
