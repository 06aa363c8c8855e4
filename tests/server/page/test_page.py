"""The page at `/` in a real browser, Debian's Chromium, driven by Playwright; axe-core checks its accessibility."""

from __future__ import annotations

import base64
import io
import json
import threading
import wave
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from abstractcore import (
    AudioPart,
    Blob,
    ImagePart,
    ModelReply,
    RateLimitError,
    StreamInterruptedError,
    TextPart,
    ToolResult,
)
from abstractcore.testing import ScriptedReply
from abstractcore_server import ServerSettings, Settings
from abstractcore_server.access.admission import FixedKeys
from abstractcore_server.routes import ROUTES
from tests.chaos_server import PATIENCE_SECONDS, answer
from tests.server.page.browsing import IN_CHROMIUM, MEDIA, TABS, Opened, opened_at
from tests.server.page.markdown import SAMPLE
from tests.server.serving import Served, serving

pytestmark = IN_CHROMIUM
KEY = "a-key-that-no-program-shows"
WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
PNG = (MEDIA / "small.png").read_bytes()
SAMPLES = b"\0\1" * 2400


def test_answer_is_streamed_and_the_conversation_goes_on(served: Served, opened: Opened):
    served.script(ScriptedReply.chunks(["Hello ", "Ada."]), "You are Ada.")
    opened.ask("I am Ada.")
    expect(opened.page.get_by_role("article", name="scripted")).to_contain_text("Hello Ada.")
    expect(opened.page.get_by_role("status")).to_have_text("The answer is complete.")
    opened.ask("Who am I?")
    expect(opened.page.get_by_role("article", name="scripted").last).to_contain_text("You are Ada.")
    assert [message.text for message in served.calls[-1].messages] == ["I am Ada.", "Hello Ada.", "Who am I?"]
    library, _, _ = opened.tab("Code").partition("Python, openai")
    assert '"content": "I am Ada."' in library
    assert '"content": "Hello Ada."' in library
    opened.page.get_by_role("button", name="New conversation").click()
    expect(opened.page.get_by_role("article")).to_have_count(0)
    served.script("Nobody.")
    opened.ask("Who am I?")
    expect(opened.page.get_by_role("article", name="scripted")).to_contain_text("Nobody.")
    assert len(served.calls[-1].messages) == 1


def test_decision_about_a_file_is_shown_by_its_name(served: Served, opened: Opened):
    served.script("A page.")
    opened.ask("What is it?", MEDIA / "scanned_page.png")
    expect(opened.page.locator(".decision h3")).to_have_text("scanned_page.png")
    details = opened.page.get_by_role("tabpanel").inner_text()
    assert "fallback: ocr" in details
    assert "scripted does not accept image/png" in details
    assert "free" in details
    expect(opened.page.get_by_role("img", name="scanned_page.png")).to_be_visible()
    assert "BASE64_OF_THE_FILE" in opened.tab("Exchange")
    code = opened.tab("Code")
    assert 'media=["scanned_page.png"]' in code
    assert "BASE64_OF_THE_FILE" in code


def test_dropped_file_is_sent(served: Served, opened: Opened):
    opened.page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(["a,b\\n1,2\\n"], "table.csv", { type: "text/csv" }));
            const log = document.getElementById("log");
            log.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(opened.page.get_by_role("list", name="Files to send")).to_contain_text("table.csv")
    served.script("A table.")
    opened.ask("What is it?")
    expect(opened.page.locator(".decision h3")).to_have_text("table.csv")
    assert "| 1 | 2 |" in served.calls[-1].messages[0].text


def test_recorded_sound_becomes_a_file(served: Served, browser: Browser):
    opened = opened_at(served.url, browser, permissions=["microphone"])
    opened.page.get_by_role("button", name="Record audio").click()
    opened.page.get_by_role("button", name="Stop recording").click()
    expect(opened.page.get_by_role("list", name="Files to send")).to_contain_text("recording 1.webm")
    opened.page.context.close()


