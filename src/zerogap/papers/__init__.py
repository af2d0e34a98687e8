"""Algorithms as the papers print them, and rivals that `auto` beats: to compare with, and to teach.

This package may import everything; nothing imports it but the lazy lines of a table of methods.
"""
