"""Hypergraphs with linear constraints."""

from zerogap.proof.standalone.numbers import NO, Unknown, cover, demand, whole, wholes


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
        return self.inside(scores)[self.root]

    def inside(self, scores):
        """The best of every vertex that the root may need, what is below a vertex before it."""
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
        return found

    def bound(self, certificate, claimed):
        if certificate["kind"] == "signatures":
            return max(claimed, self.above(self.prices(certificate), claimed))
        return self.within(certificate, self.scores)

    def within(self, certificate, scores):
        kind = certificate["kind"]
        if kind == "dynamic-program":
            return self.best(scores)
        if kind == "multipliers":
            prices = self.prices(certificate)
            dual = self.best(self.paid(prices, scores)) + self.limits(prices)
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

    def prices(self, certificate):
        prices = wholes(certificate["values"], self.unit)
        demand(len(prices) == len(self.rows) and not {NO, -NO} & set(prices), "not one multiplier for every constraint")
        demand(all(equal or u >= 0 for u, (_, equal, _) in zip(prices, self.rows)), "a multiplier of the wrong sign")
        return prices

    def paid(self, prices, scores):
        return [score - sum(u * parts.get(e, 0) for u, (parts, _, _) in zip(prices, self.rows)) for e, score in enumerate(scores)]

    def limits(self, prices):
        return sum(u * limit for u, (_, _, limit) in zip(prices, self.rows))

    def above(self, prices, claimed):
        """The best score above the claimed bound that satisfies every row, by what every row sums to (Rush 2014, section 7.4)."""
        paid = self.paid(prices, self.scores)
        inside = self.inside(paid)
        around = dict.fromkeys(inside, NO)
        around[self.root] = self.limits(prices)
        for v in reversed(list(inside)):
            for e in self.into.get(v, []):
                tail = self.edges[e]["tail"]
                for k, t in enumerate(tail):
                    others = sum(inside[other] for i, other in enumerate(tail) if i != k)
                    around[t] = max(around[t], around[v] + paid[e] + others)
        found, count = {}, 0
        for v in inside:
            own = found[v] = {} if v in self.into else {(0,) * len(self.rows): 0}
            for e in self.into.get(v, []) if around[v] != NO else []:
                pieces = [([parts.get(e, 0) for parts, _, _ in self.rows], self.scores[e])] if self.scores[e] != NO else []
                for t in self.edges[e]["tail"]:
                    pieces = [([a + b for a, b in zip(one, other)], x + y) for one, x in pieces for other, y in found[t].items()]
                for sums, score in pieces:
                    if score - sum(u * total for u, total in zip(prices, sums)) + around[v] > claimed:
                        own[tuple(sums)] = max(own.get(tuple(sums), NO), score)
            count += len(own)
            if count > 2_000_000:
                raise Unknown("a search of more than two million pieces")
        ends = (
            score
            for sums, score in found[self.root].items()
            if all(total == limit if equal else total <= limit for total, (_, equal, limit) in zip(sums, self.rows))
        )
        return max((score for score in ends if score > claimed), default=NO)

    def left(self, scores, fixed):
        left = list(scores)
        for part, inside in fixed:
            for e in self.into[self.edges[part]["head"]] if inside else [part]:
                if not inside or e != part:
                    left[e] = NO
        return left
