"""The fixtures `way` and `streamed_way`, as for tools."""

from tests.core.tools.conftest import streamed_way, way

__all__ = ["streamed_way", "way"]
