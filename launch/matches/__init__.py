"""Matches outside the league's schedule: watch, duel, play, replay, record."""
