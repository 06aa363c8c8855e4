"""Equations as LaTeX. pandoc 2.17 made those of `equations.json` from the LaTeX in `source`.

It also read what is expected here, and made the same equations of it, but for spaces and the alignment of columns.
"""

from __future__ import annotations

import io
import json

import docx
import pytest
from docx.oxml import parse_xml

from abstractcore_media.document.equations import latex_of_mathml, latex_of_office
from abstractcore_media.document.xml_elements import elements
from tests.media.document.documents import DOCUMENTS, converted

EQUATIONS = json.loads((DOCUMENTS / "equations.json").read_text(encoding="utf-8"))["equations"]
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def office(content: str) -> str:
    xml = f'<m:oMath xmlns:m="{MATH}">{content}</m:oMath>'
    return latex_of_office(next(elements([xml.encode()], frozenset({"oMath"}))))


def mathml(content: str) -> str:
    return latex_of_mathml(next(elements([f"<math>{content}</math>".encode()], frozenset({"math"}))))


@pytest.mark.parametrize("equation", EQUATIONS, ids=[each["source"] for each in EQUATIONS])
def test_equations_mean_what_pandoc_reads_in_them(equation: dict[str, str]):
    assert office(equation["office"]) == equation["latex_of_office"]
    content = equation["mathml"].partition(">")[2].removesuffix("</math>")
    assert mathml(content) == equation["latex_of_mathml"]


@pytest.mark.parametrize(
    ("content", "latex"),
    [
        (
            "<mmultiscripts><mi>X</mi><mi>a</mi><none/><mprescripts/><mn>2</mn><mn>4</mn></mmultiscripts>",
            "{}_{2}^{4}X_{a}",
        ),
        ('<mfenced open="[" close=")" separators=";"><mi>a</mi><mi>b</mi></mfenced>', r"\left[a;b\right)"),
        ('<menclose notation="updiagonalstrike"><mi>x</mi></menclose>', r"\cancel{x}"),
        ("<semantics><mi>y</mi><annotation encoding='application/x-tex'>x_1</annotation></semantics>", "x_1"),
        ("<semantics><mi>y</mi><annotation encoding='StarMath 5.0'>y</annotation></semantics>", "y"),
        ("<mtext>50% {of}</mtext>", r"\text{50\% \{of\}}"),
        ("<msup></msup>", "{}"),
    ],
)
def test_mathml_that_pandoc_does_not_write(content: str, latex: str):
    assert mathml(content) == latex


def test_equations_stand_in_the_text_of_a_docx():
    document = docx.Document()
    fraction = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    inside = document.add_paragraph("half is ")
    inside._p.append(parse_xml(f'<m:oMath xmlns:m="{MATH}">{fraction}</m:oMath>'))
    inside.add_run(" of it")
    alone = document.add_paragraph()
    alone._p.append(parse_xml(f'<m:oMathPara xmlns:m="{MATH}"><m:oMath>{fraction}</m:oMath></m:oMathPara>'))
    file = io.BytesIO()
    document.save(file)
    text = converted(file.getvalue(), "equations.docx").text
    assert text == "half is $\\frac{1}{2}$ of it\n\n$$\\frac{1}{2}$$"


def test_equation_nested_without_end_is_refused_by_the_reader_of_xml():
    deep = "<m:rad><m:e>" * 120 + "<m:r><m:t>x</m:t></m:r>" + "</m:e></m:rad>" * 120
    assert office(deep).count("\\sqrt") == 120
