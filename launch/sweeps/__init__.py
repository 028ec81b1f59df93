"""`ludus run -m`: many leagues, one for each combination of values, compared across seeds."""
