"""The one process that schedules matches, counts results and keeps the ledger."""
