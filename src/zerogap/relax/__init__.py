"""The general methods: they know oracles and linear constraints, and no task."""
