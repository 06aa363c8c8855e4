"""`tools=[...]`: specs, and the names of tool sources."""

from __future__ import annotations

import pytest

from abstractcore import InvalidInputError, PluginError, Services, ToolCall, ToolResult, ToolSpec, create_llm, tool
from abstractcore.tools import tool_set
from tests.plugin_doubles import giving, thing


@pytest.fixture
def math() -> Services:
    """Services with a plugin that brings the tool source "math"."""
    services = Services(environment={})
    services.registry.add_plugin("p", lambda: giving(tool_source=[thing("tool source", "math")]))
    return services


def sent(services: Services, tools) -> list[str]:
    """Returns the names of the tools in the request."""
    llm = create_llm("scripted", replies=[], services=services)
    return [tool.name for tool in llm.build("hi", tools=tools).tools]


def test_tool_source_name_stands_for_all_its_tools(math, call_style):
    llm = create_llm("scripted", replies=["a"], services=math)
    call_style.generate(llm, "hi", tools=[ToolSpec("first"), "math", ToolSpec("last")])
    assert [tool.name for tool in llm.calls[0].tools] == ["first", "add", "subtract", "last"]


@pytest.mark.parametrize("tools", [None, [], ()])
def test_none_and_empty_list_mean_no_tools(math, tools):
    assert sent(math, tools) == []


def test_tool_source_is_queried_at_each_call():
    services, given = Services(environment={}), [ToolSpec("one")]
    services.registry.add_tool_source(thing("tool source", "growing", tools=lambda: given))
    assert sent(services, ["growing"]) == ["one"]
    given.append(ToolSpec("two"))
    assert sent(services, ["growing"]) == ["one", "two"]


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("math", "tools: expected a list, got str. Pass a list: tools=[...]."),
        (ToolSpec("x"), "tools: expected a list, got ToolSpec. Pass a list: tools=[...]."),
        (
            [3],
            "tools[0]: expected a function, a ToolSpec, a HostedTool or the name of a tool source, got int.",
        ),
        (["maths"], "tools[0]: no tool source is called 'maths'. Did you mean math?"),
        (
            [ToolSpec("add"), "math"],
            "tools[1].name: two tools are named 'add': one comes from tools[0], one from tools[1] (tool source 'math')",
        ),
        (["math", "math"], "tools[1].name: two tools are named 'add': one comes from tools[0] (tool source 'math'), o"),
        ([ToolSpec("x"), ToolSpec("x")], "tools[1].name: two tools are named 'x': one comes from tools[0], one from"),
    ],
)
def test_invalid_tools_are_refused_with_their_path(math, tools, message):
    with pytest.raises(InvalidInputError) as caught:
        sent(math, tools)
    assert str(caught.value).startswith(message)


def test_openai_tool_mapping_hints_at_tool_spec(math):
    tool = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {}, "strict": True}}
    with pytest.raises(InvalidInputError, match=r"Use ToolSpec\(\*\*tool\['function'\]\)"):
        sent(math, [tool])
    assert ToolSpec(**tool["function"]) == ToolSpec("add", "Adds.", {}, strict=True)


@pytest.mark.parametrize("schema", ["parameters", "input_schema", "inputSchema"])
def test_tool_mapping_of_another_format_hints_at_tool_spec(math, schema: str):
    tool = {"type": "function", "name": "add", "description": "Adds.", schema: {"type": "object"}}
    with pytest.raises(InvalidInputError) as caught:
        sent(math, [tool])
    assert caught.value.hint == f"Use ToolSpec(tool['name'], tool['description'], tool['{schema}'])."


def test_failing_tool_source_affects_only_calls_that_name_it():
    services, tools = Services(environment={}), [ToolSpec("one")]
    services.registry.add_tool_source(thing("tool source", "fragile", tools=lambda: [tools[0]]))
    tools.clear()
    with pytest.raises(PluginError, match="the tool source 'fragile' failed: IndexError"):
        sent(services, ["fragile"])
    assert sent(services, [ToolSpec("other")]) == ["other"]


def test_tool_of_a_source_can_be_executed(math, call_style):
    source = math.registry.tool_source("math")

    assert call_style.run(source.call(ToolCall("c1", "add", '{"a": 1}'))) == ToolResult.text("c1", "add ran")


def test_object_with_methods_hints_at_them():
    class Cart:
        def _hidden(self) -> None: ...

        @tool
        def add(self, item: str) -> str:
            return item

    with pytest.raises(InvalidInputError) as caught:
        tool_set([Cart()], Services().registry)
    assert caught.value.hint == "Pass its methods: tools=[cart.add]."
    assert tool_set([Cart().add], Services().registry).specs[0].name == "add"
