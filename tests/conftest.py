"""What all tests share."""

from hypothesis import settings

settings.register_profile("any machine")  # a slow machine is no failure
settings.load_profile("any machine")
