"""Messages between processes: typed heads, raw array frames, and the sockets that carry them."""
