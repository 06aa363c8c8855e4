"""`response_model`: its JSON Schema, the validation of answers, and their JSON.

pydantic is loaded at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .output_type import OutputType, ResponseModel, no_output, output_type

if TYPE_CHECKING:
    from .documents import canonical_json, digest, to_json

_LATER = {
    "canonical_json": "documents",
    "digest": "documents",
    "to_json": "documents",
}
"""Names whose module is imported on first access."""

__all__ = ["OutputType", "ResponseModel", "canonical_json", "digest", "no_output", "output_type", "to_json"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
