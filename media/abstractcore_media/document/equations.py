"""Equations as LaTeX, from Office Math (ECMA-376, part 1, 22.1) and MathML (of HTML, EPUB and OpenDocument)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from xml.etree.ElementTree import Element

from .equation_symbols import ACCENTS, BRACES, COMMANDS, FENCES, FUNCTIONS, LARGE, LARGE_COMMANDS, LINES, STYLES

_WIDE = {"hat": "widehat", "tilde": "widetilde", "bar": "overline", "vec": "overrightarrow"}
_COMMAND_AT_END = re.compile(r"\\[A-Za-z]+$")
_SINGLE = re.compile(r"[^\\{}^_\s]|\\[A-Za-z]+|\\.")
_STACKED = re.compile(r"\\begin\{matrix\}([^&\\]*) \\\\ ([^&\\]*)\\end\{matrix\}")
_TEXT_SPECIAL = re.compile(r"([#%&_{}$])")


def in_markdown(latex: str, *, is_block: bool) -> str:
    """Returns an equation as Markdown has it: $x$, or $$x$$ for one that stands by itself."""
    latex = latex.strip()
    return "" if not latex else f"$${latex}$$" if is_block else f"${latex}$"


def latex_of_office(element: Element) -> str:
    """Returns the LaTeX of an `oMath` or `oMathPara` element; several equations are lines of it."""
    if element.tag == "oMathPara":
        return r" \\ ".join(filter(None, (_office(each) for each in element.iterfind("oMath"))))
    return _office(element)


def latex_of_mathml(element: Element) -> str:
    """Returns the LaTeX of a `math` element: the one that it brings along, or else its own content."""
    for each in element.iter("annotation"):
        if each.get("encoding", "").lower() in ("application/x-tex", "latex", "text/latex") and each.text:
            return " ".join(each.text.split())
    return _mathml_all(element)


# Parts of LaTeX.


def _joined(pieces: Iterable[str]) -> str:
    text = ""
    for piece in pieces:
        needs_space = piece[:1].isalpha() and _COMMAND_AT_END.search(text)
        text += f" {piece}" if needs_space else piece
    return text


def _symbols(text: str) -> str:
    return _joined(COMMANDS.get(character) or _letter(character) for character in text)


def _letter(character: str) -> str:
    """Returns a character; a letter of a style of its own, such as a bold one, as the plain letter in that style."""
    if character in COMMANDS:  # one that shows nothing
        return ""
    if not ("\u2100" <= character <= "\u214f" or "\U0001d400" <= character <= "\U0001d7ff"):
        return character
    name = unicodedata.name(character, "")
    style = next((command for words, command in STYLES.items() if words in name), "")
    letter = unicodedata.normalize("NFKC", character)
    letter = COMMANDS.get(letter, letter)
    return f"\\{style}{{{letter}}}" if style else letter


def _words(text: str) -> str:
    escaped = _TEXT_SPECIAL.sub(r"\\\1", text)
    return f"\\text{{{escaped}}}" if text.strip() else "\\ " if text else ""


def _function(name: str) -> str:
    return f"\\{name}" if name in FUNCTIONS else f"\\operatorname{{{_symbols(name)}}}"


def _group(latex: str) -> str:
    return f"{{{latex.strip()}}}"


def _script(base: str, below: str = "", above: str = "") -> str:
    base = base.strip()
    text = base if _SINGLE.fullmatch(base) or not base else _group(base)
    text = text or "{}"
    text += f"_{_group(below)}" if below.strip() else ""
    if above.strip() and not above.strip("'"):
        return text + above.strip()
    return text + (f"^{_group(above)}" if above.strip() else "")


def _limits(operator: str, below: str, above: str) -> str:
    operator = operator.strip()
    text = operator
    text += f"_{_group(below)}" if below.strip() else ""
    return text + (f"^{_group(above)}" if above.strip() else "")


def _fraction(above: str, below: str, kind: str = "") -> str:
    if kind == "noBar":
        return _matrix(([above], [below]))
    if kind == "lin":
        return f"{_group(above)}/{_group(below)}"
    return f"\\frac{_group(above)}{_group(below)}"


def _root(inside: str, degree: str) -> str:
    return f"\\sqrt[{degree.strip()}]{_group(inside)}" if degree.strip() else f"\\sqrt{_group(inside)}"


def _accented(base: str, character: str, *, is_below: bool = False) -> str:
    name = ACCENTS.get(character)
    if character in LINES:
        name = "underline" if is_below or name == "underline" else name
    if name is None:
        return f"\\{'underset' if is_below else 'overset'}{_group(_symbols(character))}{_group(base)}"
    name = "bar" if name == "overline" else name
    is_long = len(re.findall(r"\\[A-Za-z]+|[A-Za-z0-9]", base)) > 1
    return f"\\{_WIDE.get(name, name) if is_long else name}{_group(base)}"


def _fenced(opening: str, parts: Sequence[str], separators: str, closing: str) -> str:
    marks = [FENCES.get(each, _symbols(each)) for each in (opening, closing)]
    stacked = _STACKED.fullmatch(parts[0]) if len(parts) == 1 and (opening, closing) == ("(", ")") else None
    if stacked:
        return f"\\binom{{{stacked[1]}}}{{{stacked[2]}}}"
    between = list(separators) or [""]
    inside = "".join(
        each + (_symbols(between[min(index, len(between) - 1)]) if index < len(parts) - 1 else "")
        for index, each in enumerate(parts)
    )
    return _joined((f"\\left{marks[0]}", inside, f"\\right{marks[1]}"))


def _matrix(rows: Iterable[Sequence[str]], name: str = "matrix") -> str:
    lines = r" \\ ".join(" & ".join(each.strip() for each in row) for row in rows)
    return f"\\begin{{{name}}}{lines}\\end{{{name}}}"


# Office Math.


def _office(element: Element | None) -> str:
    return "" if element is None else _joined(_office_part(each) for each in element)


def _office_part(element: Element) -> str:
    part = _OFFICE.get(element.tag)
    return part(element) if part is not None else "" if element.tag.endswith("Pr") else _office(element)


def _property(element: Element, path: str, default: str = "") -> str:
    """Returns a property; `default` if it is not there."""
    found = element.find(path)
    return default if found is None else found.get("val", "")


def _is_set(element: Element, path: str) -> bool:
    return _property(element, path, "0") not in ("0", "off", "false")


def _office_run(element: Element) -> str:
    text = "".join(each.text or "" for each in element if each.tag in ("t", "delText"))
    if element.find("rPr/nor") is not None:
        return _words(text)
    style, script = _property(element, "rPr/sty"), _property(element, "rPr/scr")
    name = {"double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak", "sans-serif": "mathsf",
            "monospace": "mathtt"}.get(script) or {"b": "mathbf", "bi": "boldsymbol"}.get(style)  # fmt: skip
    if name and text.strip():
        return f"\\{name}{{{_symbols(text)}}}"
    if style == "p" and text.strip().isalpha() and text.strip().isascii() and len(text.strip()) > 1:
        return _function(text.strip()) if text.strip() in FUNCTIONS else f"\\mathrm{{{text.strip()}}}"
    return _symbols(text)


def _office_function(element: Element) -> str:
    name = element.find("fName")
    plain = "".join(each.text or "" for each in name.iter("t")).strip() if name is not None else ""
    only_runs = name is not None and all(each.tag in ("r", "ctrlPr") for each in name)
    text = _function(plain) if only_runs and plain.isalpha() and plain.isascii() else _office(name)
    return _joined((text, _argument(_office(element.find("e")))))


def _argument(latex: str) -> str:
    return latex if latex.startswith(("{", "\\left")) else f" {latex}"


def _office_large(element: Element) -> str:
    operator = _symbols(_property(element, "naryPr/chr", "∫"))
    below = "" if _is_set(element, "naryPr/subHide") else _office(element.find("sub"))
    above = "" if _is_set(element, "naryPr/supHide") else _office(element.find("sup"))
    return _joined((_limits(operator, below, above), _argument(_office(element.find("e")))))


def _office_fence(element: Element) -> str:
    parts = [_office(each) for each in element.iterfind("e")]
    opening, closing = _property(element, "dPr/begChr", "("), _property(element, "dPr/endChr", ")")
    return _fenced(opening, parts, _property(element, "dPr/sepChr", "|"), closing)


def _office_matrix(element: Element) -> str:
    return _matrix([_office(each) for each in row.iterfind("e")] for row in element.iterfind("mr"))


def _office_lines(element: Element) -> str:
    return _matrix([[_office(each).replace("\\&", "&")] for each in element.iterfind("e")], "aligned")


def _office_bar(element: Element) -> str:
    name = "overline" if _property(element, "barPr/pos") == "top" else "underline"
    return f"\\{name}{_group(_office(element.find('e')))}"


def _office_group(element: Element) -> str:
    character, is_top = _property(element, "groupChrPr/chr", "⏟"), _property(element, "groupChrPr/pos") == "top"
    return _accented(_office(element.find("e")), character, is_below=not is_top)


def _office_limit(element: Element) -> str:
    base, limit = _office(element.find("e")).strip(), _office(element.find("lim")).strip()
    is_below = element.tag == "limLow"
    if limit in BRACES:
        return _accented(base, limit, is_below=is_below)
    if base in LARGE_COMMANDS:
        return _limits(base, limit if is_below else "", "" if is_below else limit)
    if base.lstrip("\\") in FUNCTIONS or base.startswith(("\\underbrace", "\\overbrace")):
        base = base if base.startswith("\\") else f"\\{base}"
        return _limits(base, limit if is_below else "", "" if is_below else limit)
    return f"\\{'underset' if is_below else 'overset'}{_group(limit)}{_group(base)}"


def _office_root(element: Element) -> str:
    degree = "" if _is_set(element, "radPr/degHide") else _office(element.find("deg"))
    return _root(_office(element.find("e")), degree)


_OFFICE: dict[str, Callable[[Element], str]] = {
    "r": _office_run,
    "t": lambda element: _symbols(element.text or ""),
    "f": lambda element: _fraction(
        _office(element.find("num")), _office(element.find("den")), _property(element, "fPr/type")
    ),
    "rad": _office_root,
    "sSub": lambda element: _script(_office(element.find("e")), _office(element.find("sub"))),
    "sSup": lambda element: _script(_office(element.find("e")), "", _office(element.find("sup"))),
    "sSubSup": lambda element: _script(*(_office(element.find(tag)) for tag in ("e", "sub", "sup"))),
    "sPre": lambda element: _joined(
        (_script("", *(_office(element.find(tag)) for tag in ("sub", "sup"))), _office(element.find("e")))
    ),
    "nary": _office_large,
    "func": _office_function,
    "d": _office_fence,
    "m": _office_matrix,
    "eqArr": _office_lines,
    "acc": lambda element: _accented(_office(element.find("e")), _property(element, "accPr/chr", "\u0302")),
    "bar": _office_bar,
    "groupChr": _office_group,
    "limLow": _office_limit,
    "limUpp": _office_limit,
    "borderBox": lambda element: f"\\boxed{_group(_office(element.find('e')))}",
    "phant": lambda element: f"\\phantom{_group(_office(element.find('e')))}",
    "br": lambda element: r" \\ ",
}


# MathML.


def _mathml_all(element: Element) -> str:
    """Returns what is in an element, a fence with everything in it as one."""
    return _joined(_mathml(each) for each in element)


def _mathml(element: Element) -> str:
    part = _MATHML.get(element.tag)
    if part is not None:
        return part(element)
    return "" if element.tag.startswith("annotation") else _mathml_all(element)


def _mathml_parts(element: Element, count: int) -> list[str]:
    parts = [_mathml(each) for each in element if not each.tag.startswith("annotation")]
    return (parts + [""] * count)[:count]


def _plain(element: Element) -> str:
    return " ".join((element.text or "").split())


def _mathml_name(element: Element) -> str:
    text, variant = _plain(element), element.get("mathvariant", "")
    name = {"bold": "mathbf", "double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak",
            "bold-italic": "boldsymbol", "sans-serif": "mathsf", "monospace": "mathtt"}.get(variant)  # fmt: skip
    if name:
        return f"\\{name}{{{_symbols(text)}}}"
    if len(text) > 1 and text.isascii() and text.isalpha():
        return _function(text)
    return (
        f"\\mathrm{{{_symbols(text)}}}" if variant == "normal" and text.isascii() and text.isalpha() else _symbols(text)
    )


def _mathml_operator(element: Element) -> str:
    text = _plain(element)
    if len(text) > 1 and text.isascii() and text.isalpha():
        return _function(text)
    return _symbols(text)


def _mathml_under(element: Element) -> str:
    children = list(element)
    base, *scripts = _mathml_parts(element, 3 if element.tag == "munderover" else 2)
    below, above = scripts if len(scripts) == 2 else (scripts[0], "") if element.tag == "munder" else ("", scripts[0])
    if len(children) == 2 and children[1].tag == "mo" and len(mark := _plain(children[1])) == 1:
        return _accented(base, mark, is_below=element.tag == "munder")
    plain = base.strip()
    takes_limits = plain.startswith(("\\underbrace", "\\overbrace", "\\operatorname")) or plain[1:] in FUNCTIONS
    if takes_limits or (children and _plain(children[0]) in LARGE):
        return _limits(plain, below, above)
    text = f"\\underset{_group(below)}{_group(base)}" if below.strip() else base
    return f"\\overset{_group(above)}{_group(text)}" if above.strip() else text


def _mathml_scripts(element: Element) -> str:
    children = list(element)
    base, *parts = _mathml_parts(element, 3 if element.tag == "msubsup" else 2)
    below, above = parts if len(parts) == 2 else (parts[0], "") if element.tag == "msub" else ("", parts[0])
    if children and _plain(children[0]) in LARGE:
        return _limits(base, below, above)
    return _script(base, below, above)


def _mathml_multiscripts(element: Element) -> str:
    texts, before = [], False
    base, *others = list(element) or [Element("none")]
    pairs: dict[bool, list[str]] = {False: [], True: []}
    for each in others:
        if each.tag == "mprescripts":
            before = True
        else:
            pairs[before].append("" if each.tag == "none" else _mathml(each))
    scripts = pairs[True]
    texts = [_script("", *scripts[index : index + 2]) for index in range(0, len(scripts), 2)]
    core = _mathml(base)
    for index in range(0, len(pairs[False]), 2):
        core = _script(core, *pairs[False][index : index + 2])
    return _joined((*texts, core))


def _mathml_fenced(element: Element) -> str:
    parts = [_mathml(each) for each in element]
    return _fenced(element.get("open", "("), parts, element.get("separators", ","), element.get("close", ")"))


def _mathml_fraction(element: Element) -> str:
    above, below = _mathml_parts(element, 2)
    thickness = element.get("linethickness", "")
    return _fraction(above, below, "noBar" if thickness and not thickness.strip("0.ptexm %") else "")


def _mathml_enclosed(element: Element) -> str:
    inside = _mathml_all(element)
    notation = element.get("notation", "longdiv").split()
    if "box" in notation:
        return f"\\boxed{_group(inside)}"
    if "radical" in notation:
        return _root(inside, "")
    return f"\\cancel{_group(inside)}" if any(each.endswith("strike") for each in notation) else inside


_MATHML: dict[str, Callable[[Element], str]] = {
    "mi": _mathml_name,
    "mn": lambda element: _symbols(_plain(element)),
    "mo": _mathml_operator,
    "mtext": lambda element: _words(element.text or ""),
    "ms": lambda element: _words(f'"{_plain(element)}"'),
    "mspace": lambda element: "\\," if element.get("width", "").startswith("0.1") else "\\ ",
    "mfrac": _mathml_fraction,
    "msqrt": lambda element: _root(_mathml_all(element), ""),
    "mroot": lambda element: _root(*_mathml_parts(element, 2)),
    "msub": _mathml_scripts,
    "msup": _mathml_scripts,
    "msubsup": _mathml_scripts,
    "munder": _mathml_under,
    "mover": _mathml_under,
    "munderover": _mathml_under,
    "mmultiscripts": _mathml_multiscripts,
    "mfenced": _mathml_fenced,
    "menclose": _mathml_enclosed,
    "mphantom": lambda element: f"\\phantom{_group(_mathml_all(element))}",
    "mtable": lambda element: _matrix(
        [_mathml_all(cell) for cell in row if cell.tag == "mtd"] for row in element if row.tag in ("mtr", "mlabeledtr")
    ),
}
