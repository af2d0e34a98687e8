"""Label sequences."""

from fractions import Fraction

from zerogap.proof.standalone.numbers import NO, Unknown, cover, demand, whole, wholes
from zerogap.proof.standalone.rules import Rule


class Labels:
    def __init__(self, value, unit):
        self.unit = unit
        self.emissions = wholes(value["emissions"], unit)
        self.n = len(self.emissions)
        self.names = value["labels"] or list(range(len(value["start"])))
        self.size, self.order = len(self.names), value["order"] or 1
        self.start, self.end = wholes(value["start"], unit), wholes(value["end"], unit)
        depth, table = 0, value["transitions"]
        while isinstance(table, list):
            depth, table = depth + 1, table[0] if table else None
        tables = wholes(value["transitions"], unit)
        self.tables = tables if depth == self.order + 2 else [tables]
        self.rules = [Rule(rule, self.names, self.n) for rule in value.get("constraints", [])]
        given = [rule.get("penalty") for rule in value.get("constraints", [])]
        self.penalties = [None if penalty is None else round(Fraction(penalty) / Fraction(unit)) for penalty in given]  # as it is defined

    def transition(self, t, history):
        """Into token t, by the labels up to it."""
        if t < self.order:
            return 0
        table = self.tables[t - self.order if len(self.tables) > 1 else 0]
        for label in history:
            table = table[label]
        return table

    def score(self, structure):
        demand(isinstance(structure, list) and len(structure) == self.n, "not one label for every token")
        demand(all(label in self.names and not isinstance(label, bool) for label in structure), "a label that does not exist")
        y = [self.names.index(label) for label in structure]
        total = self.start[y[0]] + self.end[y[-1]] if y else 0
        for t, label in enumerate(y):
            total += self.emissions[t][label] + self.transition(t, y[t - self.order : t + 1] if t >= self.order else ())
        for rule, penalty in zip(self.rules, self.penalties):
            if not rule.accepts(y):
                demand(penalty is not None, "a constraint that must hold is broken")
                total -= penalty
        demand(total != NO, "something in it is forbidden")
        return total

    def bound(self, certificate, claimed):
        kind = certificate["kind"]
        if kind == "intersection":
            named = {*certificate["constraints"], *(c for c, _ in certificate["prices"])}
            demand(named <= set(range(len(self.rules))), "a constraint that does not exist")
            return self.search(sorted(named) if self.n else range(len(self.rules)), claimed)
        every = [set(range(self.size)) for _ in range(self.n)]
        if kind == "leaves":
            fields = [name[2:] if isinstance(name, str) and name[1:2] == "-" and name[0] in "BIES" else name for name in self.names]
            kinds = [list(dict.fromkeys(fields)).index(field) for field in fields]
            n_kinds = max(kinds) + 1
            cover(certificate["leaves"], self.n * (n_kinds + self.size))
            return max(self.leaf(leaf, [set(one) for one in every], kinds, n_kinds) for leaf in certificate["leaves"])
        return self.agreed(certificate, every)

    def search(self, chosen, claimed):
        """The best labelling under some of the constraints, which all can only lower: by last labels and states, best first ones only."""
        rest = self.following()
        layer = {((), tuple(self.rules[c].first for c in chosen)): 0}
        for t in range(self.n):
            new = {}
            for (history, states), value in layer.items():
                for label in range(self.size):
                    total = value + self.emissions[t][label] + (self.start[label] if t == 0 else 0)
                    total += self.transition(t, (*history, label)) + (self.end[label] if t == self.n - 1 else 0)
                    later = (*history, label)[-self.order :]
                    if total == NO or total + rest[t].get(later, 0) <= claimed:
                        continue
                    after = tuple(self.rules[c].step(t, state, label) for c, state in zip(chosen, states))
                    if any(state is None and self.penalties[c] is None for c, state in zip(chosen, after)):
                        continue
                    new[later, after] = max(new.get((later, after), NO), total)
            layer = new
            if len(layer) > 2_000_000:
                raise Unknown("a search of more than two million states")
        best = NO
        for (_, states), value in layer.items():
            for c, state in zip(chosen, states):
                if state is None or not self.rules[c].final(state):
                    value = value - self.penalties[c] if self.penalties[c] is not None else NO
            best = max(best, value)
        return max(best, claimed)

    def following(self):
        """The most that can follow the last labels after every token, without any constraint."""
        rest = [{} for _ in range(self.n)]
        for t in range(self.n - 1, 0, -1):
            for history in histories(self.size, min(self.order, t)):
                best = NO
                for label in range(self.size):
                    total = self.emissions[t][label] + self.transition(t, (*history, label)) + (self.end[label] if t == self.n - 1 else 0)
                    best = max(best, total + rest[t].get((*history, label)[-self.order :], 0))
                rest[t - 1][history] = best
        return rest

    def leaf(self, leaf, allowed, kinds, n_kinds):
        for part, inside in leaf["fixed"]:
            if part < self.n * n_kinds:
                t, named = part // n_kinds, {a for a in range(self.size) if kinds[a] == part % n_kinds}
            else:
                t, a = divmod(part - self.n * n_kinds, self.size)
                named = {a}
            allowed[t] = allowed[t] & named if inside else allowed[t] - named
        return self.agreed(leaf["certificate"], allowed)

    def agreed(self, certificate, allowed):
        """The sequence pays for labels what constraints receive for theirs."""
        if certificate["kind"] != "agreement":
            raise Unknown("certificate {} of sequences".format(certificate["kind"]))
        demand(self.n > 0, "nothing to agree on")
        prices = [[[0] * self.size for _ in range(self.n)] for _ in self.rules]
        for c, t, a, u in certificate["prices"]:
            demand(0 <= c < len(self.rules) and 0 <= t < self.n and 0 <= a < self.size, "a price of something that does not exist")
            demand(abs(whole(u, self.unit)) != -NO, "a price that is no number")
            prices[c][t][a] += whole(u, self.unit)
        layer = {(): 0}
        for t in range(self.n):
            new = {}
            for history, value in layer.items():
                for a in allowed[t]:
                    total = value + self.emissions[t][a] - sum(table[t][a] for table in prices) + (self.start[a] if t == 0 else 0)
                    total += self.transition(t, (*history, a)) + (self.end[a] if t == self.n - 1 else 0)
                    later = (*history, a)[-self.order :]
                    new[later] = max(new.get(later, NO), total)
            layer = new
        total = max(layer.values(), default=NO)
        for rule, penalty, table in zip(self.rules, self.penalties, prices):
            states = {rule.first: 0}
            for t in range(self.n):
                new = {}
                for state, value in states.items():
                    for a in allowed[t]:
                        after = rule.step(t, state, a)
                        new[after] = max(new.get(after, NO), value + table[t][a])
                states = new
            lost = NO if penalty is None else -penalty
            total += max((v if s is not None and rule.final(s) else v + lost for s, v in states.items()), default=NO)
        return total


def histories(size, length):
    return [()] if length == 0 else [(*one, a) for one in histories(size, length - 1) for a in range(size)]
