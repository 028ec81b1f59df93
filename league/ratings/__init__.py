"""Ratings: how strong players are, how sure that is, and where one number for each player says too little."""
