"""`abstractcore traces` and `costs`: what they print from a database of traces."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Usage, from_json
from abstractcore.traces import TraceStore
from abstractcore.traces.rows import encoded
from tests.cli.tracing.traces import HOSTILE, a_call, a_store, invoke
from tests.core.traces.stores import NOON, remove, write
from tests.documents import ROOT
from tests.postgresql import PostgreSQL


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The path of a database with some traces."""
    return a_store(tmp_path / "traces.db")


def ids(result: Any) -> list[str]:
    return [line.split("\t")[0] for line in result.stdout.splitlines()]


def test_list_has_a_line_for_each_call_with_its_tokens_and_cost(place):
    lines = invoke("traces", "list", "--store", place).stdout.splitlines()
    cells = [line.split("\t") for line in lines]
    assert [(row[0], *row[2:]) for row in cells] == [
        ("other-1", "vendor/large", "done", "500 ms", "10", "5", "$0.500000", "team=lab"),
        ("failed-1", "vendor/small", "failed", "500 ms", "10", "5", "unknown", ""),
        ("call-2", "vendor/small", "done", "2.00 s", "10", "5", "about $0.001000", "team=office"),
        ("call-1", "vendor/small", "done", "1.00 s", "10", "5", "$0.002000", "team=office"),
    ]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--failed"], ["failed-1"]),
        (["--model", "vendor/large"], ["other-1"]),
        (["--tag", "team=office"], ["call-2", "call-1"]),
        (["--limit", "1"], ["other-1"]),
        (["--since", str(NOON)], None),
        (["--since", "2027-01-15T08:00:03+00:00", "--until", "2027-01-15T08:00:06Z"], ["failed-1"]),
    ],
)
def test_list_chooses_calls_by_its_options(place, options, found):
    result = invoke("traces", "list", *options, "--store", place)
    if found is None:
        assert (result.exit_code, "is not a time" in result.stderr) == (2, True)
    else:
        assert ids(result) == found


def test_two_values_of_one_tag_are_a_usage_error(place):
    for command in (["traces", "list"], ["costs"]):
        result = invoke(*command, "--tag", "team=office", "--tag", "team=lab", "--store", place)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "the tag 'team' has two values" in result.stderr
        assert invoke(*command, "--tag", "team=lab", "--tag", "team=lab", "--store", place).exit_code == 0


def test_list_json_has_exact_costs(place):
    data = json.loads(invoke("traces", "list", "--json", "--store", place).stdout)
    assert data["exit_code"] == 0
    costs = {call["trace_id"]: (call["cost"], call["estimated_cost"]) for call in data["calls"]}
    assert costs == {
        "other-1": ("0.5", None),
        "failed-1": (None, None),
        "call-2": (None, "0.001"),
        "call-1": ("0.002", None),
    }


def test_search_finds_words_of_messages(place):
    found = invoke("traces", "search", "Invoice", "--store", place)
    assert (ids(found), found.stdout.splitlines()[0].rpartition("\t")[2]) == (["failed-1"], "invoice 17")
    as_json = json.loads(invoke("traces", "search", "meeting", "--json", "--store", place).stdout)
    assert {call["trace_id"]: call["excerpt"] for call in as_json["calls"]} == {
        "call-1": f"When is the {' '.join(HOSTILE.split())} meeting?",
        "call-2": f"When is the {' '.join(HOSTILE.split())} meeting?",
    }
    nothing = invoke("traces", "search", "unicorn", "--store", place)
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert nothing.stderr == "No call matches. Only content kept in full is found.\n"


def test_store_is_named_by_the_environment(place):
    assert len(ids(invoke("traces", "list", ABSTRACTCORE_TRACES_STORE=place))) == 4


