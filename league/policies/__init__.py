"""Networks that collectors act with (numpy) and learners train (torch)."""