def test_microphone_is_asked_for_once_and_released(served: Served, browser: Browser):
    opened = opened_at(served.url, browser, permissions=["microphone"])
    opened.page.evaluate(
        """() => {
            window.streams = [];
            const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
            navigator.mediaDevices.getUserMedia = async (wanted) => {
                const stream = await open(wanted);
                window.streams.push(stream);
                return stream;
            };
            document.getElementById("record").click();
            document.getElementById("record").click();
        }"""
    )
    opened.page.get_by_role("button", name="Stop recording").click()
    expect(opened.page.get_by_role("list", name="Files to send")).to_contain_text("recording 1.webm")
    states = "window.streams.flatMap((stream) => stream.getTracks().map((track) => track.readyState))"
    assert opened.page.evaluate(states) == ["ended"]
    opened.page.context.close()


def test_tool_calls_and_options_are_sent_and_shown(served: Served, opened: Opened):
    opened.tab("Options")
    opened.page.get_by_label("Instructions for the model").fill("Be brief.")
    opened.page.get_by_label("Temperature").fill("0.5")
    opened.page.get_by_label("Tools").fill(json.dumps([WEATHER]))
    served.script(ScriptedReply.tool_call("weather", {"city": "Ulm"}))
    opened.ask("The weather?")
    expect(opened.page.get_by_role("article", name="scripted")).to_contain_text('weather({"city": "Ulm"})')
    assert '"city": "Ulm"' in opened.tab("Details")
    (call,) = served.calls
    assert (call.messages[0].text, call.sampling.temperature, call.tools[0].name) == ("Be brief.", 0.5, "weather")
    library, _, _ = opened.tab("Code").partition("Python, openai")
    assert 'system_prompt="Be brief.", temperature=0.5' in library
    assert 'tools=[ToolSpec(**{"name": "weather", ' in library
    for name in ("Python, abstractcore", "Python, openai"):
        compile(opened.page.get_by_role("region", name=name).inner_text(), name, "exec")


def test_result_that_a_person_writes_goes_to_the_model(served: Served, opened: Opened):
    opened.tab("Options")
    opened.page.get_by_label("Tools").fill(json.dumps([WEATHER]))
    served.script(ScriptedReply.tool_call("weather", {"city": "Ulm"}), "Take a hat.", "And a scarf.")
    opened.ask("What to wear?")
    opened.page.get_by_label("Result of weather").fill("Sun, 31 degrees")
    opened.page.get_by_role("button", name="Send result").click()
    expect(opened.page.get_by_role("article", name="scripted").last).to_contain_text("Take a hat.")
    expect(opened.page.get_by_role("article", name="You").last).to_contain_text("weather: Sun, 31 degrees")
    expect(opened.page.get_by_label("Result of weather")).to_have_count(0)
    _, asked, result = served.calls[-1].messages
    assert (asked.tool_calls[0].name, asked.tool_calls[0].arguments) == ("weather", {"city": "Ulm"})
    assert isinstance(result.parts[0], ToolResult)
    assert (result.parts[0].call_id, result.parts[0].as_text) == (asked.tool_calls[0].id, "Sun, 31 degrees")
    library, _, _ = opened.tab("Code").partition("Python, openai")
    assert "response = llm.generate(messages=[" in library
    for name in ("Python, abstractcore", "Python, openai"):
        compile(opened.page.get_by_role("region", name=name).inner_text(), name, "exec")
    opened.ask("Anything else?")
    expect(opened.page.get_by_role("article", name="scripted").last).to_contain_text("And a scarf.")
    assert [message.role for message in served.calls[-1].messages] == ["user", "assistant", "tool", "assistant", "user"]


def test_calls_without_results_are_said_not_to_have_run(served: Served, browser: Browser):
    opened = opened_at(served.url, browser)
    opened.page.get_by_label("Model", exact=True).fill("scripted")
    calls = ScriptedReply.tool_call("weather", {"city": "Ulm"}) + ScriptedReply.tool_call("time")
    served.script(calls, RateLimitError("slow down"), "Hello.")
    opened.ask("What to wear?")
    opened.page.get_by_label("Result of time").fill("noon")
    opened.page.get_by_role("button", name="Send results").click()
    expect(opened.page.get_by_role("alert")).to_contain_text("slow down")
    expect(opened.page.get_by_label("Result of time")).to_have_value("noon")
    opened.ask("Only greet me.")
    expect(opened.page.get_by_role("article", name="scripted").last).to_contain_text("Hello.")
    _, _, *results, asked = served.calls[-1].messages
    parts = [part for message in results for part in message.parts if isinstance(part, ToolResult)]
    assert [part.as_text for part in parts] == ["The tool was not run.", "noon"]
    assert asked.text == "Only greet me."
    opened.page.context.close()


