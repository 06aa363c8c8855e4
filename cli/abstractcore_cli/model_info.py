"""`abstractcore models info`: the facts about a model, by provider.

The facts of `models info` in words: what their values mean, and what follows from them for a call.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

import abstractcore

from .catalogues import check_provider, facts_json, left_out, open_catalogue, same_model
from .model_search import price_lines
from .reporting import catalogue_json, reported
from .screen import note, show_facts, write

if TYPE_CHECKING:
    from abstractcore.catalogue import FileCatalogue, ModelEntry

_LEFT_OUT = "left out of requests, with a warning"
_WORDS: Mapping[str, Mapping[object, str]] = {
    "tools": {
        "without_thinking": "only without thinking",
        "thinking_unset": "only if thinking is off or not set",
        "never": "no tools of its own: tools are sent in the prompt, with a warning",
    },
    "forced_tools": {
        "without_thinking": "only without thinking",
        "without_budget": "only without a thinking budget",
        "never": "never: a tool choice that forces a call becomes auto, with a warning",
    },
    "structured_output": {
        "schema": "by JSON Schema",
        "json": "JSON, but no schema",
        "none": "none: a schema becomes a tool or an instruction",
    },
    "cache_points": {0: "none: the provider caches without them"},
    "accepts_prefill": {False: "no: the last message must not be the assistant's"},
    "media_after_results": {True: "yes: files of tool results are sent after them, in a user message"},
    "output_with_tools": {False: "no: beside tools, a schema becomes a tool, or has a call of its own"},
    "parallel_tools": {False: "no: one tool call at a time"},
    "cache_tools": {False: "no: not behind tools"},
    "tool_search": {
        True: "yes: the provider searches deferred tools",
        False: "no: deferred tools are searched in this program",
    },
}
"""Values that do not explain themselves."""
_REMARKS: Mapping[str, str] = {
    "assumed": "sent as they are, with a warning: it is not known whether the model accepts them",
    "encodable": "sent as they are if they cannot be converted to text, with a warning",
    "media_limits": "at most, in a request",
    "stored_bytes": "bytes of a file, at most; larger files than a request may have are uploaded",
    "transcription": "of recordings, at an endpoint for that: transcription_model=... in create_llm",
    "embedding": "of texts: llm.embed(...)",
    "reranking": "of documents: llm.rerank(...)",
    "media_tokens": "about, of each file, by the vendor's rule",
    "sampling": "sent unless a call sets them",
    "cache_points": "at most, in a request",
    "cache_minimum": "tokens; a shorter beginning of a prompt is not cached",
    "tools_provider": "the provider where it has tools together with thinking",
    "refused": _LEFT_OUT,
    "refused_with_thinking": f"{_LEFT_OUT}, while it thinks",
    "refused_with_level": f"{_LEFT_OUT}, at that level of thinking",
    "refused_together": "the second one of a pair is left out, with a warning",
    "no_effect": "accepted and ignored",
    "ranges": "a value outside becomes the nearest one, with a warning",
    "ranges_with_thinking": "while it thinks; a value outside becomes the nearest one, with a warning",
    "retires": "calls have a warning from that day on",
    "routed": "calls are answered by that model, by its rules and at its price, from that day on",
    "replaced_by": "to use instead",
    "settings": "how requests are written",
}
"""What follows from a fact that has a value."""


def in_words(name: str, value: Any) -> str:
    """Returns a fact on one line."""
    words = None if isinstance(value, list | Mapping) else _WORDS.get(name, {}).get(value)
    if words is not None:
        return words
    if name == "thinking" and isinstance(value, Mapping):
        return "; ".join(_thinking(cast("Mapping[str, Any]", value)))
    remark = _REMARKS.get(name) if value not in (None, [], {}) else None
    return f"{_text(value)} ({remark})" if remark else _text(value)


def _thinking(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields how the thinking of a model is set, and whether it is on."""
    levels, budget = facts.get("levels"), facts.get("budget")
    if not levels and not budget and not facts.get("on_by_default"):
        yield "no"
        return
    if levels:
        yield f"levels {_text(levels)}"
    if budget:
        within = ", within max_output_tokens" if facts.get("budget_within_output") else ""
        yield f"budget of {budget[0]:,} to {budget[1]:,} tokens{within}"
    yield "can be off" if facts.get("can_be_off", True) else "cannot be off"
    yield "on by default" if facts.get("on_by_default") else "off by default"
    if facts.get("words"):
        yield f"sent as {_text(facts['words'])}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(item)}" for key, item in cast("Mapping[str, Any]", value).items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in cast("list[Any]", value)) or "none"
    return "unknown" if value is None else str(value)


