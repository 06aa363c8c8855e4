"""Pictures of text by Pillow, scans, and recordings and videos of this repository's tests and examples."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from .corpus import REPOSITORY, Family
from .facts import counted_as, each, in_order, says

RECORDED = Family("Pillow")

NOTICE = (
    "Harbour office",
    "Open Monday to Friday, 8:30 to 16:00",
    "Mooring: 3.20 EUR per metre",
    "Boats over 12 m call 0123 456789",
    "Next inspection: 14 June 2026",
)
SEEN = counted_as("pictures|regions", each(*NOTICE[1:]), in_order(*NOTICE))


def drawn(lines: Sequence[str], width: int = 900, size: int = 30) -> Image.Image:
    """A white picture with lines of black text."""
    picture = Image.new("RGB", (width, 60 + 2 * size * len(lines)), "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(picture).text((40, 40 + 2 * size * number), line, "black", ImageFont.load_default(size))
    return picture


def picture(**options: Any) -> Callable[[Path], None]:
    """A maker of a picture of the notice."""
    return lambda path: drawn(NOTICE).save(path, **options)


for suffix in ("png", "jpg", "webp", "tiff", "bmp", "gif"):
    RECORDED.file(f"notice.{suffix}", SEEN)(picture())
RECORDED.file("scan.pdf", SEEN)(picture(resolution=100))


RECORDED.taken("benchmarks/reading_files/notice.heic", "the picture of notice.png, by pillow-heif 1.8", SEEN)


@RECORDED.file("two_pages.tiff", SEEN, each("Second page: 42 berths"), in_order("Harbour office", "Second page"))
def pages(path: Path) -> None:
    drawn(NOTICE).save(path, save_all=True, append_images=[drawn(("Second page: 42 berths",))])


@RECORDED.file("white_on_dark.png", SEEN)
def inverted(path: Path) -> None:
    from PIL import ImageOps

    ImageOps.invert(drawn(NOTICE)).save(path)


LONG = [
    f"{number:03d} {word}: {number * 37} kg"
    for number, word in zip(range(1, 61), ("Oats", "Rye", "Maize") * 20, strict=True)
]


@RECORDED.file("tall_screenshot.png", each(*LONG[::6]), in_order(*LONG[::10]))
def tall(path: Path) -> None:
    drawn(LONG, width=500, size=26).save(path)


@RECORDED.file(
    "picture_in_report.docx",
    SEEN,
    counted_as("pictures", in_order("Before the notice.", "Harbour office", "After the notice.")),
    source="python-docx, Pillow",
)
def picture_in_report(path: Path) -> None:
    from docx import Document
    from docx.shared import Inches

    image = path.with_suffix(".png")
    drawn(NOTICE).save(image)
    document = Document()
    document.add_paragraph("Before the notice.")
    document.add_picture(str(image), Inches(6))
    document.add_paragraph("After the notice.")
    document.save(str(path))
    image.unlink()


OWN = "this repository, tests/media/files/SOURCES.md"
EXAMPLE = "this repository, examples/media/SOURCES.md"
RECORDED.taken(
    "examples/media/receipt.jpg",
    EXAMPLE,
    each("CORNER BAKERY", "Receipt 004812", "21.11.2026 08:42", "2 x Rye bread 7.60", "3 x Coffee 8.40"),
    in_order("Rye bread", "Apple cake", "Coffee", "Orange juice"),
)
RECORDED.taken(
    "tests/media/files/clean_page.png",
    OWN,
    each("Minutes of the meeting of 12 May 2026", "Income was 48,310 euros", "The surplus of 2,338 euros"),
    in_order(
        "Present: A. Okafor", "The minutes of the meeting of 14 April", "Ms Brandt presented", "Mr Yamada reported"
    ),
)
RECORDED.taken(
    "tests/media/files/letter.jpg",
    OWN,
    each("14 Quay Street, Lowmouth", "Dear Ms Ferreira", "lifeboat station reached 1,284.50 pounds"),
)
RECORDED.taken("tests/media/files/slide.jpg", OWN, each("Revenue rose by 7 % to 41.3 million", "8 October, room B 204"))
RECORDED.taken(
    "tests/media/files/sideways.jpg",
    OWN,
    each(
        "Notice to all vessels",
        "06:30 to 18:45 while divers inspect the sill.",
        "Vessels over 12.5 metres wait at buoy 7.",
    ),
    in_order("Notice to all vessels", "Call channel 12", "3.20 per metre"),
)

SPOKEN = [
    says("Good morning"),
    says("nine thirty", "9.30", "9:30", "nine-thirty"),
    says("on Tuesday"),
    says("room twelve", "room 12"),
    says("budget report"),
    says("two copies of the contract"),
    in_order("Good morning", "Tuesday", "budget", "contract"),
]
for name in ("speech.mp3", "speech.m4a", "speech.ogg", "speech.webm"):
    RECORDED.taken(f"tests/media/files/{name}", OWN, SPOKEN)
RECORDED.taken("examples/media/meeting.wav", EXAMPLE, SPOKEN)
RECORDED.taken("examples/media/talk.mp4", EXAMPLE, SPOKEN)

SUBTITLES = """1
00:00:00,500 --> 00:00:02,000
The crew of the Marigold

2
00:00:02,500 --> 00:00:05,000
leaves at a quarter to six.
"""
for name, codec in (("subtitles.mp4", "mov_text"), ("subtitles.mkv", "srt")):

    @RECORDED.file(
        name,
        each("The crew of the Marigold", "leaves at a quarter to six."),
        in_order("The crew of the Marigold", "leaves at a quarter"),
        source="bunny.mp4 with a subtitle track, by ffmpeg",
    )
    def subtitles(path: Path, codec: str = codec) -> None:
        words = path.with_suffix(".srt")
        words.write_text(SUBTITLES)
        video = REPOSITORY / "examples" / "media" / "bunny.mp4"
        options = ["-c", "copy", "-c:s", codec, "-metadata:s:s:0", "language=eng"]
        command = [
            "ffmpeg",
            "-v",
            "error",
            "-y",
            "-i",
            str(video),
            "-i",
            str(words),
            "-map",
            "0",
            "-map",
            "1",
            *options,
            str(path),
        ]
        subprocess.run(command, check=True)
        words.unlink()


RECORDED.taken(
    "examples/media/invoice.pdf",
    EXAMPLE,
    each("Harbour Lamps Ltd", "4 Quay Street, Whitby", "Invoice HL-2093", "Total due: EUR 1,234.50"),
    name="lamps.pdf",
)
RECORDED.taken(
    "examples/media/notice.pdf",
    EXAMPLE,
    each("Saturday, 14 March, in the town library.", "A ticket costs 12 euros.", "Tickets are sold at the front desk."),
    in_order("Bicycle Repair Workshop", "Doors open at 10:00", "Tickets are sold"),
)
RECORDED.taken(
    "tests/media/files/documents/harvest.doc",
    OWN,
    each("Harvest report", "The orchard gave 41 tonnes of apples.", "nested cell", "Merged head"),
    in_order(
        "Harvest report", "Fruit", "first item", "second item", "step one", "Before the picture.", "After the picture."
    ),
)
RECORDED.taken(
    "tests/media/files/documents/mail.msg",
    "python-oxmsg",
    each("This is the subject", "peterpan@neverland.com", "crocodile@neverland.com"),
)
RECORDED.taken("tests/media/files/documents/note.rtf", OWN, each("The code is 4711.", "first"))
