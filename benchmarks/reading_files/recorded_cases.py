"""Pictures, sound and videos with what readers stumble over: long screenshots, transparency, rare encodings, tracks."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from .corpus import REPOSITORY, Family
from .facts import each, in_order
from .recorded import NOTICE, SEEN, SPOKEN, drawn

RECORDED_CASES = Family("Pillow")
SPEECH = REPOSITORY / "tests" / "media" / "files" / "speech.mp3"

for name, quality in (("low_quality.jpg", 25), ("lower_quality.jpg", 12)):
    RECORDED_CASES.file(name, SEEN)(lambda path, quality=quality: drawn(NOTICE).save(path, quality=quality))
RECORDED_CASES.file("cmyk.jpg", SEEN)(lambda path: drawn(NOTICE).convert("CMYK").save(path))
RECORDED_CASES.file("black_and_white.tiff", SEEN)(
    lambda path: drawn(NOTICE).convert("1").save(path, compression="group4")
)
RECORDED_CASES.file("palette.png", SEEN)(lambda path: drawn(NOTICE).quantize(4).save(path))


@RECORDED_CASES.file("sixteen_bits.tiff", SEEN)
def sixteen_bits(path: Path) -> None:
    levels = numpy.asarray(drawn(NOTICE).convert("L"), "uint16") * 257
    Image.fromarray(levels).save(path)


@RECORDED_CASES.file("floats.tiff", SEEN)
def floats(path: Path) -> None:
    Image.fromarray(numpy.asarray(drawn(NOTICE).convert("L"), "float32") / 255).save(path)


@RECORDED_CASES.file("transparent.png", SEEN)
def transparent(path: Path) -> None:
    picture = Image.new("RGBA", (900, 360), (0, 0, 0, 0))
    picture.putalpha(Image.eval(drawn(NOTICE).convert("L"), lambda level: 255 - level))
    picture.save(path)


@RECORDED_CASES.file("turned_by_exif.jpg", SEEN)
def turned_by_exif(path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6
    drawn(NOTICE).transpose(Image.Transpose.ROTATE_90).save(path, exif=exif)


@RECORDED_CASES.file("slanted.png", SEEN)
def slanted(path: Path) -> None:
    drawn(NOTICE).rotate(3, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC).save(path)


@RECORDED_CASES.file("blurred.png", SEEN)
def blurred(path: Path) -> None:
    drawn(NOTICE).filter(ImageFilter.GaussianBlur(1.5)).save(path)


ROWS = [
    f"{n:03d} {word} {n * 137 / 100:.2f}"
    for n, word in zip(range(1, 201), ("depot", "gate 4", "order") * 67, strict=False)
]


def page(rows: Sequence[str], size: int, step: int, width: int, font: str = "") -> Image.Image:
    """A screenshot with a row of words every few pixels."""
    picture = Image.new("RGB", (width, step * len(rows) + 40), "white")
    face = ImageFont.truetype(font, size) if font else ImageFont.load_default(size)
    for number, row in enumerate(rows):
        ImageDraw.Draw(picture).text((20, 20 + step * number), row, (20, 20, 20), face)
    return picture


@RECORDED_CASES.file("very_tall.png", each(*ROWS[::9]), in_order(*ROWS[::20]))
def very_tall(path: Path) -> None:
    page(ROWS, 18, 30, 700).save(path)


WIDE = [
    "  ".join(f"{name} {row}{column}: {row * 7 + column * 13}.50 EUR" for column in range(10, 40))
    for row, name in enumerate(("Oats", "Rye", "Maize", "Wheat", "Barley"), 1)
]


@RECORDED_CASES.file("very_wide.png", each(*(part for row in WIDE for part in row.split("  ")[::7])))
def very_wide(path: Path) -> None:
    page(WIDE, 18, 60, 8200).save(path)


@RECORDED_CASES.file(
    "small_letters.png",
    each("Interest is charged at 4.25 % a year.", "Payment is due within 14 days.", "Account 0048 1207 33"),
)
def small_letters(path: Path) -> None:
    page(
        ("Interest is charged at 4.25 % a year.", "Payment is due within 14 days.", "Account 0048 1207 33"), 12, 20, 420
    ).save(path)


@RECORDED_CASES.file(
    "spaces.png",
    each("2 x Rope at 12 m", "3 x Oil at 5 l", "Berth 12 a", "from 8 to 10", "call 0123 456 789"),
)
def spaces(path: Path) -> None:
    page(("2 x Rope at 12 m", "3 x Oil at 5 l", "Berth 12 a", "from 8 to 10", "call 0123 456 789"), 24, 50, 500).save(
        path
    )


def ffmpeg(*arguments: str | Path) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True)


for name, options in (
    ("opposite.wav", ("-af", "pan=stereo|c0=c0|c1=-1*c0")),
    ("one_channel_silent.wav", ("-af", "pan=stereo|c0=0*c0|c1=c0")),
    ("adpcm.wav", ("-c:a", "adpcm_ima_wav")),
    ("mu_law.au", ("-c:a", "pcm_mulaw", "-ar", "8000")),
    ("speech.flac", ()),
    ("speech.aiff", ()),
):
    RECORDED_CASES.file(name, SPOKEN, source="speech.mp3, by ffmpeg")(
        lambda path, options=options: ffmpeg("-i", SPEECH, *options, path)
    )


@RECORDED_CASES.file("slides.mp4", each("Fares of 2025: 3.40 EUR", "Night fare: 5.00 EUR"), source="Pillow, ffmpeg")
def slides(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, words in enumerate(("Fares of 2025: 3.40 EUR", "Night fare: 5.00 EUR")):
            picture = drawn((words,), width=800, size=40).resize((800, 140))
            picture.save(Path(folder, f"{number}.png"))
        ffmpeg("-framerate", "1/3", "-i", Path(folder, "%d.png"), "-r", "10", "-pix_fmt", "yuv420p", path)
