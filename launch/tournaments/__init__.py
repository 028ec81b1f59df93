"""Tournaments: players of any runs, packed players and bots of one game, in a ledger of their own."""
