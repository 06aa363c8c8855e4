"""How many examples Hypothesis tries: the same ones in every run of the suite, other ones with `make fuzz`."""

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

_SHARE_IN_THE_SUITE = 0.4


def draw_no_constants_of_modules() -> None:
    """Keeps Hypothesis from drawing constants of the modules that happen to be imported.

    They differ between the workers of a run, and with them the examples, also under `derandomize`. There is no setting.
    """
    none = providers._local_constants
    assert not len(none), "constants were drawn before"
    providers._get_local_constants = lambda: none


def examples(count: int) -> settings:
    """Settings for a property that is tried `count` times by `make fuzz`, and a share of that in each run of the suite,
    which would try the same ones again: however long each takes on a busy machine.
    """
    tried = count if settings.get_current_profile_name() == "fuzz" else round(count * _SHARE_IN_THE_SUITE)
    return settings(max_examples=max(tried, 1), deadline=None, suppress_health_check=[HealthCheck.too_slow])