def test_show_prints_the_tree_with_attempts_tools_costs_and_the_conversation_once(place):
    result = invoke("traces", "show", "call-2", "--store", place)
    assert result.stdout.splitlines() == [
        *facts("trace loop-1", result.stdout),
        "tools\tanswered\t+0 ms\t4.00 s",
        "├─ vendor/small\tdone\t+0 ms\t1.00 s\t10 in, 5 out\t$0.002000",
        "│     waited 100 ms for limits",
        "│     attempt 1: 429 RateLimitError, 200 ms",
        "│     attempt 2: 200, 500 ms, after a wait of 100 ms, $0.002000",
        "├─ calendar()\tdone\t+1.00 s\t1.00 s\t\t$0.010000",
        '│     arguments {"day": "Monday"}',
        "│     result At 9.30.",
        "└─ vendor/small\tdone\t+2.00 s\t2.00 s\t10 in, 5 out\tabout $0.001000",
        "",
        "user",
        "  When is the ␛]0;title␇ �31m � meeting?",
        "assistant",
        '  calls calendar({"day": "Monday"})',
        "tool",
        "  At 9.30.",
        "assistant",
        "  It is at 9.30.",
    ]


def facts(title: str, text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith(f"{title}\t")]
    values = [line.split("\t")[1:] for line in lines]
    assert [value for value in values if value[0] != "began"] == [
        ["outcome", "done"],
        ["took", "4.00 s"],
        ["cost", "$0.012000 known, about $0.001000 estimated"],
        ["tags", "team=office"],
        ["scores", "good 1: as it should be"],
    ]
    return lines


def test_show_json_has_records_that_can_be_read_back(place):
    trace = json.loads(invoke("traces", "show", "tool-1", "--json", "--store", place).stdout)["trace"]
    assert [(each["depth"], each["name"]) for each in trace["records"]] == [
        (0, "tools"), (1, "small"), (1, "calendar"), (1, "small"),
    ]  # fmt: skip
    assert trace["costs"] == {"known": "0.012", "estimated": "0.001", "unknown": 0}
    assert from_json(json.dumps(trace["records"][2]["record"])).tool == "calendar"


@pytest.mark.parametrize(
    ("capture", "sentence"),
    [("off", "The content was not kept: "), ("redacted", "The content was not kept, only its sizes: ")],
)
def test_show_says_that_content_was_not_kept(tmp_path, capture, sentence):
    from abstractcore import create_llm

    store = TraceStore(tmp_path / "traces.db")
    with store.keep(capture):
        response = create_llm("scripted", replies=["A secret."]).generate("What is it?")
    store.close()
    result = invoke("traces", "show", response.trace_id, "--store", str(tmp_path / "traces.db"))
    assert result.stdout.splitlines()[-1] == f"{sentence}ABSTRACTCORE_TRACES=full keeps it."


