"""Environments as batches of slots that speak in rows; the only door to PettingZoo."""
