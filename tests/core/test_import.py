"""The public API: every name exists, is documented as public, and costs nothing before its first use."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import ForwardRef, Literal, cast, get_args, get_origin, get_type_hints

import pytest

import abstractcore
from abstractcore.testing.http_server import ScriptedServer, answer


def test_every_public_name_resolves_once():
    assert len(set(abstractcore.__all__)) == len(abstractcore.__all__)
    for name in abstractcore.__all__:
        assert getattr(abstractcore, name) is getattr(abstractcore, name)


@pytest.mark.process
@pytest.mark.parametrize(
    "package",
    ["abstractcore"]
    + [
        f"abstractcore.{name}"
        for name in ("database", "mcp", "ports", "schema", "telemetry", "testing", "tools", "traces")
    ],
)
def test_names_that_are_imported_later_are_listed(package: str):
    """`dir()` is what editors and notebooks complete names from."""
    code = f"import {package} as package; print(sorted(set(package.__all__) - set(dir(package))))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_every_error_is_public():
    from abstractcore import errors

    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.AbstractCoreError)
    }
    assert defined <= set(abstractcore.__all__)
    documented = errors.__doc__ or ""
    tree = documented[documented.index("\nAbstractCoreError") :]
    assert defined == {line.strip("|`- ").split()[0] for line in tree.splitlines() if line}


def test_no_error_shadows_a_builtin():
    import builtins

    assert [name for name in abstractcore.__all__ if hasattr(builtins, name)] == []


@pytest.mark.parametrize("package", ["schema", "ports", "engine", "outputs", "telemetry"])
def test_every_name_of_a_package_resolves_though_some_are_imported_later(package: str):
    module = import_module(f"abstractcore.{package}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize(
    "package", ["abstractcore"] + [f"abstractcore.{name}" for name in ("database", "errors", "ports", "schema")]
)
def test_type_hints_of_public_names_resolve_though_some_types_are_imported_later(package: str):
    module = import_module(package)
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    unresolved: list[str] = []
    for annotated in (each for name in names for each in _annotated(getattr(module, name))):
        try:
            unresolved += [f"{annotated}: {hint}" for hint in get_type_hints(annotated).values() if _is_text(hint)]
        except (NameError, TypeError, AttributeError) as error:
            unresolved.append(f"{annotated}: {error}")
    assert unresolved == []


def _annotated(value: object) -> Iterator[object]:
    """Yields a function, or a class with its public methods and properties, those of its bases included."""
    if inspect.isfunction(value):
        yield value
    elif inspect.isclass(value):
        yield value
        for name, member in inspect.getmembers_static(value):
            function = member.fget if isinstance(member, property) else inspect.unwrap(getattr(value, name))
            if inspect.isroutine(function) and (name == "__init__" or not name.startswith("_")):
                yield function


def _is_text(hint: object) -> bool:
    """Whether an annotation, or a part of it, is still text."""
    if isinstance(hint, list | tuple):  # the parameters of a callable
        return any(map(_is_text, cast("Sequence[object]", hint)))
    return isinstance(hint, str | ForwardRef) or (get_origin(hint) is not Literal and _is_text(get_args(hint)))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'create_lmm'"):
        _ = abstractcore.create_lmm


@pytest.mark.process
def test_http_and_asyncio_are_imported_with_the_first_llm_only():
    code = """
import sys, abstractcore
print({"httpx2", "asyncio", "mcp", "mcp_types", "pydantic", "sqlalchemy", "sqlite3"} & set(sys.modules))
abstractcore.create_llm("scripted", replies=[])
print("httpx2" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.stdout, result.stderr) == ("set()\nTrue\n", "")