def test_unknown_id_is_an_error_that_names_the_nearest_one(place):
    result = invoke("traces", "show", "failed-2", "--store", place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: ID: no record 'failed-2' is stored.\nDid you mean failed-1?\n"


def test_tail_prints_the_last_calls_oldest_first(place):
    result = invoke("traces", "tail", "--no-follow", "--last", "2", "--store", place)
    assert ids(result) == ["failed-1", "other-1"]
    as_json = invoke("traces", "tail", "--no-follow", "--failed", "--json", "--store", place)
    assert [json.loads(line)["trace_id"] for line in as_json.stdout.splitlines()] == ["failed-1"]


def test_tail_prints_what_is_stored_later_although_it_began_earlier(place, monkeypatch):
    store = TraceStore(place)
    waits = iter(
        [
            lambda: write(store, a_call(trace_id="long", at=NOON - 1000)),
            lambda: write(store, a_call(trace_id="next", at=NOON + 9)),
        ]
    )

    def wait(seconds: float) -> None:
        act = next(waits, None)
        if act is None:
            raise KeyboardInterrupt
        act()

    monkeypatch.setattr("abstractcore_cli.tracing.lists.time.sleep", wait)
    result = invoke("traces", "tail", "--last", "1", "--store", place)
    store.close()
    assert (result.exit_code, ids(result)) == (130, ["other-1", "long", "next"])


@pytest.mark.process
def test_tail_prints_what_another_program_has_begun_to_write_before(postgresql: PostgreSQL, monkeypatch):
    a_store(postgresql.url)
    store, other = TraceStore(postgresql.url), TraceStore(postgresql.url)
    for each in (store, other):  # which makes the partition of the month
        write(each, a_call(at=NOON - 10))
    late = {"late": encoded(a_call(trace_id="late", model="slow", at=NOON + 10), searchable=True)}
    with ExitStack() as written:

        def begin() -> None:
            connection = written.enter_context(other.database.writing())
            other._writer._write(connection, late)
            with store.database.writing() as another:
                another.exec_driver_sql("SELECT nextval('traces_ids') FROM generate_series(1, 5000)")
            write(store, a_call(trace_id="next", at=NOON + 11))

        waits = iter([begin, written.close])

        def wait(seconds: float) -> None:
            act = next(waits, None)
            if act is None:
                raise KeyboardInterrupt
            act()

        monkeypatch.setattr("abstractcore_cli.tracing.lists.time.sleep", wait)
        result = invoke("traces", "tail", "--last", "1", "--store", postgresql.url)
    other.close()
    remove(store)
    assert (result.exit_code, ids(result)) == (130, ["other-1", "next", "late"])


def test_export_writes_a_file_once(place, tmp_path):
    file = str(tmp_path / "traces.jsonl")
    result = invoke("traces", "export", file, "--store", place)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{file}\n", "6 records\n")
    assert len(Path(file).read_text(encoding="utf-8").splitlines()) == 6
    assert invoke("traces", "export", file, "--store", place).exit_code == 2


def test_prune_removes_what_is_out_of_bounds_and_keeps_sums(place):
    assert "nothing says what to remove" in invoke("traces", "prune", "--store", place).stderr
    result = invoke("traces", "prune", "--keep-bytes", "1", "--json", "--store", place)
    assert json.loads(result.stdout)["records"] == 6
    assert ids(invoke("traces", "list", "--store", place)) == []
    assert ids(invoke("costs", "--store", place)) == ["large", "(tools)", "small"]


@pytest.mark.parametrize(
    ("options", "variables", "removed"),
    [
        ((), {"BYTES": "1"}, 7),
        ((), {"DAYS": "36500"}, 0),
        ((), {"DAYS": "30"}, 1),
        (("--keep-days", "36500"), {"DAYS": "30"}, 0),
        (("--keep-bytes", "1"), {"BYTES": "1000000000", "DAYS": "36500"}, 7),
    ],
)
def test_prune_takes_the_bounds_of_programs_unless_others_are_given(place, options, variables, removed):
    store = TraceStore(place)
    write(store, a_call(at=1_000_000_000.0))
    store.close()
    environment = {f"ABSTRACTCORE_TRACES_KEEP_{name}": value for name, value in variables.items()}
    result = invoke("traces", "prune", *options, "--json", "--store", place, **environment)
    assert json.loads(result.stdout)["records"] == removed


@pytest.mark.parametrize(("bound", "problem"), [("", "nothing says what to remove"), ("0", "keep_days")])
def test_prune_refuses_bounds_that_are_none(place, bound, problem):
    result = invoke("traces", "prune", "--store", place, ABSTRACTCORE_TRACES_KEEP_DAYS=bound)
    assert (result.exit_code, problem in result.stderr) == (2, True)


def test_costs_tell_known_estimated_and_unknown_apart(place):
    result = invoke("costs", "--by", "model", "--by", "tag:team", "--store", place)
    assert [line.split("\t") for line in result.stdout.splitlines()] == [
        ["large", "lab", "$0.500000", "-", "-", "-", "1", "0", "10", "5"],
        ["(tools)", "office", "$0.010000", "-", "-", "-", "0", "0", "0", "0"],
        ["small", "office", "$0.002000", "about $0.001000", "-", "-", "2", "0", "20", "10"],
        ["small", "(none)", "-", "-", "1 call", "-", "1", "1", "10", "5"],
    ]
    assert result.stderr.splitlines() == [
        "total: $0.512000 known, about $0.001000 estimated, 1 call of unknown cost",
        "of it, calls that failed: 1 call of unknown cost",
    ]


def test_what_caches_saved_is_shown_beside_what_was_spent(tmp_path):
    place = str(tmp_path / "traces.db")
    hit = {"usage": Usage(), "cost": "0", "cached_at": NOON, "saved_cost": Decimal("0.25")}
    store = TraceStore(place)
    write(store, a_call(cost="0.25", trace_id="asked"), a_call(**hit, trace_id="hit"))
    store.close()
    result = invoke("costs", "--store", place)
    assert result.stdout.splitlines() == ["small\t$0.250000\t-\t-\t$0.250000\t2\t0\t10\t5"]
    assert result.stderr.splitlines() == ["total: $0.250000 known, $0.250000 saved by caches"]
    data = json.loads(invoke("costs", "--json", "--store", place).stdout)
    assert (data["total"]["saved"], data["rows"][0]["saved"]) == ("0.25", "0.25")
    listed = invoke("traces", "list", "--store", place).stdout
    assert "$0 ($0.250000 saved by a cache)" in listed
    found = json.loads(invoke("traces", "list", "--json", "--store", place).stdout)["calls"]
    assert {call["trace_id"]: call["saved_cost"] for call in found} == {"asked": None, "hit": "0.25"}
    of_hit, of_asked = (invoke("traces", "show", id, "--store", place).stdout for id in ("hit", "asked"))
    assert "$0 known, $0.250000 saved by caches" in of_hit
    assert "from a cache, asked for" in of_hit
    assert "cache" not in of_asked


def test_costs_by_day_are_in_the_order_of_the_days(tmp_path):
    store = TraceStore(tmp_path / "traces.db")
    for day, cost in enumerate(("0.1", "0.3", "0.2")):
        write(store, a_call(cost=cost, at=NOON + day * 86_400))
    store.close()
    result = invoke("costs", "--by", "day", "--json", "--store", str(tmp_path / "traces.db"))
    rows = json.loads(result.stdout)["rows"]
    assert [(row["group"]["day"], row["known"]) for row in rows] == [
        ("2027-01-15", "0.1"), ("2027-01-16", "0.3"), ("2027-01-17", "0.2"),
    ]  # fmt: skip


def test_costs_by_an_unknown_name_are_a_usage_error(place):
    result = invoke("costs", "--by", "colour", "--store", place)
    assert (result.exit_code, "costs cannot be summed by 'colour'" in result.stderr) == (2, True)


def no_file(path: Path) -> None:
    path.unlink()


def not_a_database(path: Path) -> None:
    path.write_bytes(b"This is a letter, and no database. " * 100)


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE poems (text)")
    connection.close()


def of_a_later_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE traces_version SET version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (no_file, 2, r"no traces are kept in .*: there is no such file.\nName the file or URL that traces are kept in"),
        (not_a_database, 1, "is not a SQLite database"),
        (of_another_program, 2, "has no traces"),
        (of_a_later_version, 2, "has version 99 of the tables"),
    ],
)
@pytest.mark.parametrize("command", [["traces", "list"], ["traces", "show", "loop-1"], ["costs"]])
def test_database_that_cannot_be_read_is_an_error_and_left_as_it_is(place, change, code, message, command):
    change(Path(place))
    before = Path(place).read_bytes() if Path(place).exists() else None
    result = invoke(*command, "--store", place)
    assert (result.exit_code, result.stdout) == (code, "")
    assert re.search(message, result.stderr)
    assert (Path(place).read_bytes() if Path(place).exists() else None) == before


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("list --tag taem=office", "No call matches; stored tags: team"),
        ("list --tag team=ofice", "No call matches; stored values of the tag team: office, lab"),
        ("list --model smal", "No call matches; stored models: small, large"),
        ("list --model vendor/larg", "No call matches; stored models: large, small"),
        ("list --model large --failed", "No call matches."),
        ("search again --model smal", "No call matches; stored models: small, large"),
        ("tail --no-follow --model smal", "No call matches; stored models: small, large"),
        ("export FILE --model smal", "No call matches; stored models: small, large"),
    ],
)
def test_value_that_no_call_has_names_those_that_are_stored(place, tmp_path, options, note):
    result = invoke("traces", *options.replace("FILE", f"{tmp_path}/file.jsonl").split(), "--store", place)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (0, note)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("--by tag:taem", "No call has the tag taem; stored tags: team"),
        ("--model smal", "No call matches; stored models: small, large"),
        ("--tag team=ofice", "No call matches; stored values of the tag team: office, lab"),
        ("--since 2100-01-01", "No calls since 2100-01-01."),
    ],
)
def test_costs_of_what_no_call_has_name_what_is_stored(place, options, note):
    result = invoke("costs", *options.split(), "--store", place)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (0, note)


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ("--model vendor/small", [["small", "$0.002000"]]),
        ("--model small --by provider", [["vendor", "$0.002000"]]),
        ("--tag team=lab", [["large", "$0.500000"]]),
        ("--tag team=office", [["(tools)", "$0.010000"], ["small", "$0.002000"]]),
        ("--failed", [["small", "-"]]),
        ("--tag team=office --by tag:user", [["(none)", "$0.012000"]]),
    ],
)
def test_costs_of_some_calls(place, options, rows):
    result = invoke("costs", *options.split(), "--store", place)
    assert [line.split("\t")[:2] for line in result.stdout.splitlines()] == rows


