"""Our own tool search: words of names and descriptions, also of many tools, and in the plan of a call."""

import time

from abstractcore import ToolSpec, create_llm, tool
from abstractcore.tools.loop_rules import found_tools
from tests.core.tools.loops import Way, calls, scripted

THINGS = ("invoice", "customer", "mail", "song", "file", "contract", "order", "parcel", "ticket", "report")
ACTIONS = ("send", "delete", "list", "print", "copy", "move", "rename", "archive", "check", "sign")
MANY = [
    ToolSpec(f"{action}_{thing}_{where}", f"Can {action} a {thing} in the {where}. " * 5, defer=True)
    for action in ACTIONS
    for thing in THINGS
    for where in ("office", "shop")
]


def test_names_count_more_than_descriptions_and_five_are_found():
    assert len(MANY) == 200
    found = [spec.name for spec in found_tools("archive a contract", MANY)]
    assert found[:2] == ["archive_contract_office", "archive_contract_shop"]
    assert len(found) == 5
    assert found_tools("", MANY) == found_tools("xyz", MANY) == []


def test_a_search_among_200_tools_is_quick():
    start = time.process_time()
    for thing in THINGS:
        assert found_tools(f"please sign the {thing} for the shop, then archive it", MANY)
    assert time.process_time() - start < 5  # it takes some hundredths of a second


def test_a_loop_with_200_deferred_tools_offers_those_that_were_found(way: Way):
    @tool(defer=True)
    def water_plants(room: str) -> str:
        """Waters the plants in a room."""
        return f"watered in {room}"

    llm = scripted(calls(("search_tools", {"query": "water"})), calls(("water_plants", {"room": "hall"})), "Done.")
    response = way.generate(llm, tools=[*MANY, water_plants], run_tools=True)
    assert [[spec.name for spec in call.tools] for call in llm.calls] == [
        ["search_tools"],
        ["search_tools", "water_plants"],
        ["search_tools", "water_plants"],
    ]
    assert response.loop.found == ("water_plants",)
    assert response.tool_steps[-1].result.as_text == "watered in hall"


def test_a_plan_says_where_tools_are_searched():
    @tool
    def clock() -> str:
        """The time."""
        return "12:30"

    llm = create_llm("scripted", replies=["hi"])
    assert llm.plan("hi", tools=[*MANY], run_tools=True).tool_search == "client"
    assert llm.plan("hi", tools=[clock], run_tools=True).tool_search is None
    plan = llm.plan("hi", tools=[*MANY])
    assert (plan.tool_search, [each.code for each in plan.warnings]) == (None, ["tools_not_deferred"])
    searching = create_llm("scripted", replies=["hi"], facts={"tool_search": True})
    assert searching.plan("hi", tools=[*MANY]).tool_search == "hosted"
    assert searching.plan("hi", tools=[*MANY], run_tools=True, tool_search="client").tool_search == "client"