_LAST = ("source", "checked")
_HIDDEN = frozenset({*_LAST, "known", "family"})


def show_info(name: str, provider: str | None, *, as_json: bool) -> None:
    """Prints what the catalogue knows about a model at each provider that has it, or at one."""
    with reported(as_json=as_json):
        from abstractcore.registry import did_you_mean

        catalogue = open_catalogue()
        provider, name = _provider_and_model(catalogue, provider, name)
        if provider and not name:
            hint = f"`abstractcore models list --provider {provider}` lists them."
            raise abstractcore.InvalidInputError(f"no model of {provider} is given.", hint=hint)
        found = [catalogue.entry(provider, name)] if provider else _everywhere(catalogue, name)
        if as_json:
            write(catalogue_json({"models": [facts_json(entry) for entry in found]}))
            return
        for titles, entry in _group_by_facts(found, name):
            show_facts(", ".join(titles), _rows(entry, catalogue))
        for entry in found:
            target = catalogue.models(entry.provider).alias(name)
            if target is not None:
                note(f"{entry.provider}/{name} is an alias of {target}.")
            if entry.match == "family":
                note(f"{entry.provider} has no row for {name}: it is known by its family {entry.name} only.")
            elif entry.match == "unknown":
                note(f"{entry.provider} has no row for {name}: this is what it does for unknown models.")
            if not entry.profile.known:
                similar = catalogue.models(entry.provider).similar(name)
                meant = f" {did_you_mean([*similar])}" if similar else ""
                note(f"Calls of {name} have a warning, and options are sent as they are given.{meant}")
            if entry.match != "model":
                others = _with_row(catalogue, name)
                if others:
                    note(f"Providers that have a row for {name}: {', '.join(others)}.")
            if entry.own_facts:
                note(f"{entry.provider}: {', '.join(sorted(entry.own_facts))} from {catalogue.user_path}")
        prices = [row for entry in found for row in catalogue.models(entry.provider).price_rows(entry.name or name)]
        if prices:
            note("Prices are in US dollars; a factor, such as x0.5, applies to all of them but fees of tools.")
        if any(not row.sure or row.sure_until is not None for row in prices):
            note("An estimate is a price that may differ: costs computed with it have cost_source 'estimate'.")


def _provider_and_model(catalogue: FileCatalogue, provider: str | None, name: str) -> tuple[str | None, str]:
    """Returns the provider and the model; a name may begin with its provider, as in `create_llm`."""
    if provider is not None:
        check_provider(catalogue, provider)
        return provider, name
    first, slash, rest = name.partition("/")
    return (first, rest) if slash and first in catalogue.providers else (None, name)


def _with_row(catalogue: FileCatalogue, name: str) -> list[str]:
    """Returns the providers that have a row for a name."""
    found: list[str] = []
    for provider in catalogue.providers:
        with left_out(provider, {}):
            if name in catalogue.models(provider).names:
                found.append(provider)
    return found


def _check_maker(name: str, known: Iterable[str], providers: Iterable[str]) -> None:
    """Raises `InvalidInputError` for a name that begins like PROVIDER/, but with neither a provider nor, as in
    meta-llama/Llama-3, a maker in any row.
    """
    from abstractcore.registry import did_you_mean, nearest_names

    maker, slash, model = name.partition("/")
    makers = {part.lower() for each in known for part in each.split("/")[:-1]}
    near = nearest_names(maker, providers)
    if slash and near and maker.lower() not in makers:
        raise abstractcore.InvalidInputError(
            f"no provider is called {maker!r}.", hint=did_you_mean([f"{provider}/{model}" for provider in near])
        )


