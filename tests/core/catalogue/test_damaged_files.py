"""Whatever is wrong with a file, the error is a `ConfigurationError`: values of other types, changed bytes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from abstractcore import ConfigurationError
from abstractcore.catalogue import CatalogueProvider, ProviderModels, document
from abstractcore.catalogue.user_file import UserFile

LINES: tuple[Any, ...] = (
    {
        "provider": "acme",
        "as_of": "2026-11-22",
        "sources": {"page": "https://acme.example"},
        "names": {"after": ["/"], "tags": True},
        "unknown": {"assumed": ["image"]},
        "every": {"cache_points": 0},
        "templates": {"a": {"accepts": ["image/png"]}},
    },
    {"templates": {"b": {"like": ["a"], "thinking": {"levels": ["low"]}}}},
    {"prices": {"sets": {"half": [{"tier": ["batch"], "times": "0.5"}]}}},
    {
        "model": "one",
        "like": ["b"],
        "ranges": {"top_p": [0, 1]},
        "refused_with_level": {"low": ["top_k"]},
        "sampling": {"temperature": 1},
        "settings": {"off": "x"},
        "source": "page",
        "prices": [{"rates": {"input": "1", "output": "2"}, "when": ["half"]}],
    },
    {"model": "latest", "alias_of": "one"},
    {"family": "two", "like": ["a"]},
)
USER = """[[models]]
provider = "acme"
model = "mine"
like = "one"
thinking = {levels = ["low"]}
checked = 2026-11-22
[[models.prices]]
rates = {input = "1", output = "2"}
[[models]]
provider = "acme"
model = "fast"
alias_of = "mine"
"""
JUNK = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "x", "low", "2026-01-01", "\ud800", 10**30]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "low", "like"]), inner, max_size=2)
    ),
    max_leaves=3,
)
FIELDS = st.sampled_from(
    ["accepts", "alias_of", "every", "family", "like", "model", "names", "prices", "source", "unknown"]
)


def changed(value: Any, data: st.DataObject) -> Any:
    """Returns the value with junk in one place."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value)) | FIELDS)
        return {**value, key: changed(value.get(key), data)}
    if isinstance(value, list | tuple) and value and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], changed(value[index], data), *value[index + 1 :]]
    return data.draw(JUNK)


def read(lines: bytes, user: bytes | None = None) -> None:
    with suppress(ConfigurationError):
        file = CatalogueProvider(document(lines, "acme.jsonl"), "acme")
        models = ProviderModels("acme", file, None if user is None else UserFile(document(user, "models.toml")))
        models.check()
        models.entry("two-x")
        models.entry("nothing")


@given(st.data())
def test_value_of_another_type(data: st.DataObject):
    lines = list(LINES)
    index = data.draw(st.integers(0, len(lines) - 1))
    lines[index] = changed(lines[index], data)
    read("\n".join(map(json.dumps, lines)).encode())


@given(st.data())
def test_changed_bytes(data: st.DataObject):
    lines = bytearray("\n".join(map(json.dumps, LINES)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        lines[data.draw(st.integers(0, len(lines) - 1))] = data.draw(st.integers(0, 255))
    read(bytes(lines))


@given(st.integers(0, len(USER) - 1), st.integers(0, 2), st.sampled_from(list("[]{}=\"'\n .#0ax")))
def test_changed_text_of_the_users_file(place: int, removed: int, inserted: str):
    read(
        "\n".join(map(json.dumps, LINES)).encode(),
        f"{USER[:place]}{inserted}{USER[place + removed :]}".encode(),
    )
