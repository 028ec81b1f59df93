"""Comparisons of runs: head to head, against anchors and against probes, across seeds."""
