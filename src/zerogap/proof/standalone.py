"""Checks exported solutions without zerogap: this file needs Python 3.9 and nothing else. Copy it, read it, run it.

    python check.py proofs.jsonl                   lines with "problem" and "solution", .gz or not
    python check.py problem.json solution.json

It was written apart from zerogap, for those who do not want to trust it. All scores are multiples of the problem's resolution, so they are
read as whole numbers of any size, and no sum is ever rounded. Of every solution it derives again, from the problem's definition, that the
structure is valid, what it scores, and that nothing scores more than the claimed bound by the evidence of the certificate:

    dependency    cut-duals, dynamic-program, head-prices, screened, leaves      (trees; all parts but factors)
    sequence      intersection, agreement, leaves                               (labels; all constraints but regex)
    hypergraph    dynamic-program, multipliers, unsatisfiable, leaves

What it does not know it says so of, and does not count as checked. Exit codes: 0 all hold, 1 some do not hold, 3 some were not checked.
"""

import gzip
import json
import sys
from fractions import Fraction
from functools import lru_cache

NO = float("-inf")  # the score of what is forbidden


class Wrong(Exception):
    """A claim that does not hold."""


class Unknown(Exception):
    """Something that this file does not check."""


def demand(holds, claim):
    if not holds:
        raise Wrong(claim)


def whole(value, unit):
    """A score as a number of units."""
    if value in ("-inf", "inf"):
        return float(value)
    demand(isinstance(value, (int, float)) and not isinstance(value, bool), f"not a number: {value!r}")
    top, bottom = float(value).as_integer_ratio()
    unit_top, unit_bottom = float(unit).as_integer_ratio()
    count, rest = divmod(top * unit_bottom, bottom * unit_top)
    demand(rest == 0, f"{value!r} is not a multiple of the resolution {unit!r}")
    return count


def wholes(value, unit):
    return [wholes(entry, unit) for entry in value] if isinstance(value, list) else whole(value, unit)


def cover(leaves, n_parts, depth=0):
    """At every node all leaves decide the same part next, and both ways are there."""
    demand(leaves, "the leaves do not cover the space")
    if len(leaves) == 1 and len(leaves[0]["fixed"]) == depth:
        return
    demand(all(len(leaf["fixed"]) > depth for leaf in leaves), "the leaves overlap")
    part = leaves[0]["fixed"][depth][0]
    demand(type(part) is int and 0 <= part < n_parts, "a leaf decides a part that does not exist")
    demand(all(leaf["fixed"][depth][0] == part for leaf in leaves), "the leaves do not cover the space")
    demand(all(type(leaf["fixed"][depth][1]) is bool for leaf in leaves), "a leaf decides neither way")
    for way in (True, False):
        cover([leaf for leaf in leaves if leaf["fixed"][depth][1] is way], n_parts, depth + 1)


# ---------------------------------------------------------------------------------------------------------------- dependency trees

PARTS = {"siblings": 3, "stops": 2, "grandparents": 3, "outermost": 3, "grandsiblings": 4, "trisiblings": 4}
OF_HEADS = ("grandparents", "outermost", "grandsiblings")


