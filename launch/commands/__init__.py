"""The commands of `ludus`: each with its arguments, its example and its handler in one place."""
