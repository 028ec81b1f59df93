"""`launch=slurm`: a league as jobs of a Slurm cluster."""
