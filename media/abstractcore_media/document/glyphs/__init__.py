"""Long text drawn as dense pages, for vision models that read an image for fewer tokens than its text has."""