def saved(opened: Opened, name: str, folder: Path) -> bytes:
    """Saves a file of the last answer by its link."""
    with opened.page.expect_download() as download:
        opened.page.get_by_role("link", name=f"Save {name}").click()
    download.value.save_as(folder / name)
    return (folder / name).read_bytes()


def is_played(article: Locator) -> bool:
    """Plays the sound of an answer to its end: the browser can decode it."""
    play = """audio => new Promise((resolve, reject) => {
        audio.muted = true;
        audio.addEventListener("ended", () => resolve(true));
        audio.addEventListener("error", () => reject(audio.error.message));
        audio.currentTime = Math.max(0, audio.duration - 0.2) || 0;
        audio.play().catch(reject);
    })"""
    return article.locator("audio").evaluate(play)


def test_sound_of_an_answer_is_played_and_saved(served: Served, opened: Opened, tmp_path: Path):
    opened.tab("Options")
    opened.page.get_by_label("Answer with").select_option("text,audio")
    opened.page.get_by_label("Voice").fill("coral")
    sound = AudioPart(Blob.from_bytes(SAMPLES, "audio/pcm"), "Hello Ada.")
    served.script(ModelReply((sound,)), "You are Ada.")
    opened.ask("I am Ada.")
    article = opened.page.get_by_role("article", name="scripted")
    expect(article).to_contain_text("Hello Ada.")
    assert is_played(article)
    assert article.locator("audio").evaluate("audio => audio.duration") == pytest.approx(0.1)
    with wave.open(io.BytesIO(saved(opened, "sound.wav", tmp_path))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        assert file.readframes(file.getnframes()) == SAMPLES
    assert served.calls[-1].modalities == ("text", "audio")
    request = opened.tab("Exchange")
    assert '"voice": "coral"' in request
    assert 'modalities=["text", "audio"]' in opened.tab("Code")
    opened.ask("Who am I?")
    expect(article.last).to_contain_text("You are Ada.")
    assert [message.text for message in served.calls[-1].messages] == ["I am Ada.", "Hello Ada.", "Who am I?"]


def test_images_of_an_answer_are_shown_saved_and_seen_by_the_next_call(served: Served, opened: Opened, tmp_path: Path):
    opened.tab("Options")
    opened.page.get_by_label("Answer with").select_option("text,image")
    image = ImagePart(Blob.from_bytes(PNG, "image/png"))
    served.script(ModelReply((TextPart("A square:"), image)), "Larger than what?")
    opened.ask("Draw a square.")
    article = opened.page.get_by_role("article", name="scripted")
    assert article.get_by_role("img", name="image").evaluate("image => image.decode().then(() => true)")
    assert saved(opened, "image.png", tmp_path) == PNG
    assert served.calls[-1].modalities == ("text", "image")
    opened.ask("Larger!")
    expect(article.last).to_contain_text("Larger than what?")
    assert '"url": "data:image/png;base64,' in opened.tab("Exchange")
    assert "image/png" in opened.tab("Details")


def made(opened: Opened, kind: str, model: str) -> Locator:
    """Has something made of a text; returns its article."""
    opened.page.get_by_label("What to make").select_option(kind)
    opened.page.get_by_label("Model", exact=True).fill(model)
    opened.ask("A house")
    article = opened.page.get_by_role("article", name=model)
    expect(article).to_have_attribute("aria-busy", "false")
    return article


def programs_of(opened: Opened) -> dict[str, str]:
    """Returns the programs of the last call by their names; those in Python are Python."""
    opened.tab("Code")
    shown = {each.get_attribute("aria-label") or "": each.inner_text() for each in opened.page.locator("pre").all()}
    for name, program in shown.items():
        if name.startswith("Python"):
            compile(program, name, "exec")
    return shown


def test_speech_is_played_and_saved(served: Served, opened: Opened, tmp_path: Path):
    served.vendor.script(answer(SAMPLES * 10, content_type="audio/pcm"))
    opened.tab("Options")
    opened.page.get_by_label("Voice").fill("coral")
    article = made(opened, "Speech", "tts-1")
    assert is_played(article)
    assert len(saved(opened, "speech.mp3", tmp_path)) > 1000
    (request,) = served.vendor.requests
    assert {"model": "tts-1", "voice": "coral"}.items() <= json.loads(request.body).items()
    assert "openai/tts-1" in opened.tab("Details")
    programs = programs_of(opened)
    assert 'create_llm(voice_backend="openai")' in programs["Python, abstractcore"]
    assert 'llm.voice.tts("A house", model="tts-1", voice="coral", format="mp3")' in programs["Python, abstractcore"]
    assert 'client.audio.speech.create(model="tts-1", input="A house", voice="coral"' in programs["Python, openai"]
    assert "/v1/audio/speech" in programs["curl"]


def test_images_are_shown_and_saved(served: Served, opened: Opened, tmp_path: Path):
    data = [{"b64_json": base64.b64encode(PNG).decode()}] * 2
    served.vendor.script(answer({"created": 1, "data": data}))
    article = made(opened, "Image", "openai/gpt-image-1")
    assert article.get_by_role("img", name="image 2").evaluate("image => image.decode().then(() => true)")
    assert saved(opened, "image 1.png", tmp_path) == PNG
    assert "openai/gpt-image-1" in opened.tab("Details")
    programs = programs_of(opened)
    assert 'create_llm(vision_backend="openai")' in programs["Python, abstractcore"]
    assert 'llm.vision.t2i("A house", model="gpt-image-1")' in programs["Python, abstractcore"]
    assert "import base64" in programs["Python, openai"]


def test_music_is_played_and_saved(opened: Opened, tmp_path: Path):
    article = made(opened, "Music", "rules")
    assert is_played(article)
    assert len(saved(opened, "music.mp3", tmp_path)) > 1000
    programs = programs_of(opened)
    assert 'llm.music.t2m("A house", format="mp3")' in programs["Python, abstractcore"]
    assert "Python, openai" not in programs


def test_what_cannot_be_made_is_explained_and_nothing_is_lost(served: Served, browser: Browser):
    opened = opened_at(served.url, browser)
    opened.page.get_by_label("What to make").select_option("Image")
    opened.ask("A house", MEDIA / "scanned_page.png")
    expect(opened.page.get_by_role("alert")).to_contain_text("Only an answer can be about files")
    opened.page.get_by_role("button", name="Remove scanned_page.png").click()
    opened.page.get_by_label("Model", exact=True).fill("nobody/draws")
    opened.page.get_by_role("button", name="Send", exact=True).click()
    expect(opened.page.get_by_role("alert").last).to_contain_text("There are: default")
    expect(opened.page.get_by_label("Message", exact=True)).to_have_value("A house")
    opened.page.get_by_label("What to make").select_option("Answer")
    expect(opened.page.get_by_label("Model", exact=True)).to_have_value("default")
    opened.page.context.close()


def test_wrong_options_are_named_and_nothing_is_lost(served: Served, opened: Opened):
    opened.page.set_input_files("#picker", MEDIA / "scanned_page.png")
    opened.page.get_by_label("Message", exact=True).fill("hi")
    for label, value, message in (
        ("Temperature", "hot", "The temperature is not a number: hot"),
        ("Tools", "[", "The tools are not JSON"),
        ("Tools", json.dumps(WEATHER), "The tools are not a list of objects"),
        ("Tools", "[null]", "The tools are not a list of objects"),
    ):
        opened.tab("Options")
        alerts = opened.page.get_by_role("alert").count()
        opened.page.get_by_label(label).fill(value)
        opened.page.get_by_role("button", name="Send", exact=True).click()
        expect(opened.page.get_by_role("alert")).to_have_count(alerts + 1)
        expect(opened.page.get_by_role("alert").last).to_contain_text(message)
        expect(opened.page.get_by_label("Message", exact=True)).to_have_value("hi")
        expect(opened.page.get_by_role("list", name="Files to send")).to_contain_text("scanned_page.png")
        opened.tab("Options")
        opened.page.get_by_label(label).fill("")
    assert served.calls == []


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (RateLimitError("slow down"), "slow down"),
        (ScriptedReply.chunks(["Hel"], then=StreamInterruptedError("cut")), "cut"),
    ],
)
def test_error_says_what_happened_and_keeps_the_message_and_its_files(
    served: Served, browser: Browser, reply: Any, message: str
):
    opened = opened_at(served.url, browser)
    opened.page.get_by_label("Model", exact=True).fill("scripted")
    served.script(reply)
    opened.ask("hi", MEDIA / "scanned_page.png")
    expect(opened.page.get_by_role("alert")).to_contain_text(message)
    expect(opened.page.get_by_label("Message", exact=True)).to_have_value("hi")
    expect(opened.page.get_by_role("list", name="Files to send")).to_contain_text("scanned_page.png")
    opened.page.context.close()


