"""Dependency trees."""

import sys
from functools import lru_cache

from zerogap.proof.standalone.factors import concerns_factors, factor_bound
from zerogap.proof.standalone.numbers import NO, Unknown, cover, demand, whole, wholes

PARTS = {"siblings": 3, "stops": 2, "grandparents": 3, "outermost": 3, "grandsiblings": 4, "trisiblings": 4}
OF_HEADS = ("grandparents", "outermost", "grandsiblings")


class Trees:
    """Heads of words 1 to n; token 0 is the root. `label[h, m]` is the best label of an arc, by its score."""

    def __init__(self, value, unit):
        self.value, self.unit, self.projective, self.single = value, unit, value.get("projective", False), value.get("single_root", True)
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

        self.factors = [([tuple(arc) for arc in factor["arcs"]], whole(factor["score"], unit)) for factor in value.get("factors", [])]
        for arcs, _ in self.factors:
            demand(arcs and all(arc in self.arcs for arc in arcs), "a factor of arcs that do not exist")

    def without_factors(self, unit):
        """The same in another unit, without factors and labels: whoever asks gives the arcs their scores."""
        return Trees({key: entry for key, entry in self.value.items() if key not in ("factors", "labels", "label_names")}, unit)

    def possible(self):
        return {arc for arc, score in self.arcs.items() if score != NO and self.worth(*arc) != NO}

    def every_score(self):
        yield from self.arcs.values()
        yield from (score for _, score in self.factors)
        for table in self.tables.values():
            yield from table.values()
        for moves, finals in self.machines.values():
            yield from (weight for _, weight in moves.values())
            yield from finals
        if self.labels:
            yield from (score for _, score in entries(self.labels, 3))

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
        total += sum(score for arcs, score in self.factors if all(heads[m - 1] == h for h, m in arcs))
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
        kind = certificate["kind"]
        if self.factors or concerns_factors(certificate):
            return factor_bound(self, certificate)
        if kind == "cut-duals":
            return self.cuts(certificate)
        if kind == "dynamic-program":
            return self.chart()
        return self.within(certificate, self.possible(), frozenset())

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
