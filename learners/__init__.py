"""Processes that train players on the segments that collectors send."""
