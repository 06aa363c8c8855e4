"""The stronger embedded model: real weights, right answers in two languages, typed objects, sync and async."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

import pytest

from abstractcore import Message

pytestmark = [pytest.mark.process, pytest.mark.weights]
INVOICE = Path(__file__).parents[3] / "examples/media/invoice.pdf"


@dataclass
class Invoice:
    number: str
    total: float
    currency: str


@dataclass
class Person:
    name: str
    age: int


@dataclass
class Total:
    total: float


class Mood(enum.Enum):
    GLAD = "glad"
    ANGRY = "angry"


def test_answers_in_english_at_no_cost(call_style, stronger_llm):
    response = call_style.generate(stronger_llm, "What is the capital of France? One word.", max_output_tokens=10)
    assert "Paris" in response.content
    assert (response.finish_reason, response.cost, response.model) == ("stop", 0.0, "qwen2.5-coder-1.5b")
    assert not response.warnings


def test_answers_in_french(stronger_llm):
    prompt = "De quelle couleur est la neige ? Réponds en un mot, en français."
    assert "blanc" in stronger_llm.generate(prompt, max_output_tokens=10).content.lower()


def test_translates(stronger_llm):
    response = stronger_llm.generate('Say "Good morning" in French. Two words.', max_output_tokens=10)
    assert "bon" in response.content.lower()


def test_writes_code(stronger_llm):
    prompt = "The Python expression for the length of the list xs. Only the expression."
    assert "len(xs)" in stronger_llm.generate(prompt, max_output_tokens=20).content


def test_fills_a_dataclass(call_style, stronger_llm):
    prompt = "Invoice A-17 is over 240.50 euros (EUR)."
    response = call_style.generate(stronger_llm, prompt, response_model=Invoice, max_output_tokens=60)
    assert response.output == Invoice("A-17", 240.5, "EUR")


def test_fills_a_list_of_objects(stronger_llm):
    prompt = "List the people: Ada is 36 and Alan is 41."
    response = stronger_llm.generate(prompt, response_model=list[Person], max_output_tokens=80)
    assert response.output == [Person("Ada", 36), Person("Alan", 41)]


@pytest.mark.parametrize(
    ("text", "mood"), [("I love it, thank you!", Mood.GLAD), ("Terrible. I am furious.", Mood.ANGRY)]
)
def test_chooses_of_an_enum(stronger_llm, text, mood):
    prompt = f"Is this customer glad or angry? {text}"
    assert stronger_llm.generate(prompt, response_model=Mood, max_output_tokens=20).output is mood


def test_finds_a_fact_in_a_longer_text(stronger_llm):
    rooms = [f"Room {n} is on floor {n // 10}." for n in range(10, 34)]
    rooms[11] = "The password of the cellar is ORCHID."
    prompt = "\n".join([*rooms, "What is the password? One word."])
    response = stronger_llm.generate(prompt, max_output_tokens=10)
    assert "ORCHID" in response.content
    assert response.usage.input > 200


def test_remembers_earlier_turns(stronger_llm):
    history = [Message.user("My name is Zoe."), Message.assistant("Hello, Zoe!")]
    assert "Zoe" in stronger_llm.generate("What is my name?", messages=history, max_output_tokens=10).content


def test_ends_before_a_stop_sequence(stronger_llm):
    response = stronger_llm.generate("Count from 1 to 9.", stop="4", max_output_tokens=30)
    assert "3" in response.content
    assert "4" not in response.content
    assert response.finish_reason == "stop"


def test_stream_is_the_whole_answer_each_time(call_style, stronger_llm):
    prompt = "Name three colours."
    options = {"max_output_tokens": 4, "seed": 7}
    with call_style.stream(stronger_llm, prompt, **options) as stream:
        text = "".join(stream.text())
    assert text == stream.response.content
    assert stream.response.finish_reason == "length"
    assert text == call_style.generate(stronger_llm, prompt, **options).content


def test_quotes_of_a_pdf_are_judged_by_what_stands_in_it(stronger_llm):
    """The quotes of a small model are often wrong; the check knows which: what is verified is where it says."""
    request = {"media": [INVOICE], "response_model": Total, "evidence": True, "max_output_tokens": 200}
    response = stronger_llm.generate("Extract the total due.", **request)
    assert response.output == Total(1234.5)
    (found,) = response.evidence.entries
    sent = response.media[0].sent
    pages = [sent.text[anchor.start : anchor.end] for anchor in sent.anchors if anchor.box is None]
    assert found.verified or found.reason
    if found.text is not None:
        assert found.text == pages[found.page - 1][found.start : found.end]
        assert found.verified == ("1,234.50" in found.text)
    else:
        assert found.quote is None or all(found.quote not in page for page in pages)
