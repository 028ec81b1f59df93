"""What processes say to one another: typed messages, raw array frames, and the sockets that carry them."""
