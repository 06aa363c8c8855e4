"""Drawings: scenes as data, their repair, and the renderer."""
