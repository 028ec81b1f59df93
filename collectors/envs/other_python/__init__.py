"""Environments that play in another Python than this one: `env.python=OTHER_VENV/bin/python`."""
