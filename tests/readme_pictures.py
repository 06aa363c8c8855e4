"""Draws the pictures of the README from real runs: `python -m tests.readme_pictures [NAME ...]`.

* `badges`: docs/badges.svg, from pyproject.toml.
* `receipt`: docs/receipt.svg, what a question about a photo prints in a terminal, by the embedded model.
* `made`: docs/made.png, a drawing by `local/qwen2.5-coder-1.5b` and the wave of a waltz by rules; takes minutes.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tomllib
import wave
from array import array
from collections.abc import Mapping
from html import escape
from pathlib import Path

from PIL import Image, ImageDraw
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from abstractcore import create_llm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COMMAND = ("ask", "What was the total?", "-f", "receipt.jpg", "-t", "0")
COLUMNS = 92
SCENE = "a boat on the sea under the sun"
SONG = "a calm waltz for flute and harp"
PANEL = (480, 360)


def badges() -> str:
    """The badges, as pyproject.toml has it: versions of Python, licence, types."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    typed = "Typing :: Typed" in project["classifiers"]
    shown = [
        ("Python", f"{versions[0]} to {versions[-1]}", "#306998"),
        ("licence", project["license"], "#3c6e47"),
        ("types", "complete" if typed else "none", "#5b4b8a"),
    ]
    parts, left = list[str](), 0
    for label, value, color in shown:
        before, after = 12 + 7 * len(label), 14 + 7 * len(value)
        parts += [
            f'<rect x="{left}" width="{before}" height="22" fill="#484f58"/>',
            f'<rect x="{left + before}" width="{after}" height="22" fill="{color}"/>',
            f'<text x="{left + 6}" y="15" textLength="{before - 12}">{escape(label)}</text>',
            f'<text x="{left + before + 7}" y="15" textLength="{after - 14}">{escape(value)}</text>',
        ]
        left += before + after + 6
    style = 'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" fill="#fff"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{left - 6}" height="22" role="img" {style}>'
    return "\n".join([head, *parts, "</svg>", ""])


def receipt_run(python: str | Path = sys.executable, env: Mapping[str, str] | None = None) -> str:
    """What the command prints: the answer, and what it says about the file, tokens, time and cost."""
    done = subprocess.run(
        [python, "-W", "error", "-m", "abstractcore", *COMMAND],
        cwd=ROOT / "examples" / "media", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def receipt_svg(printed: str) -> str:
    """A terminal with the command and what it printed. It asks nothing of a network: fonts are the reader's."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    shown = " ".join(f'"{each}"' if " " in each else each for each in COMMAND)
    console.print(Text.assemble(("$ ", "bold green"), ("abstractcore ", "bold"), shown))
    answer, *about = printed.splitlines()
    console.print(Text(answer, "bold white"))
    for line in about:
        console.print(Text(line, "bright_black"))
    page = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    page = page.replace("font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace")
    drawn = console.export_svg(
        title="smollm2-135m-instruct on this machine: a real run",
        theme=SVG_EXPORT_THEME,
        code_format=page,
        unique_id="run",
    )
    return drawn.replace("#608b4e", "#98c379") + "\n"


def made(folder: Path) -> Image.Image:
    """A drawing beside the wave of a song, both made on this machine."""
    with create_llm("local/qwen2.5-coder-1.5b", temperature=0) as llm:
        drawing = llm.vision.t2i(SCENE, width=PANEL[0], height=PANEL[1]).save(folder / "house.png")
    song = create_llm(music_backend="rules").music.t2m(SONG, seconds=20, seed=1).save(folder / "waltz.wav")
    picture = Image.new("RGB", (2 * PANEL[0] + 12, PANEL[1]), "white")
    with Image.open(str(drawing)) as opened:
        picture.paste(opened.convert("RGB"), (0, 0))
    picture.paste(waveform(Path(str(song))), (PANEL[0] + 12, 0))
    return picture


def waveform(path: Path) -> Image.Image:
    """The loudness of a recording over its time, one column of pixels for each part of it."""
    with wave.open(str(path)) as file:
        samples, channels = array("h", file.readframes(file.getnframes())), file.getnchannels()
    left = samples[::channels]
    picture = Image.new("RGB", PANEL, "#10151d")
    pen, middle = ImageDraw.Draw(picture), PANEL[1] // 2
    step, loudest = len(left) // PANEL[0], max(map(abs, left))
    for x in range(PANEL[0]):
        part = left[x * step : (x + 1) * step]
        high, low = (middle - round(each / loudest * (middle - 20)) for each in (max(part), min(part)))
        pen.line([(x, high), (x, low)], fill="#5aa9e6")
    return picture


def main(names: list[str]) -> None:
    """Draws the named pictures, or all."""
    wanted = names or ["badges", "receipt", "made"]
    if "badges" in wanted:
        (DOCS / "badges.svg").write_text(badges(), encoding="utf-8")
    if "receipt" in wanted:
        (DOCS / "receipt.svg").write_text(receipt_svg(receipt_run()), encoding="utf-8")
    if "made" in wanted:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            made(Path(folder)).save(DOCS / "made.png", optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