def test_unknown_model_is_named_with_near_ones(served: Served, browser: Browser):
    opened = opened_at(served.url, browser)
    opened.page.get_by_label("Model", exact=True).fill("nobody/scripted")
    opened.ask("hi")
    expect(opened.page.get_by_role("alert")).to_contain_text("nobody")
    opened.page.context.close()


def test_stop_ends_the_call(served: Served, opened: Opened):
    is_called, may_end = threading.Event(), threading.Event()

    def wait(call: object) -> str:
        is_called.set()
        may_end.wait(PATIENCE_SECONDS)
        return "late"

    served.script(wait)
    opened.ask("hi")
    assert is_called.wait(PATIENCE_SECONDS)
    expect(opened.page.get_by_role("status")).to_have_text("Waiting for the answer.")
    opened.page.get_by_role("button", name="Stop").click()
    expect(opened.page.get_by_role("article", name="scripted")).to_contain_text("Stopped.")
    expect(opened.page.get_by_role("status")).to_be_empty()
    may_end.set()
    expect(opened.page.get_by_role("button", name="Send", exact=True)).to_be_visible()


def test_texts_never_become_html(served: Served, opened: Opened):
    hostile = '<img src=x onerror="document.title=1"> [x](javascript:alert(1)) <script>document.title=2</script>'
    served.script(ScriptedReply.text(hostile, reasoning=hostile))
    opened.ask(hostile)
    expect(opened.page.get_by_role("article", name="scripted")).to_contain_text(hostile)
    expect(opened.page.locator("article img, article script, article a")).to_have_count(0)
    expect(opened.page).to_have_title("AbstractCore playground")


