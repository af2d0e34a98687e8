"""Learning that knows no task: averaged weights, optimisers, and what they need."""
