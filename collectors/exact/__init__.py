"""Exact figures of small games: best responses and exploitability over the whole game tree."""
