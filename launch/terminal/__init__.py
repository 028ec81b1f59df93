"""What reaches the terminal: clean text, rich consoles, a spinner for what takes long."""
