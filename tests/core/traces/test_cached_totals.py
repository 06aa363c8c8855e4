"""Calls that a cache answers cost nothing, wherever costs are read, and what they saved is what they cost before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Billing, Budget, CallRecord, ResponseCache, Services, ToolRecord, Usage, create_llm
from abstractcore.ports import Made
from abstractcore.traces import CostSums
from tests.backend_doubles import WAV, call, leave_out_installed_backends, spoken
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.core.traces.programs import Program, counters, recorded, running, sums_of_spans
from tests.core.traces.worked_calls import WORKED, Worked

OPERATIONS = ("embed", "transcribe", "t2i")
ANSWERED = [
    case
    for case in WORKED
    if case.known is not None and not case.estimated and not case.unknown and case.kind not in ("left", "background")
]
"""Those whose calls end with an answer of known cost, and have no effect on a server."""
OF_FILES = [case for case in ANSWERED if case.kind in ("caption", "caption streamed", "transcribe", "listen")]


@pytest.fixture(autouse=True)
def without_installed_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_installed_backends(monkeypatch)


@pytest.fixture
def begin(server: ScriptedServer, tmp_path: Path) -> Any:
    """Begins a program with services and a folder of its own: nothing but the caches is shared."""

    @contextmanager
    def begin(name: str) -> Iterator[Program]:
        folder = tmp_path / name
        folder.mkdir()
        services = Services(environment={}, random=lambda: 0.0)
        with running(server, services, folder) as program, recorded(program):
            yield program
        services.close()

    return begin


def calls_of(program: Program, case: Worked) -> list[CallRecord]:
    return [each for each in program.records if isinstance(each, CallRecord) and each.tags["case"] == case.name]


def test_calls_that_a_cache_answers_cost_nothing_anywhere(server: ScriptedServer, begin: Any):
    caches = {case.name: ResponseCache(operations=OPERATIONS) for case in ANSWERED}
    with begin("first") as first:
        for case in ANSWERED:
            first.cache = caches[case.name]
            first.sums_of(case)
    responses: dict[str, CostSums] = {}
    asked = len(server.requests)
    with begin("second") as second:
        for case in ANSWERED:
            second.cache = caches[case.name]
            found = second.sums_again(case)
            if found is not None:
                responses[case.name] = found
    assert len(server.requests) == asked

    for case in ANSWERED:
        before, again = calls_of(first, case), calls_of(second, case)
        hits = [each for each in again if each.cached_at is not None]
        assert {each.cost for each in again} == {Decimal(0)}, case.name
        assert {(each.usage, each.attempts) for each in again} == {(Usage(), ())} or len(hits) < len(again), case.name
        if len(before) == len(again):
            assert [each.saved_cost for each in hits] == [each.cost for each in before][: len(hits)], case.name
    check_sums(second, responses)


@pytest.mark.parametrize("case", OF_FILES, ids=lambda case: case.name)
def test_captions_and_transcripts_that_a_cache_answers_cost_nothing(server: ScriptedServer, begin: Any, case: Worked):
    cache = ResponseCache(operations=OPERATIONS)
    with begin("first") as first:
        first.cache, first.is_second_cached_alone = cache, True
        first.sums_of(case)
    for reply in case.replies[1:]:  # that of the caption or the transcript is in the cache
        server.script(*(reply if isinstance(reply, tuple) else (reply,)))
    with begin("second") as second:
        second.cache, second.is_second_cached_alone = cache, True
        response = second.sums_again(case)
    made, answer = calls_of(second, case)
    first_made, first_answer = calls_of(first, case)
    assert (made.cost, made.saved_cost, made.usage) == (Decimal(0), first_made.cost, Usage())
    assert (answer.cost, answer.saved_cost) == (first_answer.cost, None)
    assert response == CostSums(first_answer.cost or Decimal(0), saved=first_made.cost or Decimal(0))
    check_sums(second, {case.name: response})


def check_sums(program: Program, responses: dict[str, CostSums]) -> None:
    """Checks that costs are the same in responses, records, the store, budgets, spans and metrics."""
    names = sorted({record.tags["case"] for record in program.records})
    of_case = {name: [each for each in program.records if each.tags["case"] == name] for name in names}
    by_case = {name: sum_of(records) for name, records in of_case.items()}
    assert responses == {name: by_case[name] for name in responses}
    store = program.store
    for by in (["tag:case"], ["tag:case", "tag:none"]):
        rows = store.costs(by=by, since=0)
        assert {row.group["tag:case"]: row.costs for row in rows} == {
            name: sums for name, sums in by_case.items() if name in {row.group["tag:case"] for row in rows}
        }
    whole = reduce(add, by_case.values())
    calls = [each for each in program.records if isinstance(each, CallRecord)]
    (total,) = store.costs(since=0, by=[])
    assert (total.costs, total.calls) == (whole, len(calls))
    assert total.input_tokens == sum(each.usage.input or 0 for each in calls)
    for name in names:
        trees = {store.trace(each.trace_id).root.record.trace_id for each in store.calls(tags={"case": name})}
        assert reduce(add, (store.trace(each).costs for each in trees)) == by_case[name]
        for state in (budget.state(name) for budget in program.budgets):
            assert (state.spent, state.reserved) == (by_case[name].known, 0)
    spans = program.spans.get_finished_spans()
    assert sums_of_spans(spans) == whole
    hits = [each for each in spans if "abstractcore.cost.saved_usd" in (each.attributes or {})]
    assert not [name for span in hits for name in span.attributes or () if name.startswith("gen_ai.usage.")]
    counted = counters(program.reader)
    assert counted.get("abstractcore.cost.usd", 0) == pytest.approx(float(whole.known), rel=1e-12)
    assert counted["abstractcore.cost.saved_usd"] == pytest.approx(float(whole.saved), rel=1e-12)
    used = counted.get("gen_ai.client.inference.usage.input_tokens", 0)
    assert used == sum(each.usage.input or 0 for each in calls if each.operation != "embed")


def sum_of(records: Sequence[Any]) -> CostSums:
    return reduce(add, map(CostSums.of, records), CostSums())


class Speaker:
    """A backend of voices that charges for each sentence."""

    usage = Usage(billing=Billing(Decimal("0.01")))

    def __init__(self, owner: Any) -> None:
        self.asked: list[str] = []

    def tts(self, text: str) -> Made:
        self.asked.append(text)
        return Made.of(WAV, "audio/wav", transcript=text, usage=self.usage)

    def tts_stream(self, text: str) -> Iterator[Made]:
        self.asked.append(text)
        yield Made.of(b"\0" * 8, "audio/pcm;rate=8000;channels=1", transcript=text)
        yield Made((), usage=self.usage)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_speech_that_a_cache_gives_again_costs_nothing(call_style: Any, services: Services, is_streamed: bool):
    made: list[Speaker] = []

    def speaker(owner: Any) -> Speaker:
        made.append(Speaker(owner))
        return made[-1]

    services.registry.add_backends(
        lambda registry: registry.register_backend(capability="voice", backend_id="tests:voice", factory=speaker)
    )
    budget = Budget(1, per=None, unpriced="allow")
    cache = ResponseCache(operations=["tts", "tts_stream"])
    records: list[Any] = []
    llm = create_llm("scripted", replies=[], services=services, middleware=[cache], budgets=[budget])
    with services.records.subscribe(records.append):
        found = [
            spoken(call_style, llm.voice, "hi")[1] if is_streamed else call(call_style, llm.voice, "tts", "hi")
            for _ in range(2)
        ]
        assert services.records.flush(PATIENCE_SECONDS)
    assert [each.cost for each in found] == [Decimal("0.01"), Decimal(0)]
    assert found[1].costs == CostSums(saved=Decimal("0.01"))
    assert found[1].parts == found[0].parts
    assert [(each.cost, each.saved_cost) for each in records] == [(Decimal("0.01"), None), (0, Decimal("0.01"))]
    assert budget.state().spent == Decimal("0.01")
    assert [each.asked for each in made] == [["hi"]]


def test_tool_runs_of_a_loop_that_a_cache_answers_are_paid_again(begin: Any):
    (case,) = [each for each in ANSWERED if each.name == "two runs of it"]
    cache = ResponseCache()
    with begin("first") as first:
        first.cache = cache
        first.sums_of(case)
    with begin("second") as second:
        second.cache = cache
        found = second.sums_again(case)
    runs = [each for each in second.records if isinstance(each, ToolRecord)]
    assert found == CostSums(Decimal("0.5"), saved=Decimal("0.000078"))
    assert [each.cost for each in runs] == [Decimal("0.25")] * 2