class Trees:
    """Heads of words 1 to n; token 0 is the root. `label[h, m]` is the best label of an arc, by its score."""

    def __init__(self, value, unit):
        if value.get("factors"):
            raise Unknown("factors")
        self.unit, self.projective, self.single = unit, value.get("projective", False), value.get("single_root", True)
        arcs = wholes(value["arcs"], unit)
        self.n = n = len(arcs) - 1
        self.arcs = {(h, m): NO if h == m or m == 0 else arcs[h][m] for h in range(n + 1) for m in range(n + 1)}
        self.labels, self.names = None, value.get("label_names")
        if value.get("labels") is not None:
            self.labels = wholes(value["labels"], unit)
            self.names = self.names or list(range(len(self.labels[0][0])))
        self.tables = {}
        for name, order in PARTS.items():
            if value.get(name) is not None:
                given = value[name]
                if isinstance(given, dict):
                    self.tables[name] = {tuple(row[:-1]): whole(row[-1], unit) for row in given["parts"]}
                else:
                    self.tables[name] = dict(entries(wholes(given, unit), order))
        self.machines = {}
        for machine in value.get("automata", []):
            moves = {(s, m): (t, whole(w, unit)) for s, m, t, w in machine["transitions"] if whole(w, unit) != NO}
            self.machines[machine["head"], machine["side"]] = moves, wholes(machine["finals"], unit)

    def part(self, name, *index):
        return self.tables[name].get(index, 0) if name in self.tables else 0

    def worth(self, h, m):
        """An arc with its best label."""
        return self.arcs[h, m] + (max(self.labels[h][m]) if self.labels else 0)

    def score(self, structure):
        heads = structure[0] if self.labels else structure
        words = range(1, self.n + 1)
        demand(isinstance(heads, list) and len(heads) == self.n, "not one head for every word")
        demand(all(type(h) is int and 0 <= h <= self.n for h in heads), "a head that is no token")
        for m in words:
            seen, at = set(), m
            while at:
                demand(at not in seen, "a cycle of heads")
                seen.add(at)
                at = heads[at - 1]
        demand(not self.single or self.n == 0 or heads.count(0) == 1, "not a single root")
        if self.projective:
            spans = [(min(h, m), max(h, m)) for m, h in zip(words, heads)]
            demand(not any(a < c < b < d for a, b in spans for c, d in spans), "arcs that cross")
        total = sum(self.arcs[h, m] for m, h in zip(words, heads))
        if self.labels:
            demand(len(structure[1]) == self.n and all(label in self.names for label in structure[1]), "not one label for every word")
            total += sum(self.labels[h][m][self.names.index(label)] for m, h, label in zip(words, heads, structure[1]))
        for h in range(self.n + 1):
            g = heads[h - 1] if h else None
            for side in ("left", "right") if h else ("right",):
                mods = [m for m in words if heads[m - 1] == h and (m < h) == (side == "left")]
                total += self.side(g, h, side, mods[::-1] if side == "left" else mods)
        demand(total != NO, "something in it is forbidden")
        return total

    def side(self, g, h, side, mods):
        """What a head gets for its modifiers on a side, nearest first, besides the arcs."""
        total, before, last = 0, h, h
        for m in mods:
            total += self.step(g, h, before, last, m)
            before, last = last, m
        moves, finals = self.machines.get((h, side), (None, None))
        state = 0
        for m in mods if moves is not None else ():
            if (state, m) not in moves:
                return NO
            state, weight = moves[state, m]
            total += weight
        return total + self.stop(g, h, last) + (finals[state] if finals else 0)

    def step(self, g, h, before, last, m):
        total = self.part("siblings", h, last, m) + (self.part("trisiblings", h, before, last, m) if last != h else 0)
        if g is not None:
            total += self.part("grandparents", g, h, m) + self.part("grandsiblings", g, h, last, m)
        return total

    def stop(self, g, h, last):
        return self.part("stops", h, last) + (self.part("outermost", g, h, last) if g is not None and last != h else 0)

    def bound(self, certificate, claimed):
        every = {arc for arc, score in self.arcs.items() if score != NO and self.worth(*arc) != NO}
        kind = certificate["kind"]
        if kind == "cut-duals":
            return self.cuts(certificate)
        if kind == "dynamic-program":
            return self.chart()
        return self.within(certificate, every, frozenset())

    def cuts(self, certificate):
        """Edmonds: a tree has an arc into every set of words; if no arc scores more than the sets that it enters, no tree does."""
        demand(not self.tables and not self.machines, "cuts say nothing of larger parts")
        sets, values = [frozenset(words) for words in certificate["sets"]], wholes(certificate["values"], self.unit)
        demand(len(sets) == len(values) and NO not in values, "not one value for every set")
        for words, value in zip(sets, values):
            demand(words and all(type(w) is int and 1 <= w <= self.n for w in words), "a set of something else than words")
            demand(value <= 0 or len(words) == 1 or (self.single and len(words) == self.n), "a reward for what may be entered twice")
        for (h, m), score in self.arcs.items():
            if score != NO:
                room = sum(value for words, value in zip(sets, values) if m in words and h not in words)
                demand(self.worth(h, m) <= room, f"the arc {h} -> {m} scores more than its sets")
        return sum(values)

    def chart(self):
        """The best projective tree, by a dynamic program over heads, their heads, and their last modifiers."""
        demand(self.projective, "a dynamic program says nothing of trees whose arcs cross")
        if "trisiblings" in self.tables or self.machines:
            raise Unknown("a dynamic program over three siblings, or automata")
        n, grand = self.n, any(name in self.tables for name in OF_HEADS)
        heads_of = {m: [h for h in range(n + 1) if self.worth(h, m) != NO] for m in range(1, n + 1)}

        @lru_cache(None)
        def ended(g, h, way, end):
            """A side of h that covers all words up to end, exactly."""
            return max((taken(g, h, way, s, end) + self.stop(g, h, s) for s in towards(h, end, way)), default=NO)

        @lru_cache(None)
        def taken(g, h, way, s, end):
            """The same with s as its last modifier, h for none."""
            if s == h:
                return 0 if end == h else NO
            if h not in heads_of[s]:
                return NO
            above = h if grand else None
            outer = ended(above, s, way, end)
            best = NO
            for last in range(h, s, way):  # the words after what it covers are below s
                for reach in range(last, s, way):
                    before = taken(g, h, way, last, reach)
                    if before != NO and (h or not self.single or last == h):
                        gain = self.step(g, h, None, last, s) + ended(above, s, -way, reach + way)
                        best = max(best, before + gain)
            return best + self.worth(h, s) + outer

        def towards(h, end, way):
            return range(h, end + way, way)

        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(1 << 20)  # for as long as it is needed: files that are nested too deeply must go on being refused
        try:
            return ended(None, 0, 1, n) if n else self.stop(None, 0, 0)
        finally:
            sys.setrecursionlimit(usual)

    def within(self, certificate, arcs, required):
        """Of trees of these arcs that have the required ones."""
        kind = certificate["kind"]
        if kind == "head-prices":
            if self.n == 0:
                return self.side(None, 0, "right", [])
            down, up = self.prices(certificate)
            return self.tree(down, up, arcs) + sum(self.head(down, up, arcs, required, h) for h in range(self.n + 1))
        if kind == "screened":
            threshold = whole(certificate["threshold"], self.unit)
            left = self.screened(certificate["prices"], threshold, arcs, required)
            return max(threshold, self.within(certificate["rest"], left, required))
        if kind == "leaves":
            cover(certificate["leaves"], (self.n + 1) ** 2)
            return max(self.leaf(leaf, set(arcs), set(required)) for leaf in certificate["leaves"])
        raise Unknown(f"certificate {kind} of trees")

    def leaf(self, leaf, arcs, required):
        for part, inside in leaf["fixed"]:
            h, m = divmod(part, self.n + 1)
            if inside:
                required.add((h, m))
                arcs -= {(other, m) for other in range(self.n + 1) if other != h}
            else:
                arcs.discard((h, m))
        return NO if required - arcs else self.within(leaf["certificate"], arcs, frozenset(required))

    def prices(self, certificate):
        arcs = [divmod(arc, self.n + 1) for arc in certificate["arcs"]]
        down, up = (wholes(certificate[name], self.unit) for name in ("down", "up"))
        demand(len(arcs) == len(set(arcs)) == len(down) == len(up), "not one price for every arc")
        demand(not {NO, -NO} & {*down, *up}, "a price that is no number")
        return dict(zip(arcs, down)), dict(zip(arcs, up))

    @property
    def asks(self):
        return any(name in self.tables for name in OF_HEADS)

    def tree(self, down, up, arcs):
        """What a tree gets, which takes the arcs with the best prices."""
        weight = {arc: down.get(arc, 0) + (up.get(arc, 0) if self.asks else 0) for arc in arcs}
        if not self.projective:
            return arborescence(weight, self.n, self.single)
        alone = Trees({"arcs": [[0] * (self.n + 1)] * (self.n + 1), "projective": True, "single_root": self.single}, 1)
        alone.arcs = {arc: weight.get(arc, NO) for arc in self.arcs}
        return alone.chart()

    def head(self, down, up, arcs, required, h):
        """What head h gets for its best choice of modifiers, and of its own head if it asks for it."""
        choices = [g for g in range(self.n + 1) if (g, h) in arcs] if h and self.asks else [None]
        best = NO
        for g in choices:
            total = -up.get((g, h), 0) if g is not None else 0
            for side in ("left", "right") if h else ("right",):
                mods = range(h - 1, 0, -1) if side == "left" else range(h + 1, self.n + 1)
                total += self.choice(g, h, side, [m for m in mods if (h, m) in arcs], down, required)
            best = max(best, total)
        return best

    def choice(self, g, h, side, mods, down, required):
        moves, finals = self.machines.get((h, side), (None, None))
        best = {(0, h, h): 0}  # state, the modifier before the last, the last
        for m in mods:
            may = g is None or (g != m and (not self.projective or not min(h, m) < g < max(h, m)))
            new = {}
            for (state, before, last), value in best.items():
                if not may or (h == 0 and self.single and last != h) or (moves is not None and (state, m) not in moves):
                    continue
                after, weight = moves[state, m] if moves is not None else (0, 0)
                gain = self.worth(h, m) - down.get((h, m), 0) + weight + self.step(g, h, before, last, m)
                key = after, last, m
                new[key] = max(new.get(key, NO), value + gain)
            best = new if (h, m) in required else {**best, **new}
        ends = (
            value + self.stop(g, h, last) + (finals[state] if finals else 0) for (state, _, last), value in best.items() if h or last != h
        )
        return max(ends, default=NO)

    def screened(self, prices, threshold, arcs, required):
        """The arcs that a tree above the threshold may have: tree, head and modifier lose too much by the others."""
        down, up = self.prices(prices)
        heads = [self.head(down, up, arcs, required, h) for h in range(self.n + 1)]
        tree = self.tree(down, up, arcs)
        total, left = tree + sum(heads), set()
        if total == NO:
            return arcs
        for h, m in arcs:
            only = {arc for arc in arcs if arc[1] != m or arc[0] == h}
            bound = total - heads[h] + self.head(down, up, arcs, required | {(h, m)}, h)
            bound += self.head(down, up, only, required, m) - heads[m]
            if bound > threshold and bound - tree + self.tree(down, up, only) > threshold:
                left.add((h, m))
        return left


