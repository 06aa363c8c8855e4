"""How many examples Hypothesis tries: the same ones in every run of the suite, other ones with `make fuzz`."""

from hypothesis import HealthCheck, settings


def examples(count: int) -> settings:
    """Settings for a property that is tried `count` times, however long each takes on a busy machine."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])