def _everywhere(catalogue: FileCatalogue, name: str) -> list[ModelEntry]:
    """Returns the entries of a model at all providers with a row for it; raises `InvalidInputError` without any."""
    pattern, known = same_model(name), list[str]()
    found: dict[tuple[str, str], ModelEntry] = {}
    for provider in catalogue.providers:
        with left_out(provider, {}):
            models = catalogue.models(provider)
            known += models.names
            for each in (name, *models.names):
                if each == name or pattern.fullmatch(each):
                    entry = models.entry(each)
                    if entry.match == "model":
                        found[provider, entry.name] = entry
    _check_maker(name, known, catalogue.providers)
    if not found:
        from abstractcore.registry import did_you_mean, nearest_names

        near = nearest_names(name, known)
        hint = did_you_mean(near) if near else "`abstractcore models search` lists the models that it knows."
        raise abstractcore.InvalidInputError(f"the catalogue has no model {name!r}.", hint=hint)
    return _vendor_first(found.values())


def _vendor_first(found: Iterable[ModelEntry]) -> list[ModelEntry]:
    """Returns entries of one model with that of its vendor before those of resellers, whose names of it have the
    vendor's in front: `openai/gpt-5.4`, `anthropic.claude-opus-4-8`.
    """
    entries = list(found)
    makers = {
        _letters(part)
        for entry in entries
        for part in re.split(r"[/.]", entry.name)[:-1]
        if not any(map(str.isdigit, part))
    }

    def order(entry: ModelEntry) -> int:
        of_vendor = _letters(entry.provider), _letters(entry.provider.partition("-")[0])
        return next((at for at, name in enumerate(of_vendor) if any(each.startswith(name) for each in makers)), 2)

    return sorted(entries, key=order)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))


def _group_by_facts(found: Iterable[ModelEntry], asked: str) -> list[tuple[list[str], ModelEntry]]:
    """Returns entries with their names; those with the same facts together."""
    groups: dict[str, tuple[list[str], ModelEntry]] = {}
    for entry in found:
        facts = {key: value for key, value in entry.facts.items() if key != "checked"}
        key = json.dumps([facts, list(entry.prices)], sort_keys=True, default=str)
        groups.setdefault(key, ([], entry))[0].append(
            f"{entry.provider}/{entry.name if entry.match == 'model' else asked}"
        )
    return list(groups.values())


def _rows(entry: ModelEntry, catalogue: FileCatalogue) -> list[tuple[str, str]]:
    """Returns the facts in the order of `ModelProfile`, prices, and last the page and the day."""
    order = [field.name for field in fields(entry.profile) if field.name in entry.facts and field.name not in _HIDDEN]
    shown = {name: entry.facts[name] for name in order}
    rows = [
        (name, in_words(name, value) + (" (yours)" if name in entry.own_facts else "")) for name, value in shown.items()
    ]
    models = catalogue.models(entry.provider)
    if entry.match == "model":
        own = " (yours)" if "prices" in entry.own_facts else ""
        rows += [("price", line + own) for line in price_lines(models.price_rows(entry.name), time.time())]
        pages: dict[str, str] = {}
        for price in entry.prices:
            page = models.address(price.get("source", ""))
            pages[page] = max(pages.get(page, ""), price.get("checked", ""))
        rows += [("price source", line) for page, day in pages.items() if (line := _read(page, day))]
    source = _read(*(entry.facts.get(name) for name in _LAST))
    return [*rows, ("source", source)] if source else rows


def _read(source: str | None, checked: str | None) -> str:
    """Returns a page and the day on which it was read, as far as they are known."""
    return ", read on ".join(filter(None, (source, checked)))
