"""Trackers: viewer processes that send the curves of a league to a sink; the league does not depend on them."""
