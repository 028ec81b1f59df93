"""How Ludus starts Python processes, and how they end with their parent."""
