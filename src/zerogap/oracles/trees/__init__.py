"""Dynamic programs and matroid algorithms for dependency trees."""
