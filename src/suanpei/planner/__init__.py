"""The search over strategies: enumerate, bound, evaluate, keep the frontier, find the knee."""