def entries(table, order, index=()):
    if order == 0:
        yield index, table
    else:
        for i, below in enumerate(table):
            yield from entries(below, order - 1, (*index, i))


def arborescence(weight, n, single):
    """The weight of a best tree (Chu & Liu 1965, Edmonds 1967); with a single root, arcs from the root cost more than all others."""
    cost = 1 + 2 * sum(map(abs, weight.values())) if single else 0
    nodes = {m: {h: w - (0 if h else cost) for (h, k), w in weight.items() if k == m} for m in range(1, n + 1)}
    total, fresh = 0, n + 1
    while True:
        chosen = {}
        for node, into in nodes.items():
            if not into:
                return NO
            head = max(into, key=into.get)
            best = into[head]
            total += best
            nodes[node] = {h: w - best for h, w in into.items()}
            chosen[node] = head
        cycle = None
        for start in chosen:
            walk = []
            while start and start not in walk:
                walk.append(start)
                start = chosen[start]
            if start:
                cycle = set(walk[walk.index(start) :])
                break
        if cycle is None:
            break
        entering = {}
        for node in cycle:
            for h, w in nodes.pop(node).items():
                if h not in cycle:
                    entering[h] = max(entering.get(h, w), w)
        for into in nodes.values():
            leaving = [into.pop(h) for h in cycle if h in into]
            if leaving:
                into[fresh] = max(leaving)
        nodes[fresh] = entering
        fresh += 1
    return NO if single and total + cost <= -cost // 2 else total + cost


