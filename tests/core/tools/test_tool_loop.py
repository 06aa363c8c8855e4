"""The tool loop: rounds, order, limits, events and sums, with the scripted model, in all four ways."""

import threading
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from abstractcore import (
    InvalidInputError,
    Price,
    ScriptExhaustedError,
    TextDelta,
    ToolChoice,
    ToolContext,
    ToolEnded,
    ToolError,
    ToolFailed,
    ToolOutput,
    ToolPolicy,
    ToolProgress,
    ToolRetry,
    ToolStarted,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.testing import ScriptedReply
from tests.core.tools.loops import Way, calls, scripted


@tool(read_only=True)
def forecast(city: str, days: int = 1) -> list[str]:
    """Weather of the next days.

    Args:
        city: Name of the city.
        days: How many days.
    """
    return [f"rain in {city}"] * days


@tool
def failing(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)


def texts(response: Any) -> list[str]:
    """The texts of all results, in order."""
    return [step.result.as_text for step in response.tool_steps]


def roles(messages: Any) -> list[str]:
    return [message.role for message in messages]


def test_a_call_is_run_and_the_model_answers(way: Way):
    llm = scripted(calls(("forecast", {"city": "Oslo"})), "It will rain.")
    response = way.generate(llm, "Umbrella?", tools=[forecast], run_tools=True)
    assert response.content == "It will rain."
    assert texts(response) == ['["rain in Oslo"]']
    assert response.loop.status == "answered"
    assert len(response.steps) == 2
    assert roles(llm.calls[1].messages) == ["user", "assistant", "tool"]
    assert roles(response.messages) == ["assistant", "tool", "assistant"]


def test_without_run_tools_calls_are_given_back(way: Way):
    llm = scripted(calls(("forecast", {"city": "Oslo"})))
    response = way.generate(llm, tools=[forecast])
    assert [call.name for call in response.tool_calls] == ["forecast"]
    assert response.finish_reason == "tool_calls"
    assert (response.tool_steps, response.loop) == ((), None)


def test_results_are_in_the_order_of_the_calls_though_tools_end_in_another(way: Way):
    second_done = threading.Event()

    @tool
    def first() -> str:
        """Waits for the second."""
        assert second_done.wait(30)
        return "1"

    @tool
    def second() -> str:
        """Ends at once."""
        second_done.set()
        return "2"

    llm = scripted(calls(("first", {}), ("second", {})), "Done.")
    response = way.generate(llm, tools=[first, second], run_tools=True)
    assert texts(response) == ["1", "2"]
    assert [result.call_id for result in llm.calls[1].messages[-1].parts] == ["call_0_0", "call_0_1"]


def test_a_tool_that_is_not_parallel_runs_alone(way: Way):
    running: list[str] = []
    most: list[int] = []

    def alone(name: str) -> Any:
        def body() -> str:
            running.append(name)
            most.append(len(running))
            running.remove(name)
            return name

        return tool(parallel=False, name=name)(body)

    names = ["a", "b", "c"]
    tools = [alone(name) for name in names]
    llm = scripted(calls(*((name, {}) for name in names)), "Done.")
    response = way.generate(llm, tools=tools, run_tools=True)
    assert texts(response) == names
    assert max(most) == 1


def test_usage_and_cost_are_those_of_all_rounds(way: Way):
    from abstractcore import Usage

    replies = [
        ScriptedReply.tool_call("forecast", {"city": "Oslo"}, usage=Usage(100, 10)),
        ScriptedReply.text("Rain.", usage=Usage(200, 20)),
    ]
    llm = create_llm("scripted", replies=replies, price=Price(input=1, output=10))
    response = way.generate(llm, tools=[forecast], run_tools=True)
    assert (response.usage.input, response.usage.output) == (300, 30)
    assert response.cost == Decimal("0.0006")
    assert response.cost == response.loop.cost


def test_events_of_a_stream_are_between_the_deltas_of_its_rounds(streamed_way: Way):
    @tool
    def count(context: ToolContext[None]) -> str:
        """Counts."""
        context.progress(1, 2, "half")
        return "2"

    llm = scripted(calls(("count", {})), "Two.")
    streamed_way.generate(llm, tools=[count], run_tools=True)
    kinds = [type(event) for event in streamed_way.events]
    started, progress, ended = (kinds.index(kind) for kind in (ToolStarted, ToolProgress, ToolEnded))
    assert started < progress < ended < kinds.index(TextDelta)
    event = streamed_way.events[progress]
    assert isinstance(event, ToolProgress)
    assert (event.done, event.total, event.message) == (1, 2, "half")


def test_on_event_is_called_for_each_event_and_may_fail(way: Way, caplog: pytest.LogCaptureFixture):
    seen: list[Any] = []

    def watch(event: Any) -> None:
        seen.append(type(event))
        raise RuntimeError("a fault of the watcher")

    llm = scripted(calls(("forecast", {"city": "Oslo"})), "Rain.")
    response = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(on_event=watch))
    assert response.content == "Rain."
    assert seen == [ToolStarted, ToolEnded]
    assert "on_event" in caplog.text


