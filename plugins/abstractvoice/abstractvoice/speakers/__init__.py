"""Voices on this machine: phonemes of English text, and the models that say them."""
