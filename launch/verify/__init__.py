"""`ludus verify`: check every promise that a run directory can break."""
