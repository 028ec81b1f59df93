"""What a run keeps on disk: the run directory, snapshots, checkpoints and the ledger."""
