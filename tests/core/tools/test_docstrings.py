"""Descriptions and argument texts from docstrings of every style."""

from __future__ import annotations

import inspect

import pytest

from abstractcore.tools.signatures import Documentation, documentation_of

PROSE = "Weather for the next days.\n\nIt may be wrong."
TEXTS = {"city": "Name of the city.", "days": "How many days,\nat most 7."}
GOOGLE = """Weather for the next days.

    It may be wrong.

    Args:
        city (str): Name of the city.
        days: How many days,
            at most 7.

    Returns:
        The forecast.

    Raises:
        ValueError: Never.
    """
NUMPY = """Weather for the next days.

    It may be wrong.

    Parameters
    ----------
    city : str
        Name of the city.
    days : int, optional
        How many days,
        at most 7.

    Returns
    -------
    str
        The forecast.
    """
SPHINX = """Weather for the next days.

    It may be wrong.

    :param str city: Name of the city.
    :param days: How many days,
        at most 7.
    :returns: The forecast.
    :raises ValueError: Never.
    """
EPYDOC = """Weather for the next days.

    It may be wrong.

    @param city: Name of the city.
    @param days: How many days,
        at most 7.
    @return: The forecast.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX, EPYDOC], ids=["google", "numpy", "sphinx", "epydoc"])
def test_every_style_gives_the_same(text):
    assert documentation_of(text) == Documentation(PROSE, TEXTS)


@pytest.mark.parametrize("text", [None, "", " \n "])
def test_no_docstring_is_no_description(text):
    assert documentation_of(text) == Documentation()


@pytest.mark.parametrize(
    "text",
    [
        "One line.",
        "Several.\n\nLines: with colons.\n- and lists\n- of items",
        "Say `x: int`:\n\n    indented code\n",
        ":param",
        "@param",
        ":param x",
        ":: :param a: b",
        "Args:",
        "A title\n=======\n\nText.",
    ],
)
def test_prose_stays_prose(text):
    found = documentation_of(text)
    assert found.arguments == {}
    assert found.description in ("", inspect.cleandoc(text))


def test_stars_of_arguments_are_no_part_of_their_names():
    assert documentation_of("F.\n\nArgs:\n    **others: More.\n").arguments == {"others": "More."}


def test_docstring_of_any_length_is_read_in_bounded_time():
    assert documentation_of("Args:\n" + "    a: b\n" * 100_000).description.startswith("Args:")
