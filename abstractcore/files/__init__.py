"""What becomes of the files of a call: loaded, sent natively, converted or uploaded, and read again for checks."""
