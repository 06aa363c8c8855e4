"""The dashboard in Chromium, driven by Playwright: what it shows, the keyboard, and that axe-core finds nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from abstractcore import CallRecord, ModelReply, ResponseCache, Services, TextPart
from abstractcore.traces import CostSums, TraceStore
from abstractcore_server import Settings
from tests.backend_doubles import leave_out_installed_backends
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.core.traces.programs import Program, recorded, running
from tests.core.traces.stores import a_call, write
from tests.core.traces.worked_calls import WORKED
from tests.node_packages import installed
from tests.server.dashboard.sample_traces import (
    HOSTILE,
    HOSTILE_TRACE,
    LOOP,
    hostile_trace,
    long_loop,
    many_calls,
    one_loop,
    sample_sound,
)
from tests.server.serving import Served, serving

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]
KEY = "the-key-of-an-admin"
TESTS = Path(__file__).parents[2]
LONG = "c" * 32
HUGE = "8" * 32
CALLS = 300
Scheme = Literal["light", "dark"]


@dataclass
class Opened:
    """The dashboard in a browser, and the messages of its console."""

    page: Page
    url: str
    messages: list[str] = field(default_factory=list[str])

    def show(self, address: str = "") -> None:
        """Goes to a part of the page."""
        self.page.goto(f"{self.url}/dashboard{address}")

    def choose_record(self, index: int) -> None:
        """Shows a record of the trace that is open."""
        self.page.locator(".record").nth(index).click()

    def check_accessible(self) -> None:
        """Checks that axe-core finds nothing, and that nothing is wider than the screen."""
        if not self.page.evaluate("'axe' in window"):
            axe = installed(TESTS / "server/page/node") / "node_modules/axe-core/axe.min.js"
            self.page.evaluate(axe.read_text("utf-8"))
        found = self.page.evaluate("axe.run(document)")["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces") / "traces.db"


@pytest.fixture(scope="module")
def store(place: Path) -> Iterator[TraceStore]:
    store = TraceStore(place)
    now = time.time()
    many_calls(store, CALLS, until=now - 3_600)
    one_loop(store, (TESTS / "media/files/small.png").read_bytes(), sample_sound(), at=now - 600)
    hostile_trace(store, at=now - 500)
    long_loop(store, 1_000, at=now - 400 * 86_400, id=LONG)  # before the ranges that the page shows
    huge = ModelReply((TextPart("é" * 5_000_000),), "stop")
    write(store, a_call(at=now - 400 * 86_400, trace_id=HUGE, reply=huge))
    yield store
    store.close()


@pytest.fixture(scope="module")
def served(place: Path, store: TraceStore) -> Iterator[Served]:
    with serving(Settings(admin_keys=(KEY,)), traces=place) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


Open = Callable[..., Opened]


@pytest.fixture
def opened(served: Served, browser: Browser) -> Iterator[Open]:
    """Opens the dashboard with the key; at the end, nothing has been written to the console."""
    pages: list[Opened] = []

    def begin(scheme: Scheme = "light", width: int = 1280, *, key: str | None = KEY) -> Opened:
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        opened = Opened(context.new_page(), served.url)
        pages.append(opened)
        opened.page.on("pageerror", lambda error: opened.messages.append(str(error)))
        opened.page.on("console", lambda message: opened.messages.append(message.text))
        opened.show()
        if key is not None:
            opened.page.get_by_label("Admin key").fill(key)
            opened.page.get_by_label("Admin key").press("Enter")
            expect(opened.page.locator("#totals div")).to_have_count(8)
            expect(opened.page.locator("#rows tbody tr")).to_have_count(50)
        return opened

    yield begin
    for each in pages:
        each.page.context.close()
        assert each.messages == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)])
def test_every_part_is_accessible(opened: Open, scheme: Scheme, width: int):
    each = opened(scheme, width)
    each.check_accessible()
    each.show(f"#trace={LOOP}")
    for index in range(4):
        each.choose_record(index)
        each.check_accessible()
    each.show(f"#trace={HOSTILE_TRACE}")
    for index in range(3):
        each.choose_record(index)
        each.check_accessible()
    each.show(f"#compare={LOOP}&compare={HOSTILE_TRACE}")
    expect(each.page.locator(".trace")).to_have_count(2)
    each.check_accessible()


def test_page_follows_the_scheme_of_the_system(opened: Open):
    light, dark = (opened(scheme) for scheme in ("light", "dark"))
    backgrounds = [each.page.evaluate("getComputedStyle(document.body).backgroundColor") for each in (light, dark)]
    assert backgrounds[0] != backgrounds[1]
    light.page.emulate_media(color_scheme="dark")
    expect(light.page.locator("body")).to_have_css("background-color", backgrounds[1])


def test_page_without_a_key_asks_for_it_and_shows_nothing(opened: Open):
    each = opened(key=None)
    expect(each.page.get_by_label("Admin key")).to_be_focused()
    expect(each.page.get_by_text("ABSTRACTCORE_SERVER_ADMIN_KEY")).to_be_visible()
    expect(each.page.locator("main:visible")).to_have_count(1)
    each.check_accessible()


def test_wrong_key_is_refused_and_can_be_corrected(opened: Open):
    each = opened(key=None)
    each.page.get_by_label("Admin key").fill("not-the-key-of-an-admin")
    each.page.get_by_label("Admin key").press("Enter")
    expect(each.page.get_by_role("alert")).to_have_text("this key is not valid here")
    each.page.get_by_label("Admin key").fill(KEY)
    each.page.get_by_label("Admin key").press("Enter")
    expect(each.page.locator("#rows tbody tr")).to_have_count(50)
    expect(each.page.get_by_role("alert")).to_have_count(0)
    assert [message for message in each.messages if "401" not in message] == []  # browsers write it of each such answer
    each.messages.clear()


def test_texts_are_never_html(opened: Open):
    each = opened()
    each.show(f"#trace={HOSTILE_TRACE}")
    for index in range(3):
        each.choose_record(index)
        expect(each.page.locator(".details")).to_contain_text(HOSTILE)
    each.show()
    expect(each.page.locator("#rows tbody tr").first).to_contain_text(HOSTILE)
    each.page.get_by_label("By", exact=True).select_option(f"tag:{HOSTILE}")
    expect(each.page.locator("#groups tbody tr", has_text=HOSTILE)).to_have_count(1)
    expect(each.page.locator(".legend").first).to_contain_text(HOSTILE)
    assert each.page.evaluate("window.hacked") is None
    assert each.page.locator("script:not([src])").count() == 0
    each.check_accessible()


def test_trace_shows_its_picture_and_plays_its_sound(opened: Open):
    each = opened()
    each.show(f"#trace={LOOP}")
    each.choose_record(1)
    picture = each.page.get_by_role("img", name="receipt.png")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    expect(each.page.locator(".details")).to_contain_text("ServerError: overloaded")
    each.choose_record(3)
    each.page.get_by_role("button", name="Show answer.wav").click()
    player = each.page.locator("audio")
    expect(player).to_be_visible()
    player.evaluate("audio => audio.play()")
    expect(player).to_have_js_property("ended", True)


def test_two_traces_are_compared(opened: Open):
    each = opened()
    rows = each.page.locator("#rows tbody tr")
    compare = each.page.get_by_role("button", name="Compare two")
    expect(compare).to_be_disabled()
    rows.nth(3).get_by_role("checkbox").check()
    rows.nth(5).get_by_role("checkbox").check()
    rows.nth(7).get_by_role("checkbox").click()
    expect(rows.nth(7).get_by_role("checkbox")).not_to_be_checked()  # two at most
    compare.click()
    expect(each.page.locator(".pair .trace")).to_have_count(2)
    expect(each.page.locator(".pair .trace .details")).to_have_count(2)
    each.page.go_back()
    expect(rows).to_have_count(50)
    expect(rows.nth(3).get_by_role("checkbox")).to_be_checked()


def test_new_calls_appear_and_stop_with_the_button(opened: Open, store: TraceStore):
    each = opened()
    live = each.page.get_by_role("button", name="Live")
    with each.page.expect_response("**/dashboard/api/live"):
        live.click()
    expect(live).to_have_attribute("aria-pressed", "true")
    rows = each.page.locator("#rows tbody tr")
    write(store, a_call(at=time.time(), model="just-stored", tags={"team": "new"}))
    expect(rows.first).to_contain_text("just-stored")
    expect(rows).to_have_count(51)
    live.click()
    expect(live).to_have_attribute("aria-pressed", "false")


def test_end_of_the_live_connection_is_said(opened: Open):
    each = opened()
    each.page.route(
        "**/dashboard/api/live",
        lambda route: route.fulfill(body='data: {"error": "the database of traces cannot be read"}\n\n'),
    )
    live = each.page.get_by_role("button", name="Live")
    live.click()
    expect(each.page.get_by_role("alert")).to_have_text("the database of traces cannot be read")
    expect(live).to_have_attribute("aria-pressed", "false")


def test_long_text_is_shown_on_request(opened: Open):
    each = opened()
    each.show(f"#trace={HUGE}")
    text = each.page.locator(".said").last
    more = text.get_by_role("button", name="Show ")
    more.click()
    expect(more).to_have_count(0)
    expect(text).to_contain_text("[4800000 more characters]")


def test_pages_of_calls_are_turned(opened: Open):
    each = opened()
    number, previous, following = (each.page.locator(f"#{name}") for name in ("page-number", "previous", "next"))
    expect(number).to_have_text("1 to 50")
    expect(previous).to_be_disabled()
    first = each.page.locator("#rows tbody tr").first.inner_text()
    following.click()
    expect(number).to_have_text("51 to 100")
    assert each.page.locator("#rows tbody tr").first.inner_text() != first
    previous.click()
    expect(number).to_have_text("1 to 50")
    each.page.get_by_role("button", name="Failing").click()
    expect(each.page.locator("#rows .outcome.done")).to_have_count(0)
    each.page.get_by_label("Tag", exact=True).fill("team=office")
    each.page.get_by_label("Tag", exact=True).press("Enter")
    expect(each.page.locator("#rows tbody tr", has_text="team=support")).to_have_count(0)
    expect(number).to_contain_text("1 to ")
    each.page.get_by_label("Words").fill("!")
    each.page.get_by_role("button", name="Search").click()
    expect(each.page.get_by_role("alert")).to_contain_text("has no words")
    assert [message for message in each.messages if "400" not in message] == []
    each.messages.clear()


@pytest.mark.parametrize(
    ("part", "first", "second"),
    [("calls", "order=dearest", "order=slowest"), ("summary", "by=provider", "by=model")],
)
def test_later_choice_aborts_the_request_of_an_earlier_one(opened: Open, part: str, first: str, second: str):
    each = opened()
    each.page.route(f"**/dashboard/api/{part}?*{first}*", lambda _: None)  # is not answered

    def choose(parameter: str) -> None:
        name, _, value = parameter.partition("=")
        if name == "order":
            each.page.get_by_role("button", name=value.capitalize()).click()
        else:
            each.page.get_by_label("By", exact=True).select_option(value)

    with each.page.expect_request(f"**/dashboard/api/{part}?*{first}*"):
        choose(first)
    with (
        each.page.expect_event("requestfailed", lambda request: first in request.url) as failed,
        each.page.expect_response(f"**/dashboard/api/{part}?*{second}*"),
    ):
        choose(second)
    assert failed.value.failure == "net::ERR_ABORTED"
    expect(each.page.locator("#problem")).to_be_hidden()
    expect(each.page.locator("#rows tbody tr")).to_have_count(50)


def test_every_control_is_reached_and_used_by_keyboard(opened: Open):
    each = opened()
    controls = "a[href], button:not(:disabled), input, select, [tabindex='0']"
    visible = f"[...document.querySelectorAll({controls!r})].filter(each => each.checkVisibility())"
    each.page.locator("#skip").focus()
    reached = [each.page.evaluate(f"{visible}.indexOf(document.activeElement)")]
    for _ in range(each.page.evaluate(f"{visible}.length") - 1):
        each.page.keyboard.press("Tab")
        reached.append(each.page.evaluate(f"{visible}.indexOf(document.activeElement)"))
    assert reached == [*range(len(reached))]
    each.page.locator("#skip").focus()
    each.page.keyboard.press("Enter")
    expect(each.page.get_by_label("Words")).to_be_focused()
    newest = each.page.locator("#rows tbody a").first.get_attribute("href") or ""
    each.page.get_by_role("button", name="Slowest").press("Enter")
    expect(each.page.get_by_role("button", name="Slowest")).to_have_attribute("aria-pressed", "true")
    expect(each.page.locator("#rows tbody a").first).not_to_have_attribute("href", newest)
    hidden = each.page.locator(".legend button").first
    hidden.press("Space")
    expect(hidden).to_have_attribute("aria-pressed", "false")
    link = each.page.locator("#rows tbody a").nth(1)
    address = link.get_attribute("href")
    link.press("Enter")
    expect(each.page.get_by_role("link", name="Back to the overview")).to_be_focused()
    each.page.keyboard.press("Escape")
    expect(each.page.locator(f"#rows a[href='{address}']")).to_be_focused()


def test_records_of_a_trace_are_chosen_by_arrows(opened: Open):
    each = opened()
    each.show(f"#trace={LOOP}")
    records = each.page.locator(".record")
    records.first.focus()
    each.page.keyboard.press("ArrowDown")
    expect(records.nth(1)).to_be_focused()
    expect(records.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(each.page.locator(".details h3").first).to_have_text("gpt-5.4")


def test_thousand_rounds_are_cut_and_said(opened: Open):
    each = opened()
    each.show(f"#trace={LONG}")
    expect(each.page.locator(".record")).to_have_count(1_000)
    expect(each.page.get_by_text("The trace is longer: these are its first 1,000 records.")).to_be_visible()


def test_bounds_of_what_is_shown_are_said(opened: Open):
    each = opened()

    def bounded(route: Route) -> None:
        summary = route.fetch().json()
        route.fulfill(json={**summary, "is_sample": True, "sampled": 5000, "is_cut": True})

    each.page.route("**/dashboard/api/summary?*", bounded)
    each.page.get_by_label("Range").select_option("all")
    expect(each.page.get_by_text("of the latest 5,000 calls", exact=True)).to_be_visible()
    bounds = each.page.get_by_role("status")
    expect(bounds).to_contain_text("Seconds, and the tags to choose from, are those of the latest 5,000 calls.")
    expect(bounds).to_contain_text("The charts show the latest")


def test_totals_of_worked_calls_are_those_of_their_records(
    opened: Open, server: ScriptedServer, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The totals, the rows of the groups, and the sums of each trace, as the page shows them."""
    leave_out_installed_backends(monkeypatch)
    with running(server, services, tmp_path) as program:
        with recorded(program):
            for case in WORKED:
                program.cache = ResponseCache() if case.name == "plain" else None
                program.sums_of(case)
                if program.cache is not None:
                    program.sums_again(case)
        cases = {record.tags["case"]: CostSums() for record in program.records}
        for record in program.records:
            cases[record.tags["case"]] += CostSums.of(record)
        whole = sum(cases.values(), CostSums())
        with serving(Settings(admin_keys=(KEY,)), traces=tmp_path / "traces.db") as served:
            page = opened(key=None).page
            page.goto(f"{served.url}/dashboard")
            page.get_by_label("Admin key").fill(KEY)
            page.get_by_label("Admin key").press("Enter")
            page.get_by_label("Range").select_option("all")
            shown = {
                name: page.locator("#totals div", has=page.get_by_text(name, exact=True)).locator("dd")
                for name in ("Cost, known", "Cost, estimated", "Saved by caches", "Of unknown cost", "Calls")
            }
            expect(shown["Cost, known"]).to_have_text(dollars(page, whole.known))
            expect(shown["Cost, estimated"]).to_have_text(dollars(page, whole.estimated))
            expect(shown["Saved by caches"]).to_have_text(dollars(page, whole.saved))
            expect(shown["Of unknown cost"]).to_have_text(f"{whole.unknown} calls")
            calls = [record for record in program.records if isinstance(record, CallRecord)]
            expect(shown["Calls"]).to_have_text(str(len(calls)))
            check_totals(page, served, program, cases)