def test_key_is_asked_for_and_shown_nowhere(browser: Browser):
    with serving(access=FixedKeys([KEY])) as served:
        opened = opened_at(served.url, browser)
        expect(opened.page.get_by_role("alert")).to_contain_text("This server needs an access key")
        opened.page.get_by_label("Access key").fill(KEY)
        opened.page.get_by_label("Access key").press("Enter")
        opened.page.locator('#models option[value="scripted"]').wait_for(state="attached")
        opened.page.get_by_label("Model", exact=True).fill("scripted")
        served.script("Hello.")
        opened.ask("hi")
        expect(opened.page.get_by_role("article", name="scripted")).to_contain_text("Hello.")
        shown = "".join(opened.tab(name) for name in ("Details", "Exchange", "Code"))
        assert "$ABSTRACTCORE_KEY" in shown
        assert 'os.environ["ABSTRACTCORE_KEY"]' in shown
        assert KEY not in shown + opened.page.content() + "".join(opened.asked)
        kept = opened.page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
        assert "Hello." in kept
        assert KEY not in kept
        opened.page.context.close()


def test_server_that_is_gone_is_explained(served: Served, browser: Browser):
    opened = opened_at(served.url, browser)
    opened.page.locator("#models option").first.wait_for(state="attached")

    def refuse(route: Route) -> None:
        route.abort()

    opened.page.route("**/v1/chat/completions", refuse)
    opened.ask("hi")
    expect(opened.page.get_by_role("alert")).to_contain_text("The server cannot be reached")
    opened.page.context.close()


