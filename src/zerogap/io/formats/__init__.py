"""Files of text, treebanks, labels and grammars."""