def check_totals(page: Page, served: Served, program: Program, cases: Mapping[str, CostSums]) -> None:
    """Checks the exact sums that the page gets, and how it shows those of the largest groups and of traces."""
    api = f"{served.url}/dashboard/api"
    headers = {"authorization": f"Bearer {KEY}"}
    totals = page.request.get(f"{api}/summary?since=all&by=model", headers=headers).json()["totals"]
    whole = sum(cases.values(), CostSums())
    assert CostSums(*(Decimal(totals[name]) for name in ("known", "estimated")), totals["unknown"]) == replace(
        whole, saved=Decimal(0)
    )
    assert Decimal(totals["saved"]) == whole.saved > 0
    with page.expect_response("**/dashboard/api/summary?*by=tag*"):
        page.get_by_label("By", exact=True).select_option("tag:case")
    rows = page.locator("#groups tbody tr")
    expect(rows).to_have_count(8)  # the seven largest, and the others
    for index in range(7):
        cells = [rows.nth(index).locator("th").inner_text(), *rows.nth(index).locator("td").all_inner_texts()]
        sums = cases[cells[0]]
        amounts = [dollars(page, each) for each in (sums.known, sums.estimated, sums.saved)]
        assert cells[1:5] == [*amounts, str(sums.unknown)], cells[0]
    for name in ("two runs of it", "caption", "retried", "plain"):
        call = program.store.calls(tags={"case": name})[0]
        sums = program.store.trace(call.trace_id).costs
        page.goto(f"{served.url}/dashboard#trace={call.trace_id}")
        expect(page.locator(".trace > .muted")).to_contain_text(f" · {dollars(page, sums.known)} · ")


