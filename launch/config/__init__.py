"""From overrides to one typed config, and back: compose, check, compare, explain."""
