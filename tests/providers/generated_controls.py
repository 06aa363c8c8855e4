"""Generated controls of files, for the formats that have fields for some of them."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import MediaControls

RESOLUTIONS = st.sampled_from([None, "low", "medium", "high"])


def controls() -> SearchStrategy[MediaControls | None]:
    """Any controls, mostly none."""
    some = st.builds(
        MediaControls,
        pages=st.sampled_from([None, None, "2-3"]),
        start=st.sampled_from([None, 0.0, 0.25]),
        end=st.sampled_from([None, 1.5, 3600.000001]),
        fps=st.sampled_from([None, 0.5, 24.0]),
        resolution=RESOLUTIONS,
        fetch=st.sampled_from([None, None, "vendor"]),
    )
    return st.none() | some
