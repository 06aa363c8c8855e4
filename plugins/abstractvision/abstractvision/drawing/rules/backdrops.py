"""Backdrops: how the time of the day, the weather and the ground of a scene look."""

from __future__ import annotations

from typing import NamedTuple

from .vocabulary import Setting


class Backdrop(NamedTuple):
    """The sky from top to horizon, the ground and the water below, each from far to near; None where there is none."""

    sky: tuple[str, ...]
    ground: tuple[str, str] | None
    water: tuple[str, str] | None


_DAY = ("#5ba8e5", "#bfe3fa")
_SKIES: dict[Setting, tuple[str, ...]] = {
    "space": ("#05060f", "#141a3c", "#2b1d4f"),
    "underwater": ("#2ec4d6", "#0b6fa4", "#073b5c"),
    "night": ("#070b24", "#1b2a5c", "#3a4a86"),
    "sunset": ("#3d2c6b", "#d1495b", "#f9a35b", "#ffe0a3"),
    "storm": ("#4a5568", "#8696a8"),
    "winter": ("#9cc3e0", "#e8f3fb"),
    "desert": ("#6ec0ea", "#fbe3b5"),
}
_GROUNDS: dict[Setting, tuple[str, str]] = {
    "winter": ("#e6eff7", "#ffffff"),
    "desert": ("#e8c27a", "#d9a25f"),
    "beach": ("#f1dca7", "#e3c07f"),
    "city": ("#8d99a6", "#5c6773"),
    "autumn": ("#c9893f", "#a0622d"),
    "meadow": ("#8ccf5a", "#5aa63b"),
}
_DARKNESS: dict[Setting, float] = {"night": 0.22, "sunset": 0.1, "storm": 0.15}
"""How much settings darken a scene."""
_GRASS = ("#8ccf5a", "#5aa63b")
_WATER = ("#4fb3d9", "#1f6f9f")


def backdrop_of(settings: list[Setting], *, has_ground: bool, has_water: bool) -> Backdrop:
    """Returns the backdrop for settings, of which the first one known for each part counts."""
    sky = next((_SKIES[each] for each in _SKIES if each in settings), _DAY)
    if "space" in settings:
        return Backdrop(sky, None, None)
    if "underwater" in settings:
        return Backdrop(sky, ("#c9b37e", "#a8905c"), None)
    ground = next((_GROUNDS[each] for each in _GROUNDS if each in settings), None)
    water = _WATER if has_water or "sea" in settings or "beach" in settings else None
    if ground is None and (has_ground or water is None):
        ground = _GRASS
    return Backdrop(sky, ground, water)


def unseen_settings(settings: list[Setting], backdrop: Backdrop | None = None) -> list[Setting]:
    """Returns the settings that neither the light of a scene shows nor its backdrop, if it gets one."""
    darkness = darkness_of(settings)
    unlit: list[Setting] = [each for each in settings if _DARKNESS.get(each) != darkness]
    return unlit if backdrop is None else [each for each in unlit if not _is_in_backdrop(each, backdrop)]


def _is_in_backdrop(setting: Setting, backdrop: Backdrop) -> bool:
    if setting in ("sea", "beach") and backdrop.water is not None:
        return True
    is_ground = backdrop.ground is not None and backdrop.ground == _GROUNDS.get(setting)
    return is_ground or backdrop.sky == _SKIES.get(setting)


def darkness_of(settings: list[Setting]) -> float:
    """Returns how much a scene is darkened, 0 to 1."""
    return max([_DARKNESS.get(each, 0.0) for each in settings], default=0.0)
