"""`zerogap serve`: every task over HTTP, and a page that shows how gaps close.

One process routes bytes between clients and workers, and never decodes; workers are processes with the models in their memory. So no
request can hold up another, and one that takes too long is ended.
"""