def test_unknown_tools_and_invalid_arguments_are_results_for_the_model(way: Way):
    wrong = [
        ScriptedReply.tool_call("forcast", {"city": "Oslo"}),
        ScriptedReply.tool_call("forecast", '{"city": '),
        ScriptedReply.tool_call("forecast", {"days": "many"}),
    ]
    llm = scripted(wrong[0] + wrong[1] + wrong[2], "Sorry.")
    response = way.generate(llm, tools=[forecast], run_tools=True)
    assert [step.outcome for step in response.tool_steps] == ["unknown_tool", "invalid_arguments", "invalid_arguments"]
    assert all(step.result.is_error for step in response.tool_steps)
    assert "forecast" in texts(response)[0]
    assert "city" in texts(response)[2]
    assert "days" in texts(response)[2]


def test_an_exception_is_a_result_without_traceback(way: Way):
    llm = scripted(calls(("failing", {"reason": "no disk"})), "Sorry.")
    response = way.generate(llm, tools=[failing], run_tools=True)
    (step,) = response.tool_steps
    assert (step.outcome, texts(response)) == ("failed", ["ValueError: no disk"])
    assert "Traceback" in (step.traceback or "")
    assert "Traceback" not in to_json(llm.calls[1])


@pytest.mark.parametrize(("error", "outcome"), [(ToolRetry, "retry"), (ToolFailed, "failed")])
def test_a_tool_speaks_to_the_model(way: Way, error: type[ToolError], outcome: str):
    @tool
    def speak() -> str:
        """Raises."""
        raise error("take the other one")

    response = way.generate(scripted(calls(("speak", {})), "Well."), tools=[speak], run_tools=True)
    assert (response.tool_steps[0].outcome, texts(response)) == (outcome, ["take the other one"])


def test_an_exception_ends_the_call_if_the_tool_says_so_and_leaves_a_sendable_conversation(way: Way):
    @tool(on_error="raise")
    def strict() -> str:
        """Raises."""
        raise OSError("disk full")

    llm = scripted(calls(("forecast", {"city": "Oslo"}), ("strict", {})), "Later.")
    with pytest.raises(ToolError, match="disk full") as caught:
        way.generate(llm, tools=[forecast, strict], run_tools=True)
    loop: Any = caught.value.loop  # pyright: ignore[reportAttributeAccessIssue]
    assert loop.status == "failed"
    assert [step.result.is_error for step in loop.steps] == [False, True]
    assert way.resume(llm, loop, tools=[forecast, strict]).content == "Later."


def test_data_goes_to_the_step_and_not_to_the_model(way: Way):
    @tool
    def look() -> ToolOutput:
        """Looks."""
        return ToolOutput("a summary", data={"rows": [1, 2]})

    llm = scripted(calls(("look", {})), "Seen.")
    response = way.generate(llm, tools=[look], run_tools=True)
    assert response.tool_steps[0].data == {"rows": [1, 2]}
    assert "rows" not in to_json(llm.calls[1])
    assert from_json(to_json(response.loop)).steps[0].data == {"rows": [1, 2]}  # type: ignore[attr-defined]


def test_deps_reach_the_tool_and_never_the_model(way: Way):
    class Shop:
        stock = 7

    @tool
    def stock(context: ToolContext[Shop]) -> int:
        """Counts."""
        return context.deps.stock

    llm = scripted(calls(("stock", {})), "Seven.")
    response = way.generate(llm, tools=[stock], run_tools=True, deps=Shop())
    assert texts(response) == ["7"]
    assert "Shop" not in to_json(response.loop)


def test_a_final_tool_ends_the_loop_with_its_result(way: Way):
    @tool(final=True)
    def submit(answer: str) -> str:
        """Submits."""
        return answer.upper()

    llm = scripted(calls(("submit", {"answer": "yes"})))
    response = way.generate(llm, tools=[submit], run_tools=True)
    assert response.loop.status == "final"
    assert response.content == "YES"


