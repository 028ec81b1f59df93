"""Which processes a league has, and how they reach one another."""
