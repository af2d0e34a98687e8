"""Factors of trees: their scores are shared out among their arcs, and what is left is a problem without factors.

Qian & Liu 2013, section 3.2. A positive factor gives its arcs shares of at least 0 that sum to its score. A negative one gives each of
its r arcs w, from its score to 0, and -(r - 1) w once. For two words m and s, the heads k of s get any shares b(k), and those of m get
max_k theta(h, k) - b(k), where theta is the score of both heads together.
"""

from math import gcd

from zerogap.proof.standalone.numbers import NO, Unknown, cover, demand, real, whole


def concerns_factors(certificate):
    if certificate["kind"] == "leaves" and certificate["leaves"]:
        return concerns_factors(certificate["leaves"][0]["certificate"])
    return certificate["kind"] in ("factor-shares", "narrowed")


def factor_bound(trees, certificate):
    shares = Shares(trees)
    return shares.within(certificate, {arc for arc, score in shares.worth.items() if score != NO})


class Shares:
    """Trees whose factors have two arcs or more, all different; factors of one arc are in `worth`."""

    def __init__(self, trees):
        self.trees, self.tokens = trees, range(trees.n + 1)
        self.worth = {arc: trees.worth(*arc) for arc in trees.possible()}
        together = {}
        for arcs, score in trees.factors:
            if len(arcs) == 1:
                self.worth[arcs[0]] = self.worth.get(arcs[0], NO) + score
            else:
                key = tuple(sorted(arcs, key=lambda arc: arc[1]))
                together[key] = together.get(key, 0) + score
        self.factors = {arcs: score for arcs, score in together.items() if score and self.can_hold(arcs)}
        self.grain = 0  # divides the score of every tree
        for score in trees.every_score():
            self.grain = self.grain if score == NO else gcd(self.grain, score)
        self.grain = self.grain or 1

    def can_hold(self, arcs):
        """Whether some tree may have all these arcs."""
        head_of = {m: h for h, m in arcs}
        if len(head_of) < len(arcs) or (self.trees.single and list(head_of.values()).count(0) > 1):
            return False
        while head_of:  # words whose heads are not among them, again and again: what is left are cycles
            top = [m for m, h in head_of.items() if h not in head_of]
            if not top:
                return False
            for m in top:
                del head_of[m]
        return not self.trees.projective or not any(cross(a, b) for a in arcs for b in arcs)

    def within(self, certificate, allowed):
        """Of trees of allowed arcs."""
        kind = certificate["kind"]
        if kind == "factor-shares":
            return self.best(certificate, self.shared(certificate, allowed), allowed)
        if kind == "narrowed":
            threshold = real(certificate["threshold"], self.trees.unit)
            return max(threshold, self.within(certificate["rest"], self.narrowed(certificate, threshold, allowed)))
        if kind == "leaves":
            cover(certificate["leaves"], len(self.tokens) ** 2)
            return max(self.within(leaf["certificate"], self.left_in(leaf, set(allowed))) for leaf in certificate["leaves"])
        raise Unknown(f"certificate {kind} of factors")

    def left_in(self, leaf, allowed):
        for part, inside in leaf["fixed"]:
            h, m = divmod(part, len(self.tokens))
            allowed -= {(other, m) for other in self.tokens if other != h} if inside else {(h, m)}
        return allowed

    def narrowed(self, certificate, threshold, allowed):
        """What is left without the arcs that no tree above the threshold has."""
        demand(all(type(arc) is int and 0 <= arc < len(self.tokens) ** 2 for arc in certificate["arcs"]), "an arc that does not exist")
        gone = allowed & {divmod(arc, len(self.tokens)) for arc in certificate["arcs"]}
        shared = self.shared(certificate["shares"], allowed)
        for word in {m for _, m in gone}:
            only = {arc for arc in allowed if arc[1] != word or arc in gone}
            demand(self.best(certificate["shares"], shared, only) <= threshold, f"an arc into word {word} that may be above the threshold")
        return allowed - gone

    def best(self, certificate, shared, only):
        """The most that trees of only these arcs score, with their shares and the constant."""
        if shared is None:
            return NO
        weights, constant, ratio = shared
        rest, plain = certificate["rest"], self.trees.without_factors(certificate["unit"])
        demand(not concerns_factors(rest), "shares of factors twice")
        plain.arcs = {arc: weights[arc] if arc in only and arc in weights else NO for arc in plain.arcs}
        if rest["kind"] == "dynamic-program" and not plain.projective and not plain.tables and not plain.machines:
            bound = plain.tree(plain.arcs, {}, {arc for arc, weight in plain.arcs.items() if weight != NO})
        else:
            bound = plain.bound(rest, None)
        return bound if bound == NO else (bound + constant) // (self.grain * ratio) * self.grain

    def shared(self, certificate, allowed):
        """Arcs with their shares, the constant, and how many units of the certificate are one of the problem; None if no tree is left."""
        demand(certificate["kind"] == "factor-shares", "no shares")
        ratio = whole(self.trees.unit, certificate["unit"])
        demand(ratio > 0, "a unit that is not part of the resolution")
        left = self.forced(allowed)
        if left is None:
            return None
        weights, constant = {arc: self.worth[arc] * ratio for arc in left}, 0
        active = {arcs: score * ratio for arcs, score in self.factors.items() if all(arc in left for arc in arcs)}
        demand(all(type(share) is int for share in certificate["shares"]), "a share that is no whole number")
        shares, pairs = iter(certificate["shares"]), set()

        def take(count):
            some = [share for _, share in zip(range(count), shares)]
            demand(len(some) == count, "too few shares")
            return some

        for number in certificate["words"]:
            m, s = divmod(number, len(self.tokens))
            demand(m in self.tokens[1:] and s in self.tokens[1:] and m != s, "words that do not exist")
            demand((m, s) not in pairs, "two words twice")
            pairs |= {(m, s), (s, m)}
            given = dict(zip(heads := [k for k in self.tokens if (k, s) in left], take(len(heads))))
            for h in [h for h in self.tokens if (h, m) in left]:
                weights[h, m] += max((self.both((h, m), (k, s), active) - given[k] for k in heads), default=NO)
            for k in heads:
                weights[k, s] += given[k]
        for arcs, score in active.items():
            if len(arcs) == 2 and (arcs[0][1], arcs[1][1]) in pairs:
                continue
            parts = take(len(arcs)) if score > 0 else take(1) * len(arcs)
            if score > 0:
                demand(min(parts) >= 0 and sum(parts) == score, "shares that are not the score of a factor")
            else:
                demand(score <= parts[0] <= 0, "a share that is not between 0 and the score of a factor")
                constant -= (len(arcs) - 1) * parts[0]
            for arc, share in zip(arcs, parts):
                weights[arc] += share
        demand(next(shares, None) is None, "too many shares")
        return weights, constant, ratio

    def both(self, one, other, active):
        """The score of two arcs together."""
        if not self.can_hold((one, other)):
            return NO
        return active.get((one, other) if one[1] < other[1] else (other, one), 0)

    def forced(self, allowed):
        """Without the arcs that would complete a forbidden factor, all others of which are sure; None if one is complete."""
        left, again = set(allowed), True
        while again:
            again = False
            counts = [sum((h, m) in left for h in self.tokens) for m in self.tokens]
            if 0 in counts[1:]:
                return None
            for arcs, score in self.factors.items():
                if score == NO and all(arc in left for arc in arcs):
                    unsure = [arc for arc in arcs if counts[arc[1]] > 1]
                    if not unsure:
                        return None
                    if len(unsure) == 1:
                        left.discard(unsure[0])
                        counts[unsure[0][1]] -= 1
                        again = True
        return left


def cross(one, other):
    (a, b), (c, d) = sorted(one), sorted(other)
    return a < c < b < d
