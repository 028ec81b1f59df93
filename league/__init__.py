"""The language and the rulebook of a league, and the plumbing that two kinds of process share."""
