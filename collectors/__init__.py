"""Processes that play matches: environments, players, seating and recording."""
