"""Programs for any length of their loops: the number of steps of a rollout is data, not code."""