def dollars(page: Page, amount: Decimal) -> str:
    """Returns an amount as the page shows it."""
    show = "amount => import('/dashboard/files/format.js').then(format => format.dollars(amount))"
    return page.evaluate(show, f"{amount:f}")


DRAWN_TEXTS = """
window.drawnTexts = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...others) {
  window.drawnTexts.push(text);
  return fillText.call(this, text, ...others);
};
"""


def test_charts_of_a_first_call_show_its_day(browser: Browser, tmp_path: Path):
    store = TraceStore(tmp_path / "traces.db")
    write(store, a_call(at=time.time(), trace_id="first"))
    store.close()
    settings = Settings(admin_keys=(KEY,))
    with serving(settings, traces=tmp_path / "traces.db") as served, browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(DRAWN_TEXTS)
        page.goto(f"{served.url}/dashboard")
        page.get_by_label("Admin key").fill(KEY)
        page.get_by_label("Admin key").press("Enter")
        page.locator(".chart canvas").first.wait_for()
        page.wait_for_function("drawnTexts.some(text => text.includes(':'))")


def test_values_of_a_chart_are_shown_at_the_pointer(opened: Open):
    each = opened()
    figure = each.page.locator(".chart").first
    figure.locator(".u-over").hover()
    expect(figure.locator(".values")).to_contain_text("$")
    each.page.mouse.move(0, 0)
    expect(figure.locator(".values")).to_be_hidden()
