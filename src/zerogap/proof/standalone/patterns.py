"""Regular expressions over labels as machines, by derivatives (Brzozowski 1964)."""

import re

from zerogap.proof.standalone.numbers import demand

TOKEN = re.compile(
    r"""\s*(?:(\{)\s*(\d+)\s*(,?)\s*(\d*)\s*\}|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"|([.\[\]()|&~*+?])|([^\s.\[\](){}|&~*+?"]+))""", re.S
)


class Pattern:
    """States are numbers of expressions; an expression is a set of labels, or an operator and the numbers of its parts."""

    def __init__(self, text, names, fields):
        self.nodes, self.numbers, self.known = [], {}, {}
        self.sets = {str(name): {a} for a, name in enumerate(names)}
        for a, field in enumerate(fields):
            if field not in names:
                self.sets.setdefault(field, set()).add(a)
        self.every = frozenset(range(len(names)))
        self.nothing, self.empty = self.node("set", frozenset()), self.node("empty")
        self.tokens = list(self.read(text))
        self.first = self.alternatives()
        demand(not self.tokens, "a pattern that cannot be read")

    def node(self, *value):
        if value not in self.numbers:
            self.numbers[value] = len(self.nodes)
            self.nodes.append(value)
        return self.numbers[value]

    # ------------------------------------------------------------ reading

    def read(self, text):
        """(operator, argument) of every token, the last first."""
        found, text = [], text.rstrip()
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            demand(match, f"the pattern {text!r} cannot be read")
            brace, least, comma, most, one, two, sign, name = match.groups()
            if brace:
                found.append(("repeat", (int(least), int(most) if most else None if comma else int(least))))
            elif sign in ("*", "+", "?"):
                found.append(("repeat", {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]))
            elif sign == ".":
                found.append(("set", self.every))
            elif sign:
                found.append((sign, text.startswith("[^", match.start(7))))
                at = match.end() + (sign == "[" and found[-1][1])
                continue
            else:
                quoted = one if one is not None else two
                name = name if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.S)
                demand(name in self.sets, f"the pattern names {name!r}, which is no label")
                found.append(("set", frozenset(self.sets[name])))
            at = match.end()
        return reversed(found)

    def next(self):
        return self.tokens[-1][0] if self.tokens else None

    def alternatives(self):
        found = [self.conjuncts()]
        while self.next() == "|":
            self.tokens.pop()
            found.append(self.conjuncts())
        return self.either(found)

    def conjuncts(self):
        found = [self.no(self.sequence())]
        while self.next() == "&":
            self.tokens.pop()
            found.append(self.no(self.sequence()))
        return self.no(self.either(found))

    def sequence(self):
        factors = []
        while self.next() in ("set", "(", "[", "~"):
            factors.append(self.factor())
        whole = self.empty
        for factor in reversed(factors):
            whole = self.then(factor, whole)
        return whole

    def factor(self):
        kind, value = self.tokens.pop()
        if kind == "~":
            return self.no(self.factor())
        if kind == "(":
            found = self.alternatives()
            demand(self.tokens and self.tokens.pop()[0] == ")", "a parenthesis is not closed")
        elif kind == "[":
            members = set()
            while self.next() == "set":
                members |= self.tokens.pop()[1]
            demand(self.tokens and self.tokens.pop()[0] == "]", "a bracket is not closed")
            found = self.node("set", frozenset(self.every - members if value else members))
        else:
            found = self.node("set", value)
        while self.next() == "repeat":
            found = self.repeated(found, *self.tokens.pop()[1])
        return found

    # ------------------------------------------------- expressions that mean the same are one, so that there are few

    def either(self, parts):
        flat = set()
        for part in parts:
            flat |= set(self.nodes[part][1:]) if self.nodes[part][0] == "or" else {part}
        flat.discard(self.nothing)
        if self.no(self.nothing) in flat:
            return self.no(self.nothing)
        return self.nothing if not flat else flat.pop() if len(flat) == 1 else self.node("or", *sorted(flat))

    def no(self, part):
        return self.nodes[part][1] if self.nodes[part][0] == "not" else self.node("not", part)

    def then(self, one, other):
        if self.nothing in (one, other):
            return self.nothing
        if self.empty in (one, other):
            return one if other == self.empty else other
        if self.nodes[one][0] == "then":
            return self.then(self.nodes[one][1], self.then(self.nodes[one][2], other))
        return self.node("then", one, other)

    def repeated(self, part, least, most):
        if most == 0 or part == self.empty or (part == self.nothing and least == 0):
            return self.empty
        return part if least == most == 1 else self.node("repeat", part, least, most)

    # ------------------------------------------------------------ running

    def accepts_empty(self, state):
        kind, *parts = self.nodes[state]
        if kind == "or":
            return any(self.accepts_empty(part) for part in parts)
        if kind == "then":
            return all(self.accepts_empty(part) for part in parts)
        if kind == "repeat":
            return parts[1] == 0 or self.accepts_empty(parts[0])
        return not self.accepts_empty(parts[0]) if kind == "not" else kind == "empty"

    def after(self, state, label):
        """What must follow a label."""
        if (state, label) not in self.known:
            self.known[state, label] = self.derived(state, label)
        return self.known[state, label]

    def derived(self, state, label):
        kind, *parts = self.nodes[state]
        if kind == "set":
            return self.empty if label in parts[0] else self.nothing
        if kind == "or":
            return self.either([self.after(part, label) for part in parts])
        if kind == "not":
            return self.no(self.after(parts[0], label))
        if kind == "then":
            one = self.then(self.after(parts[0], label), parts[1])
            return self.either([one, self.after(parts[1], label)]) if self.accepts_empty(parts[0]) else one
        if kind == "repeat":
            part, least, most = parts
            return self.then(self.after(part, label), self.repeated(part, max(least - 1, 0), None if most is None else most - 1))
        return self.nothing