def test_a_model_that_never_stops_is_stopped_and_the_conversation_stays_sendable(way: Way):
    count = [0]

    def again(call: Any) -> ScriptedReply:
        count[0] += 1
        return ScriptedReply.tool_call("forecast", {"city": f"city {count[0]}"})

    llm = create_llm("scripted", replies=again)
    response = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(max_rounds=3))
    assert (response.loop.status, len(response.steps), count[0]) == ("max_rounds", 3, 3)
    assert [step.outcome for step in response.tool_steps] == ["done", "done", "not_run"]
    assert roles(response.messages) == ["assistant", "tool"] * 3


def test_at_a_limit_the_model_is_asked_once_more_without_tools(way: Way):
    llm = scripted(*[calls(("forecast", {"city": str(i)})) for i in range(2)], "Enough.")
    response = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(max_rounds=2, on_limit="answer"))
    assert response.content == "Enough."
    assert response.loop.status == "answered"
    assert [call.tool_choice for call in llm.calls] == [None, None, ToolChoice("none")]


@pytest.mark.parametrize("on_limit", ["stop", "answer"])
def test_calls_beyond_the_limit_are_not_run(way: Way, on_limit: Any):
    llm = scripted(calls(*(("forecast", {"city": str(i)}) for i in range(3))), "Enough.")
    response = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(max_calls=2, on_limit=on_limit))
    assert [step.outcome for step in response.tool_steps] == ["done", "done", "not_run"]
    assert response.loop.status == ("max_calls" if on_limit == "stop" else "answered")


def test_uses_of_one_tool_are_limited_while_others_go_on(way: Way):
    llm = scripted(calls(("forecast", {"city": "a"}), ("forecast", {"city": "b"})), "Fine.")
    response = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(max_uses={"forecast": 1}))
    assert [step.outcome for step in response.tool_steps] == ["done", "not_run"]
    assert response.tool_steps[1].result.as_text == "not run: the limit of 1 use of forecast is reached"
    assert response.content == "Fine."


def test_the_same_failing_call_stops_the_loop(way: Way):
    llm = scripted(*[calls(("failing", {"reason": "x"}))] * 5)
    response = way.generate(llm, tools=[failing], run_tools=True)
    assert (response.loop.status, len(response.steps)) == ("repeated_failure", 3)


@pytest.mark.parametrize(
    ("limits", "status", "what"),
    [
        ({"max_rounds": 2}, "max_rounds", "the model has replied 2 times"),
        ({"max_rounds": 1}, "max_rounds", "the model has replied once"),
        ({"max_calls": 3}, "max_calls", "tools were called 3 times"),
        ({"max_failures": 2}, "repeated_failure", "the same call of failing failed 2 times"),
    ],
)
def test_loop_that_stops_at_a_limit_has_a_warning_that_names_it(
    way: Way, limits: dict[str, int], status: str, what: str
):
    llm = scripted(*[calls(("forecast", {"city": "a"}), ("failing", {"reason": "x"}))] * 3)
    response = way.generate(llm, tools=[forecast, failing], run_tools=ToolPolicy(**limits))  # type: ignore[arg-type]
    assert (response.loop.status, response.content) == (status, "")
    ((name, limit),) = limits.items()
    (warning,) = response.warnings
    assert (warning.code, warning.path, warning.requested) == ("tool_limit_reached", f"run_tools.{name}", limit)
    assert what in warning.message
    assert f"ToolPolicy({name}=...)" in warning.message
    assert ('on_limit="answer"' in warning.message) == (name != "max_failures")


def test_loop_that_answers_at_its_limit_has_no_warning(way: Way):
    llm = scripted(calls(("forecast", {"city": "a"})), "Enough.")
    response = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(max_rounds=1, on_limit="answer"))
    assert (response.content, response.warnings) == ("Enough.", ())


def test_loop_that_stopped_at_a_limit_answers_when_it_is_resumed_with_on_limit(way: Way):
    llm = scripted(calls(("forecast", {"city": "a"})), "Enough.")
    stopped = way.generate(llm, tools=[forecast], run_tools=ToolPolicy(max_rounds=1))
    policy = ToolPolicy(max_rounds=1, on_limit="answer")
    response = way.resume(llm, stopped.loop, tools=[forecast], run_tools=policy)
    assert (response.content, response.warnings) == ("Enough.", ())


def test_a_forced_choice_holds_for_the_first_round_only(way: Way):
    llm = scripted(calls(("forecast", {"city": "Oslo"})), "Rain.")
    way.generate(llm, tools=[forecast], run_tools=True, tool_choice="required")
    assert [call.tool_choice for call in llm.calls] == [ToolChoice("required"), None]


