"""Foreign environments are tried in a process of their own, where they may crash or hang."""
