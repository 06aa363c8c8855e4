"""`make demo`: a small model on this machine answers about a recording, two PDF files, a photo and a video."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from time import perf_counter
from typing import Any

from abstractcore import LLM, AbstractCoreError, GenerateResponse, __version__, create_llm

MEDIA = Path(__file__).parent / "media"
QUESTIONS = {
    "meeting.wav": "What is the room number?",
    "notice.pdf": "Where does the workshop take place?",
    "harvest_form.pdf": "How many pickers were there?",
    "receipt.jpg": "What was the total?",
    "talk.mp4": "What is the room number?",
}
SHOWN_CHARACTERS = 600
WIDTH = min(shutil.get_terminal_size().columns, 100)


def ask(llm: LLM, file: str, question: str) -> None:
    """Prints the plan for the file, the answer as it streams, and tokens, time and cost."""
    print(f"\n{file}")
    show("question", question)
    media = [MEDIA / file]
    for decision in llm.plan(question, media=media):
        show("plan", f"{decision.route}: {decision.reason}")
    started, first = perf_counter(), 0.0
    with llm.stream(question, media=media, temperature=0, max_output_tokens=60) as stream:
        for text in stream.text():
            if not first:
                first = perf_counter() - started
                print("  answer    ", end="")
            print(text, end="", flush=True)
    print()
    report(stream.response, first)


def report(response: GenerateResponse[Any], first: float) -> None:
    """Prints what was sent, and tokens, time and cost."""
    for decision in response.media:
        if decision.sent is not None and decision.sent.text is not None:
            show("sent", f"{decision.sent.size} bytes of text instead of {decision.type}:")
            shown = decision.sent.text[:SHOWN_CHARACTERS]
            for line in [*shown.splitlines(), *(["..."] if shown != decision.sent.text else [])]:
                show("", line)
        for loss in decision.lost:
            show("lost", f"{loss.count:g} {loss.what}")
    show("tokens", f"{response.usage.input} in, {response.usage.output} out")
    show("time", f"{first:.1f} s to the first token, {response.seconds:.1f} s in total")
    show("cost", "unknown" if response.cost is None else f"${response.cost:.2f}")


def show(label: str, text: str) -> None:
    """Prints a labelled text, at most as wide as the terminal."""
    print(textwrap.fill(text, WIDTH, initial_indent=f"  {label:<10}", subsequent_indent=" " * 12), flush=True)


def main() -> None:
    """Asks each question about its file."""
    with create_llm(video_frames=2) as llm:
        print(f"AbstractCore {__version__} with {llm.model}, a very small model")
        print("on this machine: no key, and a network only to download its weights (246 MB, once).")
        for file, question in QUESTIONS.items():
            try:
                ask(llm, file, question)
            except AbstractCoreError as error:  # such as a missing extra: the other files do not need it
                show("error", str(error))
    print("\nYour turn:")
    print('.venv/bin/abstractcore ask "When does it end?" -f examples/media/notice.pdf -t 0')


if __name__ == "__main__":
    main()