def test_a_paused_reply_is_continued(way: Way):
    paused = ScriptedReply.text("One moment.", finish_reason="paused")
    llm = scripted(paused, "Here.")
    response = way.generate(llm, tools=[forecast], run_tools=True)
    assert response.content == "Here."
    assert roles(llm.calls[1].messages) == ["user", "assistant"]


def test_a_failure_of_a_later_round_keeps_what_was_done(way: Way):
    llm = scripted(calls(("forecast", {"city": "Oslo"})))
    with pytest.raises(ScriptExhaustedError) as caught:
        way.generate(llm, tools=[forecast], run_tools=True)
    loop: Any = caught.value.loop  # pyright: ignore[reportAttributeAccessIssue]
    assert (loop.status, len(loop.steps)) == ("failed", 1)
    assert way.resume(scripted("Rain."), loop, tools=[forecast]).content == "Rain."


def test_a_long_result_is_shortened_and_can_be_read(way: Way, tmp_path: Any):
    from abstractcore import Services
    from abstractcore.stores.artifacts import FileArtifactStore

    text = "".join(f"line {i}\n" for i in range(1000))

    @tool
    def read() -> str:
        """Reads."""
        return text

    more = calls(("read_result", {"id": "call_0_0", "offset": 750}))
    services = Services(artifacts=FileArtifactStore(tmp_path))
    llm = create_llm("scripted", replies=[calls(("read", {})), more, "Read."], services=services)
    response = way.generate(llm, tools=[read], run_tools=ToolPolicy(max_result=1000))
    short, page = texts(response)
    assert short.startswith(text[:750])
    assert short.endswith(text[-250:])
    assert len(short) < 1300
    assert 'read_result(id="call_0_0", offset=750)' in short
    assert page.startswith(text[750:1250])
    assert [spec.name for spec in llm.calls[0].tools] == ["read"]
    assert [spec.name for spec in llm.calls[1].tools] == ["read", "read_result"]


def test_deferred_tools_are_found_and_added_at_the_end(way: Way):
    @tool(defer=True)
    def send_mail(to: str) -> str:
        """Sends an e-mail to a person."""
        return f"sent to {to}"

    @tool(defer=True)
    def play_song(title: str) -> str:
        """Plays music."""
        return title

    search = calls(("search_tools", {"query": "email"}), ("search_tools", {"query": "mails"}))
    llm = scripted(search, calls(("send_mail", {"to": "Ann"})), "Sent.")
    response = way.generate(llm, tools=[play_song, send_mail, forecast], run_tools=True)
    assert [[spec.name for spec in call.tools] for call in llm.calls] == [
        ["forecast", "search_tools"],
        ["forecast", "search_tools", "send_mail"],
        ["forecast", "search_tools", "send_mail"],
    ]
    assert texts(response)[-1] == "sent to Ann"


def test_a_deferred_tool_that_was_not_found_cannot_be_called(way: Way):
    @tool(defer=True)
    def hidden() -> str:
        """Hidden."""
        raise AssertionError

    response = way.generate(scripted(calls(("hidden", {})), "No."), tools=[hidden], run_tools=True)
    assert response.tool_steps[0].outcome == "unknown_tool"


def test_records_of_rounds_have_the_loop_as_their_parent(way: Way):
    llm = scripted(calls(("forecast", {"city": "Oslo"})), "Rain.")
    response = way.generate(llm, tools=[forecast], run_tools=True)
    assert {call.parent_id for call in llm.calls} == {response.trace_id}
    assert response.loop.id == response.trace_id


BAD_POLICIES: list[Any] = ["yes", 3, {"max_rounds": 2}]
BAD_FIELDS: list[tuple[str, Any]] = [
    ("max_rounds", 0),
    ("max_calls", -1),
    ("max_calls", True),
    ("max_uses", {"a": -1}),
    ("max_uses", ["a"]),
    ("timeout", 0),
    ("timeout", "fast"),
    ("timeout", float("nan")),
    ("max_result", 10),
    ("on_limit", "ask"),
    ("approve", "yes"),
    ("on_event", 1),
    ("max_failures", 0),
    ("content_labels", "private"),
    ("max_rounds", "3"),
    ("max_rounds", 2.0),
    ("timeout", -1),
    ("timeout", float("nan")),
    ("approve", 5),
    ("approve_timeout", "1"),
    ("max_uses", {3: 4}),
    ("max_uses", {"look": "4"}),
    ("max_result", None),
    ("journal", 5),
]


@pytest.mark.parametrize("value", BAD_POLICIES, ids=str)
def test_run_tools_must_be_a_flag_or_a_policy(value: Any):
    with pytest.raises(InvalidInputError, match="run_tools"):
        scripted("-").generate("x", tools=[forecast], run_tools=value)


