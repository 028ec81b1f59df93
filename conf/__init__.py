"""Hydra config groups: env, league, algo, policy, launch, track, experiment."""
