"""Diffusion models on this machine, by the library diffusers, where it is installed."""