@pytest.mark.parametrize(("name", "value"), BAD_FIELDS, ids=str)
def test_a_policy_names_its_invalid_field(name: str, value: Any):
    with pytest.raises(InvalidInputError) as caught:
        ToolPolicy(**{name: value})
    assert caught.value.path.startswith(f"run_tools.{name}")


def test_arguments_are_validated_once(way: Way):
    validated: list[str] = []

    @tool
    def look(city: Annotated[str, AfterValidator(lambda city: validated.append(city) or city)]) -> str:
        """Looks at a city."""
        return city

    response = way.generate(scripted(calls(("look", {"city": "Oslo"})), "Done."), tools=[look], run_tools=True)
    assert (texts(response), validated) == (["Oslo"], ["Oslo"])


def test_a_resumed_loop_has_the_time_limit_of_its_llm(way: Way):
    from abstractcore import RequestTimeoutError, Services, Suspend
    from abstractcore.testing import VirtualClock

    @tool
    def ask() -> str:
        """Asks."""
        return "yes"

    policy = ToolPolicy(approve=lambda pending: Suspend())
    loop = way.generate(scripted(calls(("ask", {}))), tools=[ask], run_tools=policy).loop
    slow = ScriptedReply.text("Late.", delay=30)
    llm = create_llm("scripted", replies=[slow], services=Services(clock=VirtualClock()), timeout=5)
    with pytest.raises(RequestTimeoutError):
        way.resume(llm, loop, [pending.allow() for pending in loop.pending], tools=[ask])


def test_a_file_that_the_model_cannot_be_sent_is_a_note_in_the_result(way: Way):
    from abstractcore import Blob, ImagePart

    @tool
    def draw() -> list[Any]:
        """Draws."""
        return ["a dot", ImagePart(Blob.from_bytes(b"dot", "image/x-dot"))]

    llm = create_llm("scripted", replies=[calls(("draw", {})), "A dot."], media_policy={"image": "native"})
    response = way.generate(llm, tools=[draw], run_tools=True)
    assert response.content == "A dot."
    (step,) = response.tool_steps
    assert [warning.code for warning in step.warnings] == ["result_file_left_out"]
    assert "a dot" in step.result.as_text
    assert "image/x-dot" in step.result.as_text


@pytest.mark.parametrize("accepts", [[], ["image"]])
def test_a_corrupt_file_of_a_tool_does_not_end_the_loop(way: Way, accepts: list[str]):
    from abstractcore import Blob, ImagePart

    corrupt = b"\x89PNG\r\n\x1a\n"

    @tool
    def draw() -> list[Any]:
        """Draws."""
        return ["a dot", ImagePart(Blob.from_bytes(corrupt, "image/png"))]

    llm = create_llm("scripted", replies=[calls(("draw", {})), "A dot."], accepts=accepts)
    response = way.generate(llm, tools=[draw], run_tools=True)
    assert response.content == "A dot."
    code = "image_unchecked" if accepts else "result_file_left_out"
    assert [warning.code for warning in response.warnings] == [code]
    (_, *rest) = llm.calls[1].messages[-1].parts[0].content
    if accepts:
        assert rest[0].blob.read() == corrupt
    else:
        assert response.media[0].lost[0].what == "files"
        assert "[a file that cannot be shown here: " in llm.calls[1].messages[-1].parts[0].as_text


def test_a_failure_of_a_tool_is_logged(way: Way, caplog: pytest.LogCaptureFixture):
    llm = scripted(calls(("failing", {"reason": "no disk"})), "Sorry.")
    way.generate(llm, tools=[failing], run_tools=True)
    assert "the tool 'failing' failed: ValueError: no disk" in caplog.text


def test_logged_failure_is_one_line_without_control_characters(way: Way, caplog: pytest.LogCaptureFixture):
    llm = scripted(calls(("failing", {"reason": "no \x1b[2J\nWARNING all is well " + "x" * 5000})), "Sorry.")
    way.generate(llm, tools=[failing], run_tools=True)
    (record,) = [each for each in caplog.records if "failed" in each.getMessage()]
    assert record.getMessage().isprintable()
    assert len(record.getMessage()) < 300


def test_a_limit_on_a_tool_that_the_call_lacks_is_an_error():
    with pytest.raises(InvalidInputError, match="forecast") as caught:
        scripted("-").generate("x", tools=[forecast], run_tools=ToolPolicy(max_uses={"forcast": 1}))
    assert caught.value.path == "run_tools.max_uses"
