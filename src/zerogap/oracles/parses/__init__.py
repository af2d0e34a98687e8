"""Chart parsers for constituency trees."""
