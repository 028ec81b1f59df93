"""Chooses the next ticket: training, evaluation, and the final evaluation."""
