"""Probes: best responses, trained against one frozen player, that measure how exploitable it is."""
