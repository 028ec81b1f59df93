"""Trackers: viewer processes that draw the curves of a league elsewhere, and are free to die."""
