"""Every example runs from the built wheels, in any folder, with the expected output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.weights]

EXAMPLES = Path(__file__).parents[2] / "examples"
SPOKEN = "good morning the meeting starts at on tuesday room please bring the budget report two copies of the contract"


def test_demo_answers_about_a_recording_two_documents_a_photo_and_a_video(run_installed):
    files = r"^(?:meeting\.wav|notice\.pdf|harvest_form\.pdf|receipt\.jpg|talk\.mp4)$"
    _, recording, notice, form, photo, video = re.split(files, run_installed(EXAMPLES / "demo.py"), flags=re.MULTILINE)
    answers = (
        (recording, r"\b12\b"),
        (notice, r"town library"),
        (form, r"\b14\b"),
        (photo, r"25\.69"),
        (video, r"\b12\b"),
    )
    for text, answer in answers:
        assert re.search(rf"^  answer +.*{answer}", text, re.MULTILINE), text
        tokens = re.search(r"^  tokens +(\d+) in, (\d+) out$", text, re.MULTILINE)
        assert tokens
        assert 0 < int(tokens[1]) <= 400
        assert re.search(r"^  time +[\d.]+ s to the first token, [\d.]+ s in total$", text, re.MULTILINE)
        assert "cost      $0.00" in text
    heard = set(re.findall(r"\w+", recording.partition("sent")[2].lower()))
    assert set(SPOKEN.split()) <= heard
    assert "A ticket costs 12 euros." in " ".join(notice.partition("sent")[2].split())
    for line in ("| North |  | 20 | 12 |", "| South | 30 |  | 8 |", "| Variety | Cox |", "| Organic | [x] |"):
        assert f"\n            {line}\n" in form, line


def test_documents_are_asked(run_installed):
    lines = run_installed(EXAMPLES / "ask_documents.py").splitlines()
    assert [line.partition(":")[0] for line in lines[::2]] == ["harvest.docx", "sales.xlsx", "notice.pdf"]
    assert [line.rpartition("not sent: ")[2] for line in lines[1::2]] == [
        "1 of 1 pictures",
        "1 of 1 pictures",
        "nothing",
    ]
    assert "2.5" in lines[2]
    assert "12 euros" in lines[4]


def test_receipt_is_read_without_a_vision_model(run_installed):
    lines = run_installed(EXAMPLES / "receipt.py").splitlines()
    assert lines[0].startswith("receipt.jpg: ocr, since the policy is 'ocr'")
    read = {line.rpartition(" at ")[0].strip() for line in lines[1:-1]}
    assert {"CORNER BAKERY", "Receipt 004812", "TOTAL EUR", "25.69"} <= read
    assert lines[-1].startswith("Receipt(shop='Corner Bakery', number='004812'")


def test_describe_video_shows_frames_and_what_is_lost(run_installed):
    answer, sent, *lost = run_installed(EXAMPLES / "describe_video.py").splitlines()
    assert answer == "A meadow, with a tree and a burrow."
    assert sent == "frames: 4 images, at [00:00] [00:01] [00:02] [00:04]"
    assert lost == ["lost: 128 of 132 frames", "lost: 5.28 of 5.28 seconds"]


def test_ask_answers(run_installed):
    answer, reason, tokens = run_installed(EXAMPLES / "ask.py").splitlines()
    assert "12 euros" in answer
    assert "so the pdf handler converts it to text" in reason
    assert re.fullmatch(r"\d+ tokens in, \d+ out", tokens)


def test_stream_async_prints_an_answer(run_installed):
    assert re.search(r"\w+.*\n\(\d+ tokens, (stop|length)\)\n$", run_installed(EXAMPLES / "stream_async.py"), re.DOTALL)


def test_budget_ends_at_its_limit_with_a_cheaper_model_before(run_installed):
    lines = run_installed(EXAMPLES / "budget.py").splitlines()
    assert [line.split()[0] for line in lines] == [
        *["large"] * 3,
        "scripted/large:",
        *["large"] * 2,
        *["small"] * 5,
        "stopped:",
        "bob:",
        "large:",
    ]
    assert lines[-3] == "stopped: the budget of ann has $0.36, of which $0.3150 is spent"


def test_cheaper_model_is_asked_again_and_its_tool_is_not_run(run_installed):
    lines = run_installed(EXAMPLES / "rerun_cheaper.py").splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["equal", "different", "different"]
    assert "invalid" in lines[4]
    assert [line for line in lines if "is read" in line] == ["(the calendar of Monday is read)"]
    assert lines[-1] == "4 calls are kept with the tag rerun_of"


def test_duplicates_are_found_among_notes(run_installed):
    lines = run_installed(EXAMPLES / "duplicates.py").splitlines()
    assert [line[6:] for line in lines[:2]] == [
        "Please bring the budget report to the meeting.",
        "Bring the report on the budget to the meeting, please.",
    ]
    assert lines[-4:] == [
        "group 1: lines 1, 3",
        "group 2: lines 2, 5",
        "group 3: lines 4, 6",
        "7 texts, 1 of them like no other",
    ]


def test_paced_batch_lets_a_user_go_first(run_installed):
    assert run_installed(EXAMPLES / "paced.py").splitlines() == [
        "the limits leave no room within the time of the call: it waited 0 s for 20 requests a minute, "
        "30 s more are needed",
        "the user waited 30 s at 90 s, before the rest of the batch",
        "51 requests in 126 s, 20 in any minute at most",
        "the batch waited up to 124 s",
    ]


def test_cost_tracking_sums_by_team(run_installed):
    assert run_installed(EXAMPLES / "cost_tracking.py").splitlines() == [
        "office   12 in   9 out  $0.00006125  2 done",
        "sales     5 in   5 out  $0.00000375  1 done, 1 abandoned",
        "       and about $0.00000105 for calls that ended without a report of their tokens",
    ]


def test_otel_shows_spans_as_a_tree(run_installed):
    assert run_installed(EXAMPLES / "otel.py").splitlines() == [
        "GET /calendar",
        "  invoke_agent",
        "    chat small  5 tokens in  $0.00000075",
        "    execute_tool next_meeting",
        "      SELECT meetings",
        "    chat small  5 tokens in  $0.00000375",
    ]


def test_tool_loop_prints_events_results_and_their_data(run_installed):
    assert run_installed(EXAMPLES / "tool_loop.py").splitlines() == [
        "Let me look.",
        '-> temperature({"city": "Oslo"})',
        "   station 18700",
        "<- 15.0 degrees Celsius",
        "",
        '-> to_fahrenheit({"celsius": 15.0})',
        "<- 59.0",
        "It is 59 degrees Fahrenheit in Oslo.",
        "round 0: temperature done, data: Station(number=18700, celsius=15.0)",
        "round 1: to_fahrenheit done, data: None",
        "answered after 3 replies, 10 tokens of output",
    ]


def test_tool_loop_of_the_stronger_embedded_model_calls_both_tools(run_installed):
    pytest.importorskip("xllamacpp")
    printed = run_installed(EXAMPLES / "tool_loop.py", "--model", "local/qwen2.5-coder-1.5b")
    assert '-> temperature({"city": "Oslo"})' in printed
    assert "round 1: to_fahrenheit done" in printed
    assert "59" in printed.partition("<- 59")[2].partition("round 0")[0]
    assert "answered after 3 replies" in printed


def test_scripted_tests_pass(run_installed):
    assert " passed in " in run_installed("-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLES / "scripted_test.py")


def test_approve_later_goes_on_in_another_process(run_installed):
    assert run_installed(EXAMPLES / "approve_later.py").splitlines() == [
        "first process:  pay waits",
        'second process: pay {"to": "Ann", "euros": 80} - waits for the treasurer',
        "second process: balance -> 250",
        "second process: pay -> paid 80 euros to Ann",
        "second process: Ann has been paid.",
    ]


def test_runs_approval_pays_once_though_a_worker_is_killed(run_installed):
    assert run_installed(EXAMPLES / "runs_approval.py").splitlines() == [
        "$ start",
        "$ work",
        "$ show",
        'waits: approval pay {"to": "Ann", "euros": 80}',
        "$ answer",
        "$ work --killed-after-paying",
        "killed by SIGKILL",
        "$ work",
        "$ show",
        'waits: interrupted pay {"to": "Ann", "euros": 80}',
        "$ answer",
        "$ work",
        "$ show",
        "completed: There were 250 euros. The payment: was paid.",
        "payments: ['80 euros to Ann']",
    ]


def test_extract_invoice_shows_where_each_value_stands(run_installed):
    output, *evidence = run_installed(EXAMPLES / "extract_invoice.py").splitlines()
    assert output.startswith("Invoice(number='HL-2093', date='14 March 2026', items=[Item(name='Desk lamp, brass'")
    assert evidence == [
        "number          page 1, 0-17: Harbour Lamps Ltd (DOUBTFUL: the quote does not contain the value 'HL-2093')",
        "date            page 1, 62-75: 14 March 2026",
        "items[0].name   page 1, 144-160: Desk lamp, brass",
        "items[0].amount page 1, 163-171: 1,180.00",
        "items[1].name   page 1, 176-184: Delivery",
        "items[1].amount page 1, 187-192: 54.50",
        "total           page 1, 211-219: 1,234.50",
        "currency        page 1, 121-124: EUR",
    ]


def test_mcp_server_is_called_by_a_client(run_installed):
    assert run_installed(EXAMPLES / "mcp_server.py").splitlines() == [
        "order: Looks up an order.",
        "ship: Ships an order.",
        "{'number': 7, 'items': ['tea', 'cups'], 'total': 31.5}",
        "   1 of 2: packed tea",
        "   2 of 2: packed cups",
        "order 7 is on its way",
        "error: there is no order 8",
    ]


def test_mcp_tools_stand_beside_a_function(run_installed):
    assert run_installed(EXAMPLES / "mcp_tools.py").splitlines() == [
        'weather({"city": "Oslo"}) -> rain',
        'shop_stock({"item": "umbrella"}) -> 3',
        "It rains in Oslo, and there are three umbrellas.",
    ]


def test_files_are_searched(run_installed):
    lines = run_installed(EXAMPLES / "search_files.py").splitlines()
    assert lines[0] == "9 added, 1 not read"
    assert lines[1].startswith("  bunny.mp4: ")
    assert [line.strip().partition(": ")[0] for line in lines[3::2]] == [
        "invoice.pdf, page 1",
        "sales.xlsx, Sales!A3:F3",
        "meeting.wav, 00:00",
        "notice.pdf, page 1",
        "harvest.docx, paragraph 3",
    ]


def test_every_example_is_tested():
    with_plugins = sorted((EXAMPLES.parent / "tests" / "plugins").glob("*/test_package.py"))
    tested = "".join(path.read_text() for path in (Path(__file__), *with_plugins))
    assert all(f'"{path.name}"' in tested for path in EXAMPLES.glob("*.py"))


def test_long_chat_survives_being_killed_and_never_overflows(run_installed):
    lines = run_installed(EXAMPLES / "long_chat.py").splitlines()
    assert lines[:4] == [
        "Good morning to you.",
        "the first process ended with 9",
        "killed after 1 exchange, with 1 tool call done: it goes on",
        "Ordered.",
    ]
    assert lines[4] == "40 times the context; orders: lamp"
    assert lines[-2].startswith("[Summary of the conversation")


def test_fallback_asks_others_and_shows_every_cause(run_installed):
    output = run_installed(EXAMPLES / "fallback.py")
    assert "Asked: large (ServerError), small (RateLimitError), local (answered)." in output
    assert "Are you there? Still here. Asked: local (answered)." in output
    assert "A minute later: I am back." in output
    assert output.endswith("Try again in 30 s.\n")
