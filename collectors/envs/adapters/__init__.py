"""Environments of other projects as rows: PettingZoo, OpenSpiel, Gymnasium, Atari."""