def test_tabs_are_moved_through_by_keys(opened: Opened):
    opened.page.get_by_role("tab", name="Details").focus()
    opened.page.keyboard.press("ArrowRight")
    expect(opened.page.get_by_role("tab", name="Options")).to_be_focused()
    expect(opened.page.get_by_label("Instructions for the model")).to_be_visible()
    opened.page.keyboard.press("ArrowLeft")
    opened.page.keyboard.press("ArrowLeft")
    expect(opened.page.get_by_role("tab", name="Code")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("size", [(1280, 800), (390, 780), (320, 640)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible(served: Served, browser: Browser, scheme: Any, size: tuple[int, int]):
    width, height = size
    opened = opened_at(served.url, browser, color_scheme=scheme, viewport={"width": width, "height": height})
    opened.page.get_by_label("Model", exact=True).fill("scripted")
    served.script(ScriptedReply.text(SAMPLE, reasoning="It has text.") + ScriptedReply.tool_call("weather"))
    opened.ask("What is it?", MEDIA / "scanned_page.png")
    expect(opened.page.locator(".spend")).to_be_visible()
    served.vendor.script(answer({"created": 1, "data": [{"b64_json": base64.b64encode(PNG).decode()}]}))
    made(opened, "Image", "openai/gpt-image-1")
    for view in ("Chat", "Conversations"):
        opened.view(view)
        assert opened.violations() == [], view
    for tab in TABS:
        opened.tab(tab)
        assert opened.violations() == [], tab
        width_of_page: int = opened.page.evaluate("document.documentElement.scrollWidth")
        assert width_of_page <= width
    opened.page.context.close()


def test_programs_that_look_whether_a_server_is_there_get_a_line(http: httpx2.Client):
    assert http.get("/").text == "AbstractCore is running"
    assert http.head("/").status_code == 200


def test_page_may_load_nothing_from_elsewhere_and_no_page_may_show_it(http: httpx2.Client):
    response = http.get("/", headers={"accept": "text/html,*/*"})
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["nothing.js", "../playground.py", "..%2Fplayground.py", "__init__.py"])
def test_only_files_of_the_page_are_served(http: httpx2.Client, name: str):
    assert http.get(f"/playground/{name}").status_code == 404


def test_docs_list_every_route(served: Served, browser: Browser):
    opened = opened_at(f"{served.url}/docs", browser)
    paths = opened.page.locator("table").first.locator("td:first-child code").all_inner_texts()
    assert paths == [route.path for route in ROUTES]
    assert opened.violations() == []
    assert opened.messages == []
    opened.page.context.close()


FOREIGN_PAGE = """async (url) => {
    const chat = JSON.stringify({ model: "scripted", messages: [{ role: "user", content: "hi" }] });
    const form = new FormData();
    form.append("purpose", "vision");
    form.append("file", new Blob(["x"]), "x.png");
    const requests = {
        text: ["/v1/chat/completions", { method: "POST", mode: "no-cors", body: chat }],
        untyped: ["/v1/chat/completions", { method: "POST", mode: "no-cors", body: new Blob([chat]) }],
        json: ["/v1/chat/completions", { method: "POST", headers: { "content-type": "application/json" }, body: chat }],
        form: ["/v1/files", { method: "POST", mode: "no-cors", body: form }],
        beacon: null,
    };
    const results = {};
    for (const [name, request] of Object.entries(requests)) {
        try {
            if (request === null) navigator.sendBeacon(url + "/v1/chat/completions", chat);
            else results[name] = (await fetch(url + request[0], request[1])).type;
        } catch (error) {
            results[name] = error.name;
        }
    }
    results.socket = await new Promise((resolve) => {
        const socket = new WebSocket(url.replace("http", "ws") + "/v1/responses");
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("error");
    });
    return results;
}"""
"""Sends what a page may send to any address without asking, and what it has to ask for."""


def test_page_of_another_origin_cannot_use_the_server(served: Served, browser: Browser):
    """One of another port (the same site), and one of another name (another site)."""
    answers: list[Any] = []
    with serving() as other:
        for url in (other.url, other.url.replace("127.0.0.1", "localhost")):
            page = browser.new_context().new_page()
            page.goto(f"{url}/health")
            page.on("response", lambda response: answers.append(response))
            results = page.evaluate(FOREIGN_PAGE, served.url)
            assert results == {
                "text": "opaque",
                "untyped": "opaque",
                "json": "TypeError",
                "form": "opaque",
                "socket": "error",
            }
            page.context.close()
    assert {each.status for each in answers} == {403}
    assert len(answers) >= 2 * 3  # Playwright does not report all preflights and beacons
    assert served.calls == []


def test_page_of_an_allowed_origin_uses_the_server(browser: Browser):
    with serving() as other, serving(Settings(ServerSettings(origins=(other.url,)))) as served:
        page = browser.new_context().new_page()
        page.goto(f"{other.url}/health")
        served.script("hello", "hello")
        results = page.evaluate(FOREIGN_PAGE, served.url)
        assert results["json"] == "cors"
        assert results["socket"] == "open"
        page.context.close()
