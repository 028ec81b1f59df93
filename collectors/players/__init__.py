"""Players that do not learn: scripted bots."""
