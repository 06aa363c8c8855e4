"""Properties are tried with the same examples in every run."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from tests.properties import examples

A_CONSTANT_OF_THIS_MODULE = 918_273_645


def test_examples_do_not_depend_on_the_modules_that_are_imported():
    drawn: list[int] = []

    @examples(300)
    @given(st.integers())
    def draw(number: int) -> None:
        drawn.append(number)

    draw()
    assert len(drawn) >= 100
    assert A_CONSTANT_OF_THIS_MODULE not in drawn
    assert len(providers._get_local_constants()) == 0
