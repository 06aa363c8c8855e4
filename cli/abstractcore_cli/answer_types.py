"""`AnswerType`: the type of the answer that `--schema` names, and answers of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from abstractcore import InvalidInputError
from abstractcore.outputs import output_type
from abstractcore.registry import similar_path
from abstractcore.schema import shown

from .bounded_input import read_text
from .module_names import ModuleNames

_OPTION: Final = "--schema"
_WRITE: Final = "Write --schema FILE.json, with a JSON Schema, or --schema MODULE:TYPE, as in --schema shop:Order."


@dataclass(frozen=True, slots=True)
class AnswerType:
    """A type for `response_model`: a JSON Schema or a Python type."""

    response_model: Any

    @classmethod
    def named(cls, name: str) -> AnswerType:
        """Returns the type that `--schema` names: a file with a JSON Schema, the schema itself, or MODULE:TYPE.

        Raises `InvalidInputError` for one that is not there, is not JSON, or is not a type of answers.
        """
        found = _json(name, name) if name.lstrip().startswith("{") else _named(name)
        label = "" if found is name or name.lstrip().startswith("{") else f" {name}"
        try:
            output_type(found)
        except InvalidInputError as error:
            message = error.message.removeprefix("response_model").lstrip(".: ")
            hint = error.hint if isinstance(found, Mapping) else _WRITE
            raise InvalidInputError(message, path=f"{_OPTION}{label}", hint=hint or _WRITE) from None
        return cls(found)

    def data(self, output: Any) -> Any:
        """Returns an answer as plain JSON, with the names that its schema has."""
        if isinstance(self.response_model, Mapping):
            return output
        from pydantic import TypeAdapter

        adapter: TypeAdapter[Any] = TypeAdapter(self.response_model)
        return json.loads(adapter.dump_json(output, by_alias=True))


def _named(name: str) -> Any:
    path = Path(name).expanduser()
    module, colon, attribute = name.partition(":")
    modules = ModuleNames(_OPTION, "type", _WRITE)
    if module.endswith(".py"):
        raise modules.refused_file(module, f":{attribute or 'TYPE'}")
    if path.is_file() or not colon or path.suffix.lower() == ".json":
        return _json(_text(path, name), name)
    if not module or not attribute:
        raise InvalidInputError(f"{shown(name)} is neither a file nor a type", path=_OPTION, hint=_WRITE)
    return modules.attribute(modules.module(module), attribute)


def _text(path: Path, name: str) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError:
        raise InvalidInputError(f"{name} is not JSON: it is not text in UTF-8", path=_OPTION, hint=_WRITE) from None
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        hint = similar_path(str(path)) or _WRITE
        raise InvalidInputError(f"{name} cannot be read: {why}", path=_OPTION, hint=hint) from None


def _json(text: str, name: str) -> Mapping[str, Any]:
    try:
        schema: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{shown(name)} is not JSON: {error}", path=_OPTION, hint=_WRITE) from None
    if not isinstance(schema, dict):
        raise InvalidInputError(f"{shown(name)} is not a JSON Schema: expected an object", path=_OPTION, hint=_WRITE)
    return cast("dict[str, Any]", schema)
