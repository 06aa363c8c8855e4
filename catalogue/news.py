"""Lists what the newest packages of the vendors name and the catalogue does not know: models, and dates of retirement.

    python catalogue/news.py              download the packages with pip, as it is configured
    python catalogue/news.py FOLDER       read wheels that are there already

Run by hand, about once a month: docs/catalogue.md says what to do with the answers.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

from build import OUTPUT

from abstractcore.catalogue import FileCatalogue
from abstractcore.ports import CatalogueFile


@dataclass(frozen=True)
class Source:
    """The names of models in a package: the strings in the value of `variable` in a module.

    `providers` are ours, by the prefix of a name; "" stands for all names without another prefix.
    """

    package: str
    module: str
    variable: str
    providers: Mapping[str, str]


SOURCES = (
    Source("openai", "openai/types/shared/chat_model.py", "ChatModel", {"": "openai"}),
    Source("openai", "openai/types/shared/responses_model.py", "ResponsesModel", {"": "openai-responses"}),
    Source("anthropic", "anthropic/types/model.py", "Model", {"": "anthropic"}),
    Source("groq", "groq/types/chat/completion_create_params.py", "model", {"": "groq"}),
    Source("xai-sdk", "xai_sdk/types/model.py", "ChatModel", {"": "xai"}),
    Source(
        "pydantic-ai-slim",
        "pydantic_ai/models/_known_model_names.py",
        "KnownModelName",
        {
            "anthropic:": "anthropic",
            "bedrock:": "bedrock",
            "cerebras:": "cerebras",
            "cohere:": "cohere",
            "deepseek:": "deepseek",
            "google:": "google",
            "google-gla:": "google",
            "google-vertex:": "vertex",
            "groq:": "groq",
            "mistral:": "mistral",
            "openai:": "openai",
            "openai-responses:": "openai-responses",
            "xai:": "xai",
        },
    ),
)
RETIRED = Source("anthropic", "anthropic/resources/messages/messages.py", "DEPRECATED_MODELS", {"": "anthropic"})


def main(arguments: list[str]) -> int:
    """Prints the news; returns 1 if a package, module or variable is not found: then the table above is out of date."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = Path(arguments[0]) if arguments else _downloaded(Path(folder))
        try:
            lines = list(news(wheels, ours()))
        except LookupError as error:
            print(error, file=sys.stderr)
            return 1
    print("\n".join(lines) if lines else "nothing new")
    return 0


def ours() -> FileCatalogue:
    """Returns the catalogue as it was built last, without the user's own facts."""
    files = {path.stem: CatalogueFile(path.stem, path) for path in OUTPUT.glob("*.jsonl")}
    return FileCatalogue(lambda: files, {}, user_file=Path(os.devnull), updates=OUTPUT / "none")


def news(wheels: Path, catalogue: FileCatalogue) -> Iterator[str]:
    """Yields a line for each name that the catalogue does not know, and for each date that it does not have.

    Raises `LookupError` for a wheel, module or variable that is not there.
    """
    for source in SOURCES:
        new: dict[str, list[str]] = {provider: [] for provider in source.providers.values()}
        for name in _strings(_value(wheels, source)):
            provider, model = _provider_of(name, source.providers)
            if provider and not catalogue.profile(provider, model).known:
                new[provider].append(model)
        for provider, models in new.items():
            if models:
                yield f"{source.package}: {provider}: {', '.join(sorted(set(models)))}"
    for model, date in _retired(wheels):
        profile = catalogue.profile("anthropic", model)
        if profile.known and profile.retires != date:
            yield f"{RETIRED.package}: anthropic: {model} retires on {date}"


def _downloaded(folder: Path) -> Path:
    packages = sorted({source.package for source in (*SOURCES, RETIRED)})
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"]
    subprocess.run([*command, str(folder), *packages], check=True)
    return folder


def _value(wheels: Path, source: Source) -> ast.expr:
    """Returns the value of the source's variable, or the annotation of its field."""
    wheel = next(wheels.glob(f"{source.package.replace('-', '_')}-*.whl"), None)
    if wheel is None:
        raise LookupError(f"there is no wheel of {source.package} in {wheels}.")
    with ZipFile(wheel) as files:
        if source.module not in files.namelist():
            raise LookupError(f"{wheel.name} has no {source.module}: look for the names of models there.")
        tree = ast.parse(files.read(source.module))
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(target=ast.Name(id=source.variable)):
                return node.value or node.annotation
            case ast.Assign(targets=[ast.Name(id=source.variable)]):
                return node.value
            case _:
                continue
    raise LookupError(f"{source.module} in {wheel.name} has no {source.variable}.")


def _strings(value: ast.expr) -> Iterable[str]:
    return [node.value for node in ast.walk(value) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _provider_of(name: str, providers: Mapping[str, str]) -> tuple[str, str]:
    """Returns our provider and the model's name there; an empty provider for a name of another one."""
    for prefix in sorted(providers, key=len, reverse=True):
        if name.startswith(prefix):
            return providers[prefix], name.removeprefix(prefix)
    return "", name


def _retired(wheels: Path) -> Iterator[tuple[str, str]]:
    value = _value(wheels, RETIRED)
    if not isinstance(value, ast.Dict):
        raise LookupError(f"{RETIRED.variable} in {RETIRED.module} is not a mapping.")
    for key, date in zip(value.keys, value.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(date, ast.Constant):
            yield str(key.value), _day(str(date.value))


def _day(text: str) -> str:
    """Returns "November 6th, 2024" as "2024-11-06"."""
    for ordinal in ("st,", "nd,", "rd,", "th,"):
        text = text.replace(ordinal, ",")
    return datetime.strptime(text, "%B %d, %Y").date().isoformat()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
