"""Operations on finite automata: regular expressions, Boolean operations, minimisation."""
