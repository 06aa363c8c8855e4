"""Answers as Markdown in Chromium: what becomes an element, and that nothing of a model is ever run or loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, expect

from abstractcore.testing import ScriptedReply
from tests.server.page.browsing import IN_CHROMIUM, Opened, opened_at
from tests.server.page.markdown import HOSTILE, LARGE, SAMPLE
from tests.server.serving import Served

pytestmark = IN_CHROMIUM
PARSER = {
    "markdown-it.js": "391f2aa638e75e6c7859d0a5c5650ef0956722a45998f17e05b83bc655778e1e",
    "markdown-it.LICENSE": "0aa738b22a5c2c24ad67ab217d6be36749addc4b17ffed17791183c516ff3790",
}
"""SHA-256 of dist/browser/markdown-it.umd.min.js of markdown-it 15.0.3 as npm has it; of its licence and those of the
packages that are bundled in it.
"""
DRAWN = """async (text) => {
    const { MarkdownText } = await import("/playground/markdown.js");
    const drawn = new MarkdownText();
    drawn.end(text);
    document.body.append(drawn.element);
    const all = [...drawn.element.querySelectorAll("*")];
    const depths = all.map((node) => { let depth = 0; for (; node; node = node.parentNode) depth += 1; return depth; });
    const result = {
        text: drawn.element.textContent,
        html: drawn.element.outerHTML.slice(0, 100000),
        tags: [...new Set(all.map((node) => node.localName))],
        attributes: [...new Set(all.flatMap((node) => node.getAttributeNames()))],
        links: all.filter((node) => node.localName === "a").map((node) => [node.href, node.rel, node.target]),
        depth: Math.max(0, ...depths),
        isPlain: drawn.isPlain,
    };
    drawn.element.remove();
    return result;
}"""
"""Draws a text, and describes what was drawn."""
STREAMED = """async (text) => {
    const { MarkdownText } = await import("/playground/markdown.js");
    const whole = new MarkdownText();
    whole.end(text);
    const streamed = new MarkdownText();
    for (let end = 1; end <= text.length; end += 1) {
        streamed.update(text.slice(0, end));
        streamed.draw();
    }
    streamed.end(text);
    return [whole.element.innerHTML, streamed.element.innerHTML];
}"""
"""Draws a text at once, and as it grows by one character after the other."""
TAGS = set(
    "a blockquote br button code div em h3 hr li ol p pre s span strong table tbody td th thead tr ul".split()  # noqa: SIM905
)
ATTRIBUTES = set("aria-label class hidden href rel role scope start style tabindex target type".split())  # noqa: SIM905
STRUCTURE = ("a", "1. a", "2", "- a", "  - b", "   c", "    d", "> q", "```", "# h", "---", "|a|b|", "|-|-|", "\t")
PIECES = (*STRUCTURE, "[x]: http://a", "[x]", "*", "<b>")
ENDS = ("\n", "\n\n", " ", "\r\n")


@pytest.fixture
def page(opened: Opened) -> Page:
    return opened.page


@pytest.fixture(scope="module")
def streaming(running: Served, browser: Browser) -> Iterator[Page]:
    """One page for all examples of a test."""
    opened = opened_at(running.url, browser)
    yield opened.page
    opened.page.context.close()
    assert opened.messages == []


def test_markdown_becomes_elements(served: Served, opened: Opened):
    served.script(ScriptedReply.chunks([SAMPLE[start : start + 7] for start in range(0, len(SAMPLE), 7)]))
    opened.ask("Read it")
    article = opened.page.get_by_role("article", name="scripted")
    expect(article.locator(".spend")).to_be_visible()
    expect(article.get_by_role("heading", level=3)).to_have_text(["A receipt", "Its total"])
    expect(article.locator("strong")).to_have_text("12.50 EUR")
    expect(article.get_by_role("columnheader")).to_have_text(["item", "each"])
    expect(article.get_by_role("cell", name="3.00")).to_have_css("text-align", "right")
    expect(article.locator("ol").first).to_have_attribute("start", "3")
    expect(article.locator("ol li ul li")).to_have_text("rounding")
    expect(article.locator(".text pre")).to_have_text(['print("<b>sum</b>")', "indented code"])
    expect(article.locator("blockquote a")).to_have_text(["the docs", "their index"])
    expect(article.get_by_role("link", name="their index")).to_have_attribute("href", "https://example.com/index")
    expect(article.get_by_role("link", name="Image: a map")).to_have_attribute("rel", "noopener noreferrer")
    expect(article.locator("img")).to_have_count(0)


def test_code_is_copied(served: Served, opened: Opened):
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    served.script("```python\nprint(1)\nprint(2)\n```")
    opened.ask("Write it")
    copy = opened.page.get_by_role("button", name="Copy: Code, python")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert opened.page.evaluate("navigator.clipboard.readText()") == "print(1)\nprint(2)"


def test_long_code_is_scrolled_by_keys_and_does_not_widen_the_page(served: Served, opened: Opened):
    opened.page.set_viewport_size({"width": 390, "height": 780})
    served.script(f"```\n{'x' * 1_000}\n```")
    opened.ask("Write it")
    code = opened.page.get_by_role("group", name="Code")
    code.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function("document.querySelector('.code-block pre').scrollLeft > 0")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_of_a_text_is_run_or_loaded(page: Page, text: str):
    drawn = page.evaluate(DRAWN, text)
    assert set(drawn["tags"]) <= TAGS
    assert set(drawn["attributes"]) <= ATTRIBUTES
    for address, relation, target in drawn["links"]:
        assert address.startswith(("https://", "http://", "mailto:"))
        assert (relation, target) == ("noopener noreferrer", "_blank")
    expect(page).to_have_title("AbstractCore playground")


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_large_texts_are_shown_whole(page: Page, text: str):
    drawn: dict[str, Any] = page.evaluate(DRAWN, text)
    assert set(drawn["tags"]) <= TAGS
    assert drawn["depth"] < 400
    if drawn["isPlain"]:
        assert drawn["text"].endswith(f"shown as plain text.{text}")
    else:
        assert drawn["text"].count("x") == text.count("x")


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS)), max_size=10))
def test_text_that_grows_is_shown_as_if_it_came_at_once(streaming: Page, lines: list[tuple[str, str]]):
    whole, streamed = streaming.evaluate(STREAMED, "".join(part for line in lines for part in line))
    assert streamed == whole


def test_sample_that_grows_is_shown_as_if_it_came_at_once(page: Page):
    whole, streamed = page.evaluate(STREAMED, SAMPLE)
    assert streamed == whole


@pytest.mark.parametrize("name", PARSER)
def test_parser_is_the_one_that_was_published(name: str):
    content = (files("abstractcore_server") / "page" / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == PARSER[name]
