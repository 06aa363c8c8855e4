"""Conversations that the browser keeps: after a reload, in the list, exported, and what it does not keep."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from abstractcore import ImagePart, Session, ToolResult, create_llm
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS
from tests.server.page.browsing import IN_CHROMIUM, MEDIA, Opened
from tests.server.serving import Served

pytestmark = IN_CHROMIUM
PREFIX = "abstractcore.conversation."
NOT_KEPT = "[The file small.png is not part of this conversation any more.]"
SPEND = {"model": "openai/x", "usage": {"input": 1, "output": 1}, "cost": None, "cost_reason": "no price", "seconds": 1}
ANSWER = {"model": "x", "text": "b", "reasoning": "", "calls": [], "made": [], "spend": SPEND, "isStopped": False}
TURN = {"asked": {"text": "a", "files": []}, "messages": [{"role": "user", "content": "a"}], "answer": ANSWER}


def stored(id: str, text: str = "b", changed: int = 1, **fields: Any) -> dict[str, Any]:
    """Returns a conversation as it is kept."""
    turn = {**TURN, "answer": {**ANSWER, "text": text}}
    return {"version": 1, "id": id, "title": id, "changed": changed, "options": {}, "turns": [turn], **fields}


def keep(page: Page, *conversations: dict[str, Any]) -> None:
    """Keeps conversations, as an earlier visit has done, and shows the page anew."""
    for each in conversations:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [PREFIX + each["id"], json.dumps(each)])
    page.reload()
    page.get_by_label("Model", exact=True).fill("scripted")


def answered(opened: Opened, count: int = 1) -> None:
    """Waits for the end of an answer."""
    expect(opened.page.locator(".spend")).to_have_count(count)


def listed(page: Page) -> Any:
    """The titles of the list."""
    return page.locator("#kept .title")


def test_conversation_survives_a_reload_and_goes_on(served: Served, opened: Opened):
    page = opened.page
    opened.tab("Options")
    page.get_by_label("Instructions for the model").fill("Be brief.")
    served.script("A **square**.", "Red.", "As I said: red.")
    opened.ask("What is it?", MEDIA / "small.png")
    answered(opened)
    opened.ask("Its colour?")
    answered(opened, 2)
    spent = page.locator(".spend").all_inner_texts()
    page.reload()
    answered(opened, 2)
    assert page.locator(".spend").all_inner_texts() == spent
    expect(page.get_by_role("article")).to_have_count(4)
    expect(page.get_by_role("article", name="You").first).to_contain_text("small.png: its name only is kept")
    expect(page.locator("strong")).to_have_text("square")
    expect(page.get_by_label("Model", exact=True)).to_have_value("scripted")
    opened.ask("Really?")
    answered(opened, 3)
    system, first, *others = served.calls[-1].messages
    assert system.text == "Be brief."
    assert first.text == f"{NOT_KEPT}\nWhat is it?"
    assert [message.text for message in others] == ["A **square**.", "Its colour?", "Red.", "Really?"]


def test_conversations_are_listed_named_and_removed(served: Served, opened: Opened):
    page = opened.page
    served.script("Hello.", "Goodbye.")
    opened.ask("First of all")
    answered(opened)
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("article")).to_have_count(0)
    opened.ask("x" * 100)
    answered(opened)
    expect(listed(page)).to_have_text(["x" * 59 + "…", "First of all"])
    page.get_by_label("Name of this conversation").fill("The second")
    page.get_by_label("Name of this conversation").press("Enter")
    expect(listed(page)).to_have_text(["The second", "First of all"])
    page.get_by_role("button", name="First of all").click()
    expect(page.get_by_role("article", name="scripted")).to_contain_text("Hello.")
    expect(page.get_by_role("button", name="First of all")).to_have_attribute("aria-current", "true")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(listed(page)).to_have_count(2)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(listed(page)).to_have_text(["The second"])
    expect(page.get_by_role("article")).to_have_count(0)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove all").click()
    expect(listed(page)).to_have_count(0)
    assert page.evaluate("localStorage.length") == 0


def test_conversation_is_exported(served: Served, opened: Opened, tmp_path: Path):
    page = opened.page
    opened.tab("Options")
    page.get_by_label("Instructions for the model").fill("Be brief.")
    served.script("A square.", ScriptedReply.tool_call("colour", {"of": "it"}, id="call-1"), "Red.")
    opened.ask("What is it?", MEDIA / "small.png")
    answered(opened)
    opened.ask("Its colour?")
    page.get_by_label("Result of colour").fill("red")
    page.get_by_role("button", name="Send result").click()
    answered(opened, 3)
    for button, name in (("Save JSON", "what-is-it.json"), ("Save Markdown", "what-is-it.md")):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
    session = Session.load(tmp_path / "what-is-it.json", create_llm("scripted", replies=["Yes."]))
    assert session.system_prompt == "Be brief."
    assert [message.role for message in session.messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    (result,) = (part for message in session.messages for part in message.parts if isinstance(part, ToolResult))
    assert (result.call_id, result.as_text) == ("call-1", "red")
    assert not any(isinstance(part, ImagePart) for message in session.messages for part in message.parts)
    assert NOT_KEPT in session.messages[0].text
    assert session.to_openai() == json.loads((tmp_path / "what-is-it.json").read_bytes())
    assert session.ask("Really?").content == "Yes."
    text = (tmp_path / "what-is-it.md").read_text("utf-8")
    head, _, rest = text.partition("\n\n*scripted/scripted · ")
    assert head == "\n\n".join(
        ["# What is it?", "Be brief.", "## You", "*File: small.png*", "What is it?", "## scripted", "A square."]
    )
    assert '```\ncolour({"of": "it"})\n```' in rest
    assert "## You\n\ncolour: red\n\n## scripted\n\nRed." in rest


def test_results_of_tools_are_asked_for_after_a_reload(served: Served, opened: Opened):
    served.script(ScriptedReply.tool_call("weather"), "Take a hat.")
    opened.ask("What to wear?")
    answered(opened)
    opened.page.reload()
    opened.page.get_by_label("Result of weather").fill("sun")
    opened.page.get_by_role("button", name="Send result").click()
    answered(opened, 2)
    assert [message.role for message in served.calls[-1].messages] == ["user", "assistant", "tool"]


def test_another_tab_shows_what_this_one_keeps(served: Served, opened: Opened):
    served.script("Hello.", "Goodbye.")
    opened.ask("First")
    answered(opened)
    other = opened.page.context.new_page()
    other.goto(served.url)
    other.get_by_role("button", name="First").click()
    opened.ask("Second")
    answered(opened, 2)
    expect(other.get_by_role("article", name="scripted").last).to_contain_text("Goodbye.")


def test_oldest_conversations_make_room_and_are_named(served: Served, opened: Opened):
    page = opened.page
    keep(page, stored("old", "x" * 990_000, 1), stored("older", "x" * 990_000, 0), stored("young", "x", 2))
    expect(listed(page)).to_have_text(["young", "old", "older"])
    served.script("y" * 50_000)
    opened.ask("And now?")
    answered(opened)
    expect(listed(page)).to_have_text(["And now?", "young", "old"])
    expect(page.locator(".notice")).to_have_text("Removed, since this browser keeps no more: “older”.")


def test_conversation_that_is_too_long_is_not_kept_and_removes_no_other(served: Served, opened: Opened):
    page = opened.page
    keep(page, stored("long", "x" * 1_990_000, 1), stored("other", "x", 0))
    page.get_by_role("button", name="long").click()
    served.script("y" * 50_000)
    opened.ask("More")
    answered(opened, 2)
    expect(page.locator(".notice")).to_contain_text("too long for this browser to keep")
    expect(listed(page)).to_have_text(["long", "other"])


def test_storage_that_others_have_filled_is_reported_and_costs_no_conversation(served: Served, opened: Opened):
    page = opened.page
    keep(page, stored("young", "x" * 1_000, 1), stored("old", "x" * 1_000, 0))
    page.evaluate(
        """() => {
            for (let size = 1 << 23; size; size >>= 1) {
                try { localStorage.setItem("other " + size, "x".repeat(size)); } catch { continue; }
            }
        }"""
    )
    served.script("y" * 50_000)
    opened.ask("Hi")
    answered(opened)
    expect(page.locator(".notice")).to_contain_text("too long for this browser to keep")
    expect(listed(page)).to_have_text(["young", "old"])


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "null",
        "[]",
        '"x"',
        "{}",
        json.dumps(stored("else")),
        *(
            json.dumps(stored("bad", **fields))
            for fields in (
                {"version": 2},
                {"title": None},
                {"turns": None},
                {"turns": [None]},
                {"options": {"system": 1}},
                {"turns": [{**TURN, "answer": {**ANSWER, "spend": {}}}]},
                {"turns": [{**TURN, "answer": {**ANSWER, "calls": [{}]}}]},
                {"turns": [{**TURN, "messages": "x"}]},
            )
        ),
    ],
)
def test_what_is_no_conversation_is_reported_and_harms_nothing(served: Served, opened: Opened, text: str):
    page = opened.page
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [f"{PREFIX}bad", text])
    keep(page, stored("good"))
    expect(listed(page)).to_have_text(["good"])
    expect(page.locator(".notice")).to_contain_text("cannot be read, and are not in the list: 1")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove all").click()
    expect(listed(page)).to_have_count(0)
    assert page.evaluate("localStorage.length") == 0


def test_kept_texts_never_become_html(opened: Opened):
    hostile = "<img src=x onerror=alert(1)>"
    kept = stored("id", hostile, title=hostile)
    kept["turns"][0]["asked"] = {"text": hostile, "files": [hostile]}
    keep(opened.page, kept)
    opened.page.get_by_role("button", name=hostile).click()
    expect(opened.page.get_by_role("article")).to_have_count(2)
    expect(opened.page.locator("article img, nav img")).to_have_count(0)
    expect(opened.page.locator(".spend")).to_have_text(
        "openai/x · 1 tokens in, 1 out · cost unknown: no price · 1.00 s"
    )


def test_without_storage_the_page_works_and_reports_it(served: Served, browser: Browser):
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    page.goto(served.url)
    expect(page.locator(".notice")).to_contain_text("This browser keeps nothing for this page")
    page.get_by_label("Model", exact=True).fill("scripted")
    served.script("Hello.")
    Opened(page).ask("Hi")
    expect(page.get_by_role("article", name="scripted")).to_contain_text("Hello.")
    context.close()


def test_removed_conversation_is_not_brought_back_by_its_answer(served: Served, opened: Opened):
    is_called, may_end = threading.Event(), threading.Event()

    def wait(call: object) -> str:
        is_called.set()
        may_end.wait(PATIENCE_SECONDS)
        return "late"

    page = opened.page
    served.script("Hello.", wait, "Third.")
    opened.ask("First")
    answered(opened)
    opened.ask("Second")
    assert is_called.wait(PATIENCE_SECONDS)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove", exact=True).click()
    may_end.set()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    opened.ask("Third")
    answered(opened)
    expect(listed(page)).to_have_text(["Third"])


@pytest.mark.parametrize("size", [(390, 780), (320, 480), (1280, 800), (700, 500)])
def test_send_is_in_view(served: Served, opened: Opened, size: tuple[int, int]):
    width, height = size
    opened.page.set_viewport_size({"width": width, "height": height})
    send = opened.page.get_by_role("button", name="Send", exact=True)
    expect(send).to_be_in_viewport(ratio=1)
    served.script("\n\n".join(["A long answer."] * 100))
    opened.ask("What is it?", MEDIA / "small.png")
    answered(opened)
    expect(send).to_be_in_viewport(ratio=1)
    expect(opened.page.locator(".spend")).to_be_in_viewport(ratio=1)
    assert opened.page.evaluate("document.documentElement.scrollHeight") <= height
    opened.page.set_input_files("#picker", [MEDIA / "small.png"])
    expect(opened.page.get_by_role("list", name="Files to send")).to_contain_text("small.png")
    expect(send).to_be_in_viewport(ratio=1)


def test_narrow_screen_shows_one_view_at_a_time_by_keys(served: Served, opened: Opened):
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 780})
    served.script("Hello.")
    opened.ask("Hi")
    answered(opened)
    page.get_by_role("button", name="Conversations", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="New conversation")).to_be_visible()
    expect(page.get_by_role("log")).to_be_hidden()
    page.get_by_role("button", name="Hi 1 answer").press("Enter")
    expect(page.get_by_role("log")).to_be_visible()
    page.get_by_role("button", name="The call", exact=True).press("Space")
    expect(page.get_by_role("tabpanel")).to_contain_text("scripted/scripted")
    expect(page.get_by_role("log")).to_be_hidden()
