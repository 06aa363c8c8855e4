"""Stores on this machine: of model weights and of artifacts."""
