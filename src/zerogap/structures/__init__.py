"""The records that every layer shares: hypergraphs, automata, grammars. Arrays and checks only, no algorithms."""
