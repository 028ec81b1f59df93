"""Who plays whom: every matchmaker returns the exact probabilities it samples from, with reasons."""
