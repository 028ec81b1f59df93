"""How fast the parts of a league are, measured against each other in the same minute: `python -m benchmarks`."""