NOT_FOR_A_TEXT = (
    "abstractcore.middleware.response_cache",
    "abstractcore.budgets",
    "abstractcore.budgets.amounts",
    "abstractcore.budgets.arguments",
    "abstractcore.budgets.budget",
    "abstractcore.budgets.charging",
    "abstractcore.budgets.database",
    "abstractcore.budgets.estimates",
    "abstractcore.budgets.settling",
    "abstractcore.budgets.memory",
    "abstractcore.budgets.substitutes",
    "abstractcore.budgets.windows",
    "abstractcore.catalogue.pricing",
    "abstractcore.catalogue.price_values",
    "abstractcore.catalogue.positions",
    "abstractcore.catalogue.price_conditions",
    "abstractcore.catalogue.price_rows",
    "abstractcore.catalogue.updates",
    "abstractcore.catalogue.user_file",
    "abstractcore.client.auxiliary_models",
    "abstractcore.client.call_tools",
    "abstractcore.client.fact_overrides",
    "abstractcore.client.llm_capabilities",
    "abstractcore.client.message_inputs",
    "abstractcore.client.resumed_loops",
    "abstractcore.client.streams",
    "abstractcore.client.substitutes",
    "abstractcore.concurrency.asynchronous",
    "abstractcore.concurrency.loop_thread",
    "abstractcore.engine.call_stream",
    "abstractcore.engine.answer_checks",
    "abstractcore.engine.decoding",
    "abstractcore.engine.delta_reading",
    "abstractcore.engine.loop_journal",
    "abstractcore.engine.lowering.cache_points",
    "abstractcore.engine.lowering.output",
    "abstractcore.engine.lowering.system_messages",
    "abstractcore.engine.lowering.tools",
    "abstractcore.engine.output_rounds",
    "abstractcore.engine.reply_reading",
    "abstractcore.engine.round_stream",
    "abstractcore.engine.tool_rounds",
    "abstractcore.engine.tool_calls",
    "abstractcore.engine.tool_decisions",
    "abstractcore.files.alternatives",
    "abstractcore.files.cached_conversions",
    "abstractcore.files.contents",
    "abstractcore.files.controls",
    "abstractcore.files.conversion",
    "abstractcore.files.execution",
    "abstractcore.files.extracted_texts",
    "abstractcore.files.extraction",
    "abstractcore.files.facts",
    "abstractcore.files.in_memory",
    "abstractcore.files.limits",
    "abstractcore.files.loading",
    "abstractcore.files.policies",
    "abstractcore.files.routes",
    "abstractcore.files.token_estimates",
    "abstractcore.files.tool_results",
    "abstractcore.files.untrusted_content",
    "abstractcore.files.upload_requests",
    "abstractcore.files.uploads",
    "abstractcore.framing.aws_event_stream",
    "abstractcore.framing.server_sent_events",
    "abstractcore.outputs.decisions",
    "abstractcore.outputs.documents",
    "abstractcore.outputs.partial_output",
    "abstractcore.outputs.python_type",
    "abstractcore.pillow_images",
    "abstractcore.ports.budgets",
    "abstractcore.ports.conversions",
    "abstractcore.ports.scripts",
    "abstractcore.ports.tools",
    "abstractcore.schema.deltas",
    "abstractcore.schema.provider_resources",
    "abstractcore.schema.documents",
    "abstractcore.schema.tool_steps",
    "abstractcore.schema.evidence",
    "abstractcore.schema.tool_loops",
    "abstractcore.schema.media_decisions",
    "abstractcore.schema.operation_inputs",
    "abstractcore.schema.records",
    "abstractcore.schema.sent_names",
    "abstractcore.schema.quote_search",
    "abstractcore.schema.response_sources",
    "abstractcore.schema.token_counts",
    "abstractcore.schema.source_texts",
    "abstractcore.stores",
    "abstractcore.telemetry.call_records",
    "abstractcore.tools",
    "abstractcore.tools.policy",
    "abstractcore.tools.execution",
    "abstractcore.tools.file_journal",
    "abstractcore.tools.loop_rules",
    "abstractcore.tools.tool",
    "abstractcore.tools.toolset",
    "abstractcore.traces",
    "abstractcore.transport.async_http",
    "abstractcore.transport.clients",
    "abstractcore_media.audio.headers",
    "abstractcore_media.audio.sound",
    "abstractcore_media.common.sniffing",
    "abstractcore_providers.common.delta_writer",
    "abstractcore_providers.common.error_table",
    "abstractcore_providers.common.json_schemas.fitting",
    "abstractcore_providers.common.json_schemas.property_names",
    "abstractcore_providers.common.json_schemas.rewriting",
    "abstractcore_providers.common.openai_errors",
    "abstractcore_providers.common.sent_names",
    "abstractcore_providers.formats.anthropic_messages",
    "abstractcore_providers.formats.bedrock_converse",
    "abstractcore_providers.formats.cohere_chat",
    "abstractcore_providers.formats.gemini",
    "abstractcore_providers.formats.ollama",
    "abstractcore_providers.formats.openai_chat.parse",
    "abstractcore_providers.formats.openai_chat.render",
    "abstractcore_providers.formats.openai_chat.stream_decoder",
    "abstractcore_providers.formats.openai_chat.stream_renderer",
    "abstractcore_providers.formats.openai_responses",
    "abstractcore_providers.local.endpoint",
    "abstractcore_providers.local.process",
    "abstractcore_providers.local.servers",
    "abstractcore_providers.local.slots",
    "abstractcore_providers.scripted.canonical_json",
    "abstractcore_providers.scripted.playing",
    "abstractcore_providers.scripted.script",
    "abstractcore_providers.scripted.transport",
    "abstractcore_providers.vendors.access_tokens",
    "abstractcore_providers.vendors.bedrock.credentials",
    "abstractcore_providers.vendors.bedrock.signature",
    "abstractcore_providers.vendors.google.cached_contents",
    "abstractcore.verification",
    "asyncio",
    "difflib",
    "tomllib",
)
"""Modules that a text answer of OpenAI in sync code does not need."""


def test_every_module_that_a_text_answer_does_not_need_exists():
    assert [name for name in NOT_FOR_A_TEXT if find_spec(name) is None] == []


@pytest.mark.process
def test_text_answer_imports_only_the_code_of_its_provider():
    code = """
import sys, abstractcore
llm = abstractcore.create_llm("openai", model="gpt-4o-mini", base_url=sys.argv[1], api_key="k", timeout=30)
print(llm.generate("Hi.").content)
print(*sys.modules)
"""
    reply = {"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}
    with ScriptedServer() as server:
        server.script(answer(reply))
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, f"http://127.0.0.1:{server.port}/v1"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    content, _, modules = done.stdout.partition("\n")
    assert (content, done.stderr) == ("Hello.", "")
    assert set(NOT_FOR_A_TEXT) & set(modules.split()) == set()


@pytest.mark.process
def test_plain_typed_answer_imports_no_verification():
    code = """
import sys, abstractcore
llm = abstractcore.create_llm("scripted", replies=['{"value": 1}', '{"value": 2}'])
print(llm.generate("One?", response_model=int).output)
with llm.stream("Two?", response_model=int) as stream:
    list(stream)
    print(stream.response.output)
print([name for name in sys.modules if name.startswith("abstractcore.verification")])
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n2\n[]\n", "")
