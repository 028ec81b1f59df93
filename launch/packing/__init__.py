"""Players as files: how they leave a run, and the card that describes one."""
