"""Starting and watching a league: command line, configuration, processes, viewers."""
