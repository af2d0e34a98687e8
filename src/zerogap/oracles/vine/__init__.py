"""Vine parsing: short arcs first, in linear time (Rush 2014, chapter 8)."""