def test_export_of_some_calls(place, tmp_path):
    for options, ids in (
        ("--model large", {"other-1"}),
        ("--tag team=office", {"call-1", "call-2", "tool-1", "loop-1"}),
    ):
        file = tmp_path / f"{len(ids)}.jsonl"
        assert invoke("traces", "export", str(file), *options.split(), "--store", place).exit_code == 0
        written = [json.loads(line)["record"] for line in file.read_text(encoding="utf-8").splitlines()]
        assert {record["trace_id"] for record in written} == ids


def test_beginning_of_an_id_names_a_record(place):
    assert "trace loop-1" in invoke("traces", "show", "call-2", "--store", place).stdout
    assert "trace failed-1" in invoke("traces", "show", "fai", "--store", place).stdout
    several = invoke("traces", "show", "call", "--store", place)
    assert (several.exit_code, several.stderr) == (
        2, "error: ID: several records have ids that begin with 'call'.\nWrite more of one: call-1, call-2.\n",
    )  # fmt: skip
    assert invoke("traces", "score", "oth", "good", "0.5", "--comment", "short", "--store", place).stderr == (
        "other-1: good 0.5\n"
    )
    assert "good 0.5: short" in invoke("traces", "show", "other", "--store", place).stdout


def test_tag_without_a_value_is_a_usage_error(place):
    result = invoke("traces", "list", "--tag", "team", "--store", place)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, "error: --tag: 'team' is not a tag.")


def test_documented_commands_run(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8").partition("## On the command line")[2]
    commands = re.findall(r"^\$ abstractcore (.*)$", page.partition("\n## ")[0], re.MULTILINE)
    assert len(commands) > 8
    for command in commands:
        if " rerun " in command or " reconcile " in command:
            continue  # which have tests of their own
        arguments = re.sub(r"\b[0-9a-f]{32}\b", "loop-1", command)
        ends = ["--no-follow"] if "tail" in arguments else []
        result = invoke(*shlex.split(arguments), *ends, ABSTRACTCORE_TRACES_STORE=place)
        assert (command, result.exit_code) == (command, 0)


@pytest.mark.process
def test_postgresql_has_the_same_traces(place, postgresql: PostgreSQL):
    a_store(postgresql.url)
    try:
        for command in ("traces list", "traces search invoice", "traces show loop-1", "costs --by model,tag:team"):
            results = [invoke(*command.split(), "--store", each) for each in (place, postgresql.url)]
            assert results[0].stdout == results[1].stdout
            assert results[0].exit_code == results[1].exit_code == 0
    finally:
        remove(TraceStore(postgresql.url))
