"""Who plays whom: every matchmaker returns the exact probabilities it draws from, with reasons."""
