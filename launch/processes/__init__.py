"""The processes of a league: composition, the supervisor, local and inline launches."""