# ----------------------------------------------------------------------------------------------------------------- label sequences


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

            def same(t, state, a):
                if t not in places:
                    return 0 if kind == "spans" else state
                return fields[a] if state == 0 or t in first or state == fields[a] else None

            self.run = same
        elif kind in ("and", "or", "not"):
            parts = [Rule(part, names, n) for part in given]
            self.first = tuple(part.first for part in parts)
            self.run = lambda t, state, a: tuple(part.step(t, s, a) for part, s in zip(parts, state))
            join = {"and": all, "or": any, "not": lambda found: not all(found)}[kind]
            self.final = lambda state: join([s is not None and part.final(s) for part, s in zip(parts, state)])
        else:
            raise Unknown(f"constraint {kind}")

    def step(self, t, state, a):
        return None if state is None else self.run(t, state, a)

    def accepts(self, y):
        state = self.first
        for t, a in enumerate(y):
            state = self.step(t, state, a)
        return state is not None and self.final(state)


# --------------------------------------------------------------------------------------------------------------------- hypergraphs


class Hypergraph:
    """A structure is the list of its hyperedges; rows of constraints are whole numbers."""

    def __init__(self, value, unit):
        self.unit, self.root, self.edges = unit, value["root"], value["edges"]
        self.scores = [whole(edge.get("score", 0.0), unit) for edge in self.edges]
        self.into = {}
        for e, edge in enumerate(self.edges):
            self.into.setdefault(edge["head"], []).append(e)
        self.rows = []
        for row in value.get("constraints", []):
            sign = -1 if row["sense"] == ">=" else 1
            parts = {int(e): sign * whole(c, 1.0) for e, c in row["parts"].items()}
            self.rows.append((parts, row["sense"] == "=", sign * whole(row["limit"], 1.0)))

    def score(self, structure):
        demand(isinstance(structure, list) and all(type(e) is int and 0 <= e < len(self.edges) for e in structure), "not hyperedges")
        by_head = {self.edges[e]["head"]: e for e in structure}
        demand(len(by_head) == len(structure), "two hyperedges into one vertex")
        needed, waiting = set(), [self.root]
        while waiting:
            v = waiting.pop()
            demand(v in by_head or v not in self.into, f"vertex {v} has no hyperedge")
            if v in by_head:
                demand(v not in needed, "a vertex twice")
                needed.add(v)
                waiting += self.edges[by_head[v]]["tail"]
        demand(len(needed) == len(structure), "hyperedges that the root does not need")
        for parts, equal, limit in self.rows:
            total = sum(parts.get(e, 0) for e in structure)
            demand(total == limit if equal else total <= limit, "a constraint is broken")
        total = sum(self.scores[e] for e in structure)
        demand(total != NO, "something in it is forbidden")
        return total

    def best(self, scores):
        found = {}
        waiting = [self.root]
        while waiting:
            v = waiting[-1]
            below = {t for e in self.into.get(v, []) for t in self.edges[e]["tail"] if t not in found}
            if below:
                waiting += below
                demand(len(waiting) <= 4 * len(self.edges) * (len(self.into) + 1), "a cycle")
                continue
            waiting.pop()
            worth = [scores[e] + sum(found[t] for t in self.edges[e]["tail"]) for e in self.into.get(v, [])]
            found[v] = max(worth) if worth else 0
        return found[self.root]

    def bound(self, certificate, claimed):
        return self.within(certificate, self.scores)

    def within(self, certificate, scores):
        kind = certificate["kind"]
        if kind == "dynamic-program":
            return self.best(scores)
        if kind == "multipliers":
            prices = wholes(certificate["values"], self.unit)
            demand(len(prices) == len(self.rows) and not {NO, -NO} & set(prices), "not one multiplier for every constraint")
            demand(all(equal or u >= 0 for u, (_, equal, _) in zip(prices, self.rows)), "a multiplier of the wrong sign")
            paid = [score - sum(u * parts.get(e, 0) for u, (parts, _, _) in zip(prices, self.rows)) for e, score in enumerate(scores)]
            dual = self.best(paid) + sum(u * limit for u, (_, _, limit) in zip(prices, self.rows))
            finite = [abs(score) for score in self.scores if score != NO]
            step = 0
            for score in finite:
                step |= score
            step = step & -step or 1  # no score lies between its multiples
            return dual if dual == NO else dual // step * step
        if kind == "unsatisfiable":
            demand(0 <= certificate["row"] < len(self.rows), "a constraint that does not exist")
            parts, equal, limit = self.rows[certificate["row"]]
            least = -self.best([NO if score == NO else -parts.get(e, 0) for e, score in enumerate(scores)])
            most = self.best([NO if score == NO else parts.get(e, 0) for e, score in enumerate(scores)])
            return NO if least > limit or (equal and most < limit) else self.best(scores)
        if kind == "leaves":
            cover(certificate["leaves"], len(self.edges))
            return max(self.within(leaf["certificate"], self.left(scores, leaf["fixed"])) for leaf in certificate["leaves"])
        raise Unknown(f"certificate {kind} of hypergraphs")

    def left(self, scores, fixed):
        left = list(scores)
        for part, inside in fixed:
            for e in self.into[self.edges[part]["head"]] if inside else [part]:
                if not inside or e != part:
                    left[e] = NO
        return left


