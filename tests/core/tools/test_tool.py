"""Functions, methods, objects and types as tools."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

import abstractcore
from abstractcore import (
    ApprovalRule,
    ApprovalRules,
    Deny,
    Edit,
    InvalidInputError,
    Services,
    Suspend,
    Tool,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolPolicy,
    ToolResult,
    ToolSpec,
    UnknownOptionError,
    create_llm,
    tool,
)
from abstractcore.concurrency import SyncRuntime
from abstractcore.tools import ToolOptions, tool_of, tool_set
from tests.core.tools import postponed_signatures as postponed
from tests.core.tools.calls import run_tool, text_of


def properties(given: Any) -> dict[str, Any]:
    """Returns the arguments in the spec of a tool or function."""
    return dict((given if isinstance(given, Tool) else Tool(given)).spec.parameters["properties"])


def test_function_has_the_same_schema_object_in_every_call():
    """Wire formats keep what they have made of a schema by the identity of its object."""

    def add(a: int, b: int = 1) -> int:
        return a + b

    llm = create_llm("scripted", replies=["a"])
    first, second = (llm.build("x", tools=[add]) for _ in range(2))
    assert first.tools[0].parameters is second.tools[0].parameters


def test_tool_is_called_as_its_function():
    @tool
    def add(a: int, b: int = 1) -> int:
        """Adds."""
        return a + b

    assert add(1) == 2
    assert add(1, b=3) == 4
    assert (add.__name__, add.__doc__, add.name, repr(add)) == ("add", "Adds.", "add", "<Tool add>")


def test_options_are_in_the_spec_and_on_the_tool():
    @tool(
        name="sum",
        description="Sums.",
        timeout=3,
        final=True,
        parallel=False,
        defer=True,
        read_only=True,
        idempotent=True,
        labels=("sends", "private"),
        strict=True,
        on_error="raise",
    )
    def add(a: int) -> int:
        return a

    spec = add.spec
    assert (spec.name, spec.description, spec.strict, spec.defer) == ("sum", "Sums.", True, True)
    assert (spec.read_only, spec.idempotent, spec.destructive, spec.labels) == (True, True, False, ("private", "sends"))
    assert (add.timeout, add.final, add.parallel, add.on_error, add.isolate) == (3, True, False, "raise", False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout: expected seconds above 0, or None, got 0"),
        ({"timeout": "5"}, "timeout: expected seconds above 0, or None, got '5'"),
        ({"timeout": True}, "timeout: expected seconds above 0, or None, got True"),
        ({"final": 1}, "final: expected True or False, got 1"),
        ({"on_error": "ignore"}, 'on_error: expected "report" or "raise", got \'ignore\''),
        ({"timeout": -1}, "timeout: expected seconds above 0, or None, got -1"),
        ({"read_only": "yes"}, "read_only: expected True or False, got str"),
        ({"name": 5}, "name: expected text, got int"),
        ({"description": b"x"}, "description: expected text, got bytes"),
    ],
)
def test_invalid_options_are_refused_before_there_is_a_function(options, message):
    with pytest.raises(InvalidInputError) as caught:
        tool(**options)
    assert str(caught.value) == message


WRONG_NAMES = [
    (lambda: tool(timout=3), "a tool has no option 'timout'. Did you mean timeout?"),
    (lambda: Tool(len, nam="x"), "a tool has no option 'nam'. Did you mean name?"),
    (lambda: ToolPolicy(max_round=3), "ToolPolicy has no option 'max_round'. Did you mean max_rounds?"),
    (lambda: ToolOutput("x", dat=1), "ToolOutput has no option 'dat'. Did you mean data?"),
    (lambda: ApprovalRules([], defalt="deny"), "ApprovalRules has no option 'defalt'. Did you mean default?"),
    (lambda: ApprovalRule("x", "deny", args={}), "ApprovalRule has no option 'args'. "),
    (lambda: Deny(because="no"), "Deny has no option 'because'. The options are reason."),
    (lambda: Suspend(not_="no"), "Suspend has no option 'not_'. Did you mean note?"),
    (lambda: Edit(argument={}), "Edit has no option 'argument'. Did you mean arguments?"),
]


@pytest.mark.parametrize(("make", "message"), WRONG_NAMES)
def test_wrong_names_of_options_hint_at_the_nearest(make, message):
    with pytest.raises(UnknownOptionError) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, TypeError)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tool(), "Tool: missing a required argument: 'function'"),
        (lambda: Tool(len, "length"), "Tool: too many positional arguments"),
        (lambda: ToolOutput(), "ToolOutput: missing a required argument: 'content'. Arguments are content, data."),
        (lambda: ToolPolicy(*range(1, 20)), "ToolPolicy: too many positional arguments"),
    ],
)
def test_missing_and_surplus_arguments_are_typed_errors(make, message):
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_type_error_within_a_constructor_stays_what_it_is():
    class Odd(Mapping):
        def __getitem__(self, name):
            raise KeyError(name)

        def __iter__(self):
            raise TypeError("an odd mapping")

        def __len__(self):
            return 1

    with pytest.raises(TypeError, match="an odd mapping"):
        ToolPolicy(max_uses=Odd())


def test_checked_classes_show_their_own_signature():
    assert list(inspect.signature(ToolOutput).parameters) == ["content", "data"]
    assert list(inspect.signature(Tool).parameters) == ["function", "options"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("", "tool"),
        ("bad name", "bad_name"),
        ("a\nb\x00c", "a_b_c"),
        ("1st", "_1st"),
        ("files.read", "files_read"),
        ("größe", "gro_e"),
        ("café", "cafe"),
        ("天气", "tool"),
        ("x" * 10_000, "x" * 64),
        ("-x", "_-x"),
    ],
)
def test_name_that_some_provider_refuses_is_refused_with_a_valid_one(name, nearest):
    for make in (lambda: tool(name=name), lambda: Tool(len, name=name)):
        with pytest.raises(InvalidInputError, match="is not a name that all providers accept for a tool") as caught:
            make()
        assert (caught.value.path, caught.value.hint) == ("name", f'Use @tool(name="{nearest}").')
        assert len(str(caught.value)) < 400
    assert Tool(len, name=nearest).name == nearest


@pytest.mark.parametrize("name", ["a", "_", "get-weather", "GetWeather2", "x" * 64])
def test_names_that_all_providers_accept_are_accepted(name):
    assert tool(name=name)(lambda: None).spec.name == name


def test_name_of_a_function_is_checked_where_it_becomes_a_tool():
    def größe() -> None: ...

    with pytest.raises(InvalidInputError, match='name="gro_e"') as caught:
        tool(größe)
    assert caught.value.path == "name"
    with pytest.raises(InvalidInputError) as caught:
        tool_set([len, größe], Services().registry)
    assert caught.value.path == "tools[1].name"
    named = tool(name="size")(größe)
    assert tool_of(functools.partial(named)).spec.name == "size"


def test_method_of_another_name_is_a_tool_of_its_object():
    class Shop:
        @tool(name="size")
        def größe(self) -> int:
            return 3

    assert Shop().größe.spec.name == "size"


def test_help_of_the_decorator_names_every_option():
    text = tool.__doc__ or ""
    names = {
        name.strip() for line in text.split("Options,")[1].splitlines()[1:] for name in line.split(":")[0].split(",")
    }
    assert names - {""} == set(ToolOptions.__annotations__)


def test_unknown_label_is_refused():
    with pytest.raises(InvalidInputError, match=r"labels\[0\]: 'secret' is not one of private, untrusted, sends"):
        tool(labels=("secret",))(len)  # type: ignore[arg-type]


def test_name_in_place_of_the_function_hints_at_the_option():
    with pytest.raises(InvalidInputError, match=r"To name a tool: @tool\(name='weather'\)\."):
        tool("weather")  # type: ignore[call-overload]


def test_methods_are_tools_of_their_object(call_style):
    shop = postponed.Shop("Ada")
    assert shop.buy.timeout == 3
    assert list(properties(shop.buy)) == ["item", "size"]
    assert properties(shop.buy)["item"]["description"] == "What to buy."
    assert text_of(run_tool(call_style, shop.buy, {"item": "tea"})) == "tea of Ada"
    assert text_of(run_tool(call_style, postponed.Shop("Bo").buy, {"item": "tea"})) == "tea of Bo"
    assert text_of(run_tool(call_style, shop.plain, {"item": "tea"})) == "plain tea of Ada"
    assert shop.buy("tea") == "tea of Ada"
    assert text_of(run_tool(call_style, shop.sell, {"item": "tea"})) == "tea from Ada"


@pytest.mark.parametrize("name", ["classy", "classy_outside", "plain_classy"])
def test_class_methods_are_tools(call_style, name):
    class Stall(postponed.Shop):
        pass

    for owner, text in ((postponed.Shop, "Shop tea"), (Stall, "Stall tea"), (Stall("x"), "Stall tea")):
        assert text_of(run_tool(call_style, getattr(owner, name), {"item": "tea"})) == text


@pytest.mark.parametrize("name", ["static", "static_outside", "plain_static"])
def test_static_methods_are_tools(call_style, name):
    for owner in (postponed.Shop, postponed.Shop("x")):
        assert text_of(run_tool(call_style, getattr(owner, name), {"item": "tea"})) == "tea"


@pytest.mark.parametrize("given", [postponed.Shop.buy, postponed.Shop.plain])
def test_method_without_its_object_is_refused(given):
    llm = create_llm("scripted", replies=[])
    with pytest.raises(InvalidInputError) as caught:
        llm.build("hi", tools=[given])
    assert str(caught.value).startswith("tools[0]: Shop.")
    assert "is a method of a class. Pass that of an object: tools=[shop." in str(caught.value)


def test_partials_hide_what_they_set(call_style):
    given = functools.partial(postponed.spread, unit="f")
    assert list(properties(given)) == ["a"]
    assert text_of(run_tool(call_style, given, {"a": 1})) == "1f"
    assert list(properties(functools.partial(postponed.spread, 1))) == ["unit"]


def test_partial_of_a_tool_keeps_its_options(call_style):
    @tool(name="limited", timeout=7)
    def spread(a: int, unit: str) -> str:
        return f"{a}{unit}"

    made = abstractcore.tools.tool_of(functools.partial(spread, unit="f"))
    assert (made.name, made.timeout, list(properties(made))) == ("limited", 7, ["a"])
    assert text_of(run_tool(call_style, made, {"a": 1})) == "1f"


def test_callable_objects_are_tools(call_style):
    caller = Tool(postponed.Caller("Hi"), name="greet")
    assert (caller.spec.name, caller.spec.description) == ("greet", "Calls somebody.")
    assert text_of(run_tool(call_style, caller, {"name": "Ada"})) == "Hi Ada"


def test_decorated_functions_keep_their_signature(call_style):
    assert list(properties(postponed.decorated_twice)) == ["a", "mode"]
    assert text_of(run_tool(call_style, postponed.decorated_twice, {"a": {"n": 1}})) == "1x"


def test_textual_annotations_may_name_later_and_local_types(call_style):
    assert text_of(run_tool(call_style, postponed.before, {"a": {"n": 3}})) == "3"
    (decorated,) = postponed.local_tools()
    assert text_of(run_tool(call_style, decorated, {"unit": "c"})) == "C"


def test_type_of_deps_may_be_for_type_checkers_only(call_style):
    made = Tool(postponed.with_hidden_deps)
    assert made.takes_context == "context"
    assert list(properties(made)) == ["a"]
    assert text_of(run_tool(call_style, made, {"a": 3})) == "3"


def test_unknown_type_of_an_argument_is_refused():
    with pytest.raises(InvalidInputError, match="the type 'Decimal' of its parameter 'a' is unknown: name") as caught:
        _ = Tool(postponed.with_hidden_type).spec
    assert caught.value.hint == "Define or import it at the top of the module, not under TYPE_CHECKING."


class City(BaseModel):
    """A city.

    Attributes:
        name: Its name.
    """

    name: str
    size: int = Field(default=0, description="Inhabitants.")


@dataclasses.dataclass
class Town:
    name: str
    size: int = 0


class Place(TypedDict):
    name: str


@pytest.mark.parametrize("given", [City, Town, Place])
def test_types_are_final_tools_whose_data_is_a_value(call_style, given):
    made = Tool(given)
    assert made.final
    assert not Tool(given, final=False).final
    step = run_tool(call_style, made, {"name": "Oslo"})
    assert step.data == given(name="Oslo")
    assert text_of(step).startswith('{"name":"Oslo"')
    assert made(name="Oslo") == given(name="Oslo")
    refused = run_tool(call_style, made, {})
    assert (refused.outcome, text_of(refused)) == (
        "invalid_arguments",
        f"invalid arguments for {given.__name__}:\n- name: Field required",
    )


def test_documentation_of_a_type_is_that_of_its_arguments():
    spec = Tool(City).spec
    assert spec.description == "A city."
    assert properties(City) == {
        "name": {"type": "string", "description": "Its name."},
        "size": {"type": "integer", "default": 0, "description": "Inhabitants."},
    }
    assert Tool(Town).spec.description == ""


def test_recursive_type_is_an_object():
    class Node(BaseModel):
        value: int
        child: Node | None = None

    parameters = Tool(Node).spec.parameters
    assert parameters["type"] == "object"
    assert "Node" in dict(parameters["$defs"])


class Plain:
    def __init__(self, a: int) -> None:
        self.a = a


class Opaque:
    pass


def with_opaque(a: int, b: Opaque) -> None: ...
def with_many(*names: str) -> None: ...
def with_two_contexts(a: ToolContext[int], b: ToolContext[str]) -> None: ...
def generating() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Plain, "Plain cannot be a tool: Plain is a class"),
        (
            with_opaque,
            "the parameter 'b' of with_opaque has no JSON Schema: Unable to generate pydantic-core schema for",
        ),
        (
            with_many,
            "with_many cannot be a tool: it takes *names: arguments of a tool have names. Take a list: names: list",
        ),
        (with_two_contexts, "with_two_contexts cannot be a tool: it has two parameters for the context, 'a' and 'b'"),
        (generating, "generating cannot be a tool: it is a generator. Return a list"),
        (lambda a: a, "a lambda has no name. Give it one: Tool(lambda city: ..., name="),
        (
            {"function": {"name": "f"}},
            "expected a function, a ToolSpec, a HostedTool or the name of a tool source, got d",
        ),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_its_path(given, message):
    llm = create_llm("scripted", replies=[])
    with pytest.raises(InvalidInputError) as caught:
        llm.build("hi", tools=[ToolSpec("x"), given])
    assert str(caught.value).startswith(f"tools[1]: {message}")


def test_two_tools_of_one_name_name_both_origins():
    llm = create_llm("scripted", replies=[])
    with pytest.raises(InvalidInputError) as caught:
        llm.build("hi", tools=[Tool(City, name="city"), ToolSpec("city")])
    assert str(caught.value) == (
        "tools[1].name: two tools are named 'city': one comes from tools[0] (tests.core.tools.test_tool.City), "
        "one from tools[1]"
    )


class Greeters:
    name = "greeters"
    summary = "Greets."

    def tools(self) -> list[ToolSpec]:
        return [ToolSpec("greet", "Greets.", {"type": "object"})]

    async def call(self, call: ToolCall) -> ToolResult:
        return call.result(f"Hi {call.arguments}")


@pytest.mark.parametrize("by_name", [True, False])
def test_tools_of_a_source_are_run_by_it(call_style, by_name):
    services = Services(environment={})
    services.registry.add_tool_source(Greeters())
    made = abstractcore.tools.tool_set(["greeters" if by_name else Greeters()], services.registry)
    assert [spec.name for spec in made.specs] == ["greet"]
    assert text_of(run_tool(call_style, made.tools["greet"], {"a": 1})) == "Hi {'a': 1}"


def test_specs_have_nothing_to_run():
    made = abstractcore.tools.tool_set([ToolSpec("a"), City], Services(environment={}).registry)
    assert [spec.name for spec in made.specs] == ["a", "City"]
    assert list(made.tools) == ["City"]


def test_schema_of_a_function_is_made_once():
    def add(a: int) -> int:
        return a

    assert Tool(add)._full_definition() is Tool(add)._full_definition()
    shop = postponed.Shop("x")
    assert Tool(shop.plain)._full_definition() is Tool(postponed.Shop("y").plain)._full_definition()


def test_functions_are_not_kept_alive():
    import gc
    import weakref

    def used() -> weakref.ref[Any]:
        def add(a: int, b: City | None = None) -> int:
            """Adds.

            Args:
                a: One.
            """
            return a

        assert list(properties(add)) == ["a", "b"]
        return weakref.ref(add)

    kept = used()
    gc.collect()
    assert kept() is None


def test_context_can_be_made_with_the_type_of_its_deps():
    made = ToolContext[int](deps=3, llm=None, call=ToolCall("c1", "f"), trace_id="t", runtime=SyncRuntime())
    assert (made.deps, made.call_id, made.seconds_left) == (3, "c1", None)
    made.progress(1)
