"""Games in arrays: all slots at once, no loop over them."""
