"""Speech for AbstractCore: text for speech, voices on this machine and of vendors, speech to text."""
