"""Speech, transcripts, images and music: a route each, around the backends of plugins."""
