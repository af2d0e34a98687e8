"""Word alignments inside of phrases: the fourth field of a phrase table, which decoding does not need.

das haus ||| the house ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1 ||| 3 3 2
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines, shown
from zerogap.io.translation.phrase_tables import BAR, LONGEST
from zerogap.translation.phrases.table import spans

LINKS = re.compile(r"([0-9]{1,9}-[0-9]{1,9}( +|$))*")


def load_phrase_alignments(
    path: str | os.PathLike[str], sentences: Iterable[Sequence[str]], *, longest: int = LONGEST
) -> dict[tuple[str, str], str]:
    """{(source words, target words): links} of phrases that occur in the sentences; FormatError names a line that has none."""
    wanted = {text for words in sentences for _, _, text in spans(words, longest)}
    found = {}
    for number, line in read_lines(path):
        fields = line.rstrip("\r\n").split(BAR)
        source = fields[0].strip(" ")
        if source not in wanted:
            continue
        links = fields[3].strip(" ") if len(fields) > 3 else ""
        if not links or not LINKS.fullmatch(links):
            raise FormatError(
                f"{shown(path)}, line {number}: {links!r} in the fourth field, expected a word alignment such as 0-0 1-1 for --alignment."
            )
        size, target = source.count(" ") + 1, fields[1].strip(" ")
        for link in links.split():
            i, _, j = link.partition("-")
            if int(i) >= size or int(j) > target.count(" "):
                raise FormatError(f"{shown(path)}, line {number}: the link {link} is outside of the phrase, of {size} source words.")
        found[source, target] = links
    return found
