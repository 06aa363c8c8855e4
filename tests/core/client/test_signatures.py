"""`inspect.signature`, `help` and the docs list every option."""

from __future__ import annotations

import ast
import inspect
import pydoc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from abstractcore import LLM, CallRequest, create_llm
from abstractcore.client.create_options import LLM_OPTIONS, CreateOptions
from abstractcore.option_help import option_lines, option_types
from abstractcore.registry import Registry
from tests.option_table import PAGE, page

TYPING = Path(__file__).parents[2] / "typing" / "options.py"
CONTENT = {"self", "prompt", "response_model", "stream", "operation", "arguments"}
DOORS: list[Callable[..., Any]] = [
    LLM.generate,
    LLM.agenerate,
    LLM.stream,
    LLM.astream,
    LLM.build,
    LLM.plan,
    LLM.count_tokens,
    LLM.acount_tokens,
    LLM.operate,
    LLM.aoperate,
]


def name_of(function: Callable[..., Any]) -> str:
    return function.__qualname__


def help_of(function: Callable[..., Any]) -> str:
    """What `help` prints, without bold letters."""
    return pydoc.render_doc(function, renderer=cast(Any, pydoc).plaintext)


def options_of(function: Callable[..., Any]) -> set[str]:
    """The keywords that a signature shows."""
    return set(inspect.signature(function).parameters) - CONTENT - {"provider", "model", "services"}


def test_create_options_cover_every_built_in_provider():
    offered = {name for provider in Registry.from_entry_points().providers.values() for name in provider.options}
    assert set(CreateOptions.__annotations__) - LLM_OPTIONS == offered


@pytest.mark.parametrize(("function", "options"), [("generate", CallRequest), ("create_llm", CreateOptions)])
def test_every_option_is_used_in_a_type_checked_example(function: str, options: Any):
    calls = [node for node in ast.walk(ast.parse(TYPING.read_text())) if isinstance(node, ast.Call)]
    named = {"generate": "attr", "create_llm": "id"}[function]
    used = {word.arg for call in calls if getattr(call.func, named, None) == function for word in call.keywords}
    assert set(options.__annotations__) <= used


@pytest.mark.parametrize("options", [CallRequest, CreateOptions])
def test_every_option_is_documented(options: Any):
    assert list(option_lines(options)) == list(options.__annotations__)
    assert all(line.endswith((".", "`.")) and "\n" not in line for line in option_lines(options).values())


@pytest.mark.parametrize("door", DOORS, ids=name_of)
def test_signature_and_help_of_every_method_list_every_option(door: Callable[..., Any]):
    assert options_of(door) == set(CallRequest.__annotations__)
    shown = help_of(door)
    for name, line in option_lines(CallRequest).items():
        assert f"{name}: {line}" in shown
    assert inspect.signature(door).parameters["temperature"].annotation == "float | None"
    assert "temperature: float | None = ..." in str(inspect.signature(door))


def test_signature_and_help_of_create_llm_list_every_option():
    assert options_of(create_llm) == set(CreateOptions.__annotations__)
    shown = help_of(create_llm)
    for name, line in option_lines(CreateOptions).items():
        assert f"{name}: {line}" in shown


def test_bound_method_has_the_signature_without_self():
    llm = create_llm("scripted", replies=[])
    assert list(inspect.signature(llm.generate).parameters)[:3] == ["prompt", "response_model", "stream"]
    inspect.signature(llm.generate).bind("hi", temperature=0.5)
    with pytest.raises(TypeError, match="temprature"):
        inspect.signature(llm.generate).bind("hi", temprature=0.5)


def test_types_are_shown_as_written():
    assert option_types(CreateOptions)["region"] == "str | None"
    assert option_types(CreateOptions)["stop"] == "str | Sequence[str] | None"


WITHOUT_SOURCE = """
import importlib.abc, linecache, sys
linecache.getlines = lambda *arguments: []
import abstractcore
print(abstractcore.create_llm("scripted", replies=["a"]).generate("hi").content)
print(abstractcore.LLM.generate.__doc__)
"""


@pytest.mark.process
@pytest.mark.parametrize("flags", [[], ["-OO"]])
def test_works_without_source_files_or_docstrings(flags: list[str]):
    command = [sys.executable, "-W", "error", *flags, "-c", WITHOUT_SOURCE]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.stderr == ""
    assert result.stdout.startswith("a\n")
    assert (result.stdout == "a\nNone\n") == bool(flags)


def test_option_tables_in_docs_are_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"
