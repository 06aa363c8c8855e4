"""OpenAI's description of its API, as far as tests need it; `python -m tests.server.openai_file FILE` trims it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

PATH = Path(__file__).parent / "data" / "openai-openapi.json"
_PATHS = (
    "/audio/speech",
    "/audio/transcriptions",
    "/audio/translations",
    "/chat/completions",
    "/completions",
    "/conversations",
    "/conversations/{conversation_id}",
    "/conversations/{conversation_id}/items",
    "/conversations/{conversation_id}/items/{item_id}",
    "/files",
    "/files/{file_id}",
    "/files/{file_id}/content",
    "/images/edits",
    "/images/generations",
    "/models",
    "/models/{model}",
    "/moderations",
    "/responses",
    "/responses/compact",
    "/responses/input_tokens",
    "/responses/{response_id}",
    "/responses/{response_id}/cancel",
    "/responses/{response_id}/input_items",
    "/uploads",
    "/uploads/{upload_id}/cancel",
    "/uploads/{upload_id}/complete",
    "/uploads/{upload_id}/parts",
)
_LEFT_OUT = ("deprecated", "description", "discriminator", "example", "examples", "summary", "tags", "title")


def trimmed(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the paths of this server with the schemas that they need, without texts.

    Discriminators are left out too: the file maps none of their values, which checkers take for names of schemas.
    """
    paths = {path: _without_texts(document["paths"][path]) for path in _PATHS}
    needed: dict[str, dict[str, Any]] = {}
    references = list(_references(paths))
    while references:
        _, _, kind, name = references.pop().split("/")
        found = needed.setdefault(kind, {})
        if name not in found:
            found[name] = _without_texts(document["components"][kind][name])
            references += _references(found[name])
    components = {kind: dict(sorted(found.items())) for kind, found in needed.items()}
    head = {name: document[name] for name in ("openapi", "info", "servers")}
    return {**head, "paths": paths, "components": components}


def _without_texts(value: Any, *, are_names: bool = False) -> Any:
    """Returns a part of the file; `are_names` if the keys are names of properties, which may be those of texts."""
    if isinstance(value, list):
        return [_without_texts(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_texts(each, are_names=name == "properties" and not are_names)
        for name, each in cast("dict[str, Any]", value).items()
        if are_names or not (name in _LEFT_OUT or name.startswith("x-"))
    }


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if isinstance(found.get("$ref"), str):
            yield found["$ref"]
        value = list(found.values())
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _references(each)


def main() -> None:
    """Writes the file: a schema a line."""
    document = trimmed(json.loads(Path(sys.argv[1]).read_bytes()))
    components = document.pop("components")
    lines = [
        f"{json.dumps(kind)}:{{\n"
        + ",\n".join(f"{json.dumps(name)}:{_compact(each)}" for name, each in found.items())
        + "\n}"
        for kind, found in components.items()
    ]
    paths = ",\n".join(f"{json.dumps(path)}:{_compact(each)}" for path, each in document.pop("paths").items())
    head = _compact(document)[:-1]
    text = f'{head},\n"paths":{{\n{paths}\n}},\n"components":{{\n' + ",\n".join(lines) + "\n}}\n"
    PATH.write_text(text, encoding="utf-8")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
