"""Constraints on labels as machines."""

from zerogap.proof.standalone.numbers import Unknown
from zerogap.proof.standalone.patterns import Pattern


class Rule:
    """A constraint as a machine: `first` state, `step` (None when it is broken for good), `final`."""

    def __init__(self, value, names, n):
        kind, given = value["kind"], value["arguments"]
        fields = [name[2:] if isinstance(name, str) and name[1:2] == "-" and name[0] in "BIES" else name for name in names]

        def inside(*wanted):
            return {a for a, name in enumerate(names) if any(name == w or (w not in names and fields[a] == w) for w in wanted)}

        def marks(label, prefixes):
            return set() if label in names else {a for a in inside(label) if names[a][0] in prefixes}

        self.first, self.final = 0, lambda state: True
        if kind in ("no_duplicate", "at_most", "at_least", "exactly"):
            field, opening, closing = inside(given[0]), marks(given[0], "BS"), marks(given[0], "ES")
            low, high = {"no_duplicate": (0, 1), "at_most": (0, given[-1]), "at_least": (given[-1], None)}.get(kind, (given[-1],) * 2)
            self.first = (0, False)

            def step(t, state, a):
                count, is_open = state
                count += a in field and (a in opening or not is_open)
                if high is not None and count > high:
                    return None
                return min(count, low) if high is None else count, a in field and a not in closing

            self.run, self.final = step, lambda state: state[0] >= low
        elif kind == "at_least_one":
            wanted = inside(*given)
            self.run, self.final = lambda t, state, a: int(state or a in wanted), bool
        elif kind == "precedes":
            early, late = inside(given[0]), inside(given[1])
            self.run = lambda t, state, a: None if state and a in early else int(state or a in late)
        elif kind == "follows_only":
            field, opening, closing, before = inside(given[0]), marks(given[0], "BS"), marks(given[0], "ES"), inside(given[1])

            def follow(t, state, a):
                if a in field and (a in opening or state != 2) and state != 1:
                    return None
                return 2 if a in field and a not in closing else int(a in before)

            self.run = follow
        elif kind == "disallow":
            unwanted = inside(*given)
            self.run = lambda t, state, a: None if a in unwanted else 0
        elif kind == "at":
            wanted = inside(*given[1])
            self.run = lambda t, state, a: None if t == given[0] and a not in wanted else 0
        elif kind in ("spans", "same_label"):
            first = {start for start, _ in given} if kind == "spans" else set()
            places = {t for start, end in given for t in range(start, end)} if kind == "spans" else set(given)

            self.first = ("nothing read",)  # not 0, which may be a label

            def same(t, state, a):
                if t not in places:
                    return self.first if kind == "spans" else state
                return fields[a] if state == self.first or t in first or state == fields[a] else None

            self.run = same
        elif kind in ("and", "or", "not"):
            parts = [Rule(part, names, n) for part in given]
            self.first = tuple(part.first for part in parts)
            self.run = lambda t, state, a: tuple(part.step(t, s, a) for part, s in zip(parts, state))
            join = {"and": all, "or": any, "not": lambda found: not all(found)}[kind]
            self.final = lambda state: join([s is not None and part.final(s) for part, s in zip(parts, state)])
        elif kind == "regex":
            pattern = Pattern(given[0], names, fields)
            self.first, self.final = pattern.first, pattern.accepts_empty

            def follows(t, state, a):
                after = pattern.after(state, a)
                return None if after == pattern.nothing else after

            self.run = follows
        else:
            raise Unknown(f"constraint {kind}")

    def step(self, t, state, a):
        return None if state is None else self.run(t, state, a)

    def accepts(self, y):
        state = self.first
        for t, a in enumerate(y):
            state = self.step(t, state, a)
        return state is not None and self.final(state)
