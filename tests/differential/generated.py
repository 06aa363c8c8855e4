"""The transpilers to compare, and deterministic generated calls and replies for each."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from abstractcore.ports import HasModelExamples, Transpiler
from abstractcore.schema import (
    CachePoint,
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    Sampling,
    TextPart,
    ToolChoice,
    ToolSpec,
    to_data,
)
from abstractcore.testing import strategies
from abstractcore_providers.plugin import register_providers, register_wire_formats
from tests.differential.worker import session
from tests.providers.probes import probes
from tests.providers.published import provider_of

ROOT = Path(__file__).parents[2]
SEED = 20_260_101
UNREACHABLE = ("scripted",)
"""Providers without a wire format."""
WORD = re.compile(r"(?=.*[a-z])[a-z0-9][\w./:@+-]{1,60}", re.IGNORECASE)
NAME = re.compile(r"(?!.*\d)\w*_\w*", re.ASCII)
"""Field names, which are never model names."""
_LONGEST_TEXT = 300
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
ASKED = tuple(
    ModelCall(
        "m",
        (Message.system("Be brief."), Message.user("hi")),
        tools=(ToolSpec("f", "F.", SCHEMA, cache=CachePoint()),),
        tool_choice=ToolChoice("required"),
        sampling=Sampling(9000, 0.5, 0.5, 5, 7, ("END",), 0.1, 0.1, 3),
        output=OutputSchema("answer", SCHEMA),
        thinking=thinking,
    )
    for thinking in ("high", "off")
)
"""Calls with every option in which models differ."""


@dataclass(frozen=True)
class Target:
    """A format in its vendor's own dialect or, with `model`, that of a provider's session.

    `junk` is how often each value of its input is replaced by junk.
    """

    format: str
    provider: str
    transpiler: Transpiler
    junk: int
    model: str | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Identifies the transpiler for the worker."""
        return {"format": self.format, **({"provider": self.provider, "model": self.model} if self.model else {})}

    def calls(self, examples: int) -> list[ModelCall]:
        """A call for each feature of calls, and `examples` of each of three kinds."""
        probed = [probe.call.with_(provider=self.provider) for probe in probes(self.format).values()]
        calls = [*probed, *_calls(self.provider, examples)]
        return [call.with_(model=self.model) for call in calls] if self.model else calls

    def replies(self, examples: int) -> list[ModelReply]:
        """Replies with every part that the format supports, and `examples` more."""
        return [*self.shown(), *_replies(self.provider, examples)]

    def shown(self) -> list[ModelReply]:
        """A reply for each assistant message in the calls with one feature each."""
        messages = [message for probe in probes(self.format).values() for message in probe.call.messages]
        answers = [message.parts for message in messages if message.role == "assistant"]
        return [ModelReply(parts, "stop", model=self.model or "m", provider=self.provider) for parts in answers]


def generate(strategy: SearchStrategy[Any], count: int) -> list[Any]:
    """Returns the same `count` examples each time, or as many as there are."""
    found: list[Any] = []

    @seed(SEED)
    @settings(
        max_examples=max(count, 1),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def keep(example: Any) -> None:
        found.append(example)

    keep()
    return found


@cache
def _calls(provider: str, examples: int) -> Sequence[ModelCall]:
    texts = strategies.text_parts()
    shown = texts | strategies.image_parts() | strategies.document_parts()
    options = strategies.item_options(provider)
    return [
        *generate(strategies.calls(provider, texts, texts), examples),
        *generate(strategies.calls(provider, shown, texts, options=options), examples),
        *generate(strategies.calls(provider, hosted=strategies.hosted_tools(), options=options), examples),
    ]


@cache
def _replies(provider: str, examples: int) -> Sequence[ModelReply]:
    return generate(strategies.replies(provider, options=strategies.item_options(provider)), examples)


# Targets


def formats() -> list[Target]:
    """Every wire format in its vendor's own dialect."""
    return [Target(each.name, provider_of(each.name), each.transpiler(), 4) for each in register_wire_formats()]


def sessions() -> Iterator[Target]:
    """Every provider with some of its models; the first of each in more detail."""
    for provider in _providers():
        for index, model in enumerate(models_of(provider)):
            transpiler = session(provider, model).transpiler
            yield Target(format_of(transpiler), provider, transpiler, 0 if index else 1, model)


def format_of(transpiler: Transpiler) -> str:
    """The name of a transpiler's format: the one whose rendered replies have the same keys."""
    (name,) = [each.name for each in register_wire_formats() if _keys(each.transpiler()) == _keys(transpiler)]
    return name


def _keys(transpiler: Transpiler) -> set[str]:
    return set(json.loads(transpiler.render(ModelReply((TextPart("hi"),), "stop")).body))


def _providers() -> list[str]:
    return [provider.name for provider in register_providers() if provider.name not in UNREACHABLE]


@cache
def models_of(provider: str) -> Sequence[str]:
    """The documented models, and one for each name prefix."""
    table = tomllib.loads((ROOT / "tests" / "model_names.toml").read_text(encoding="utf-8"))
    (found,) = [each for each in register_providers() if each.name == provider]
    examples = found.model_examples.values() if isinstance(found, HasModelExamples) else ()
    return sorted({*table.get(provider, {}).get("models", {}), *examples}) or ["m"]


def connections(words: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Connections to every provider with every word that may be a model's name."""
    names = [word for word in words if not NAME.fullmatch(word)]
    calls = [to_data(call) for call in ASKED]
    for provider in _providers():
        format = format_of(session(provider, models_of(provider)[0]).transpiler)
        for model in [None, *models_of(provider), *names]:
            given = {"provider": provider, "model": model, "calls": calls}
            yield {"format": format, "operation": "connect", "with": given}


@cache
def texts_of_errors() -> Sequence[str]:
    """The texts of vendors' errors in the formats' tests."""
    paths = sorted((ROOT / "tests" / "providers" / "formats").glob("*/test_errors.py"))
    return sorted({text for path in paths for text in _texts_in(path) if " " in text and len(text) < _LONGEST_TEXT})


def words_in(*trees: Path) -> list[str]:
    """Words in the modules of providers in these trees: error codes, prefixes of model names, and others."""
    found: set[str] = set()
    for tree in trees:
        for path in sorted(tree.rglob("abstractcore_providers/**/*.py")):
            found.update(text for text in _texts_in(path) if WORD.fullmatch(text))
    return sorted(found)


def _texts_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
