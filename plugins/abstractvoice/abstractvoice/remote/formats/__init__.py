"""The formats of vendors: requests written, sound and transcripts read. No network, clock or environment."""