# ------------------------------------------------------------------------------------------------------------------------ all kinds

KINDS = {"dependency": Trees, "sequence": Labels, "hypergraph": Hypergraph}


def check(problem, solution):
    """Raises Wrong with the first claim that does not hold, Unknown with what is not checked here."""
    demand(problem.get("format") == "zerogap-problem" and problem.get("version") == 1, "not a problem of version 1")
    demand(solution.get("format") == "zerogap-solution" and solution.get("version") == 1, "not a solution of version 1")
    if problem["kind"] not in KINDS:
        raise Unknown("problems of the kind {}".format(problem["kind"]))
    unit = problem["resolution"]
    demand(isinstance(unit, float) and unit > 0.0, "no resolution")
    known = KINDS[problem["kind"]](problem, unit)
    score, bound = (whole(solution[name], unit) for name in ("score", "bound"))
    found = NO if solution["structure"] is None else known.score(solution["structure"])
    demand(found == score, f"the structure scores {found}, not {score} as claimed")
    demand(bound >= score, "the bound is below the score")
    demand((bound == score) == (solution["status"] == "optimal"), "the status is {}".format(solution["status"]))
    proven = known.bound(solution["certificate"], bound)
    demand(proven <= bound, f"the certificate proves {proven}, not {bound} as claimed")
    return bound == score


def solutions(paths):
    if len(paths) == 2:
        with open(paths[0], encoding="utf-8") as problem, open(paths[1], encoding="utf-8") as solution:
            yield paths[1], {"problem": json.load(problem), "solution": json.load(solution)}
        return
    with (gzip.open if paths[0].endswith(".gz") else open)(paths[0], "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield f"{paths[0]}, line {number}", json.loads(line)


def main(paths):
    if len(paths) not in (1, 2):
        print(__doc__)
        return 2
    hold = optimal = wrong = unknown = 0
    for where, value in solutions(paths):
        try:
            optimal += check(value["problem"], value["solution"])
            hold += 1
        except Wrong as error:
            wrong += 1
            print(f"{where} does not hold: {error}")
        except Unknown as error:
            unknown += 1
            print(f"{where} was not checked: {error} is not known here")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            wrong += 1
            print(f"{where} does not hold: it is not of the form of a solution ({type(error).__name__}: {error})")
    print(f"{hold} solutions hold, {optimal} of them optimal; {wrong} do not hold; {unknown} were not checked")
    return 1 if wrong else 3 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
