"""Everything that reads a run: views, tables, the live display, reports and plots."""
