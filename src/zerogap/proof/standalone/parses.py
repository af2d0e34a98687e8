"""Parses under a grammar and a tagger that must agree (Rush 2014, section 4.1)."""

from math import gcd

from zerogap.proof.standalone.numbers import NO, Unknown, cover, demand, wholes


class Parses:
    """A structure is [symbol, position], [symbol, child] or [symbol, left, right]."""

    def __init__(self, value, unit):
        self.unit, self.root, tags = unit, value["root"], value["tags"]
        self.tag_of = {symbol: tags.index(tag) for symbol, tag in (value.get("preterminals") or {tag: tag for tag in tags}).items()}
        self.size, self.rules, self.chains, self.score_of = len(tags), {}, {}, {}
        for *symbols, score in value["rules"]:
            demand(tuple(symbols) not in self.score_of, "a rule twice")
            self.score_of[tuple(symbols)] = score = wholes(score, unit)
            if score != NO:
                (self.rules if len(symbols) == 3 else self.chains).setdefault(symbols[1], []).append((symbols[0], symbols[2:], score))
        self.lexical = [dict(zip(self.tag_of, row)) for row in wholes(value["lexical"], unit)]
        self.n = len(self.lexical)
        self.emissions = wholes(value["emissions"], unit) if "emissions" in value else [[0] * self.size for _ in range(self.n)]
        for words, row in zip(self.lexical, self.emissions):  # what is impossible for one is not tried by the other
            for tag in range(self.size):
                if all(words[symbol] == NO for symbol, of in self.tag_of.items() if of == tag):
                    row[tag] = NO
            words.update({symbol: NO for symbol, tag in self.tag_of.items() if row[tag] == NO})
        self.grams, self.order, table = wholes(value["transitions"], unit), 0, value["transitions"]
        while isinstance(table, list):
            self.order, table = self.order + 1, table[0]

    def gram(self, tags):
        found = self.grams
        for tag in tags:
            found = found[tag]
        return found

    def score(self, structure):
        total, tags, waiting = 0, [], [structure]
        while waiting:
            node = waiting.pop()
            demand(isinstance(node, list) and len(node) in (2, 3), "not a tree")
            if len(node) == 2 and type(node[1]) is int:
                demand(node[1] == len(tags) < self.n, "words that are not in order")
                demand(node[0] in self.tag_of, "a word without a tag")
                total += self.lexical[len(tags)][node[0]] + self.emissions[len(tags)][self.tag_of[node[0]]]
                tags.append(self.tag_of[node[0]])
            else:
                total += self.score_of.get((node[0], *(child[0] for child in node[1:])), NO)
                waiting += node[:0:-1]
        demand(structure[0] == self.root and len(tags) == self.n, "a tree of something else")
        padded = [self.size] * (self.order - 1) + tags + [self.size]
        total += sum(self.gram(padded[i : i + self.order]) for i in range(len(tags) + 1))
        demand(total != NO, "something in it is forbidden")
        return total

    def bound(self, certificate, claimed):
        if certificate["kind"] == "dynamic-program":
            return self.together()
        every = [set(range(self.size)) for _ in range(self.n)]
        if certificate["kind"] != "leaves":
            return self.apart(certificate, every)
        cover(certificate["leaves"], self.n * self.size)
        return max(self.leaf(leaf, [set(one) for one in every]) for leaf in certificate["leaves"])

    def leaf(self, leaf, allowed):
        for part, inside in leaf["fixed"]:
            word, tag = divmod(part, self.size)
            allowed[word] = allowed[word] & {tag} if inside else allowed[word] - {tag}
        return self.apart(leaf["certificate"], allowed)

    def apart(self, certificate, allowed):
        """The parse pays for tags what the tagger receives."""
        if certificate["kind"] != "multipliers":
            raise Unknown("certificate {} of parses".format(certificate["kind"]))
        values = wholes(certificate["values"], self.unit)
        demand(len(values) == self.n * self.size and not {NO, -NO} & set(values), "not one price for every tag of every word")
        prices = [values[i * self.size : (i + 1) * self.size] for i in range(self.n)]
        boundary = (self.size,) * (self.order - 1)
        layer = {boundary: 0}
        for i in range(self.n):
            new = {}
            for before, value in layer.items():
                for tag in allowed[i]:
                    total = value + self.emissions[i][tag] + prices[i][tag] + self.gram((*before, tag))
                    after = (*before, tag)[1:]
                    new[after] = max(new.get(after, NO), total)
            layer = new
        tagging = max((value + self.gram((*before, self.size)) for before, value in layer.items()), default=NO)
        leaves = [
            {
                symbol: {((), ()): score - prices[i][self.tag_of[symbol]]}
                for symbol, score in words.items()
                if self.tag_of[symbol] in allowed[i]
            }
            for i, words in enumerate(self.lexical)
        ]
        dual = tagging + max(self.chart(leaves).values(), default=NO)
        step = 0  # no score lies between its multiples
        for score in self.every_score():
            step = step if score == NO else gcd(step, score)
        return dual if dual == NO else dual // (step or 1) * (step or 1)

    def every_score(self):
        waiting = [self.grams, self.emissions, [list(words.values()) for words in self.lexical], list(self.score_of.values())]
        while waiting:
            one = waiting.pop()
            if isinstance(one, list):
                waiting += one
            else:
                yield one

    def together(self):
        """The best parse whose pieces also know the tags before and after them."""
        leaves, before = [], {(self.size,) * (self.order - 1)}
        for i, words in enumerate(self.lexical):
            cell, after = {}, set()
            for symbol, score in words.items():
                tag = self.tag_of[symbol]
                for context in before:
                    total = score + self.emissions[i][tag] + self.gram((*context, tag))
                    if total != NO:
                        cell.setdefault(symbol, {})[context, (*context, tag)[1:]] = total
                        after.add((*context, tag)[1:])
            leaves.append(cell)
            before = after
        return max((value + self.gram((*after, self.size)) for (_, after), value in self.chart(leaves).items()), default=NO)

    def chart(self, leaves):
        """What the root may have over all words: contexts before and after it -> score."""
        best = {}
        for width in range(1, self.n + 1):
            for i in range(self.n - width + 1):
                j = i + width
                cell = {symbol: dict(contexts) for symbol, contexts in leaves[i].items()} if width == 1 else {}
                for split in range(i + 1, j):
                    for left, ones in best[i, split].items():
                        for parent, (right,), score in self.rules.get(left, ()):
                            if right in best[split, j]:
                                join(cell.setdefault(parent, {}), ones, best[split, j][right], score)
                best[i, j] = self.with_chains({symbol: {c: v for c, v in some.items() if v != NO} for symbol, some in cell.items()})
        return best[0, self.n].get(self.root, {})

    def with_chains(self, cell):
        """A rule with one child more in every round, until nothing gets better."""
        for _ in range(len(self.chains) + len(self.score_of) + 2):
            better = False
            for child in list(cell):
                for parent, _, score in self.chains.get(child, ()):
                    known = cell.setdefault(parent, {})
                    for contexts, value in list(cell[child].items()):
                        if value + score > known.get(contexts, NO):
                            known[contexts] = value + score
                            better = True
            if not better:
                return {symbol: contexts for symbol, contexts in cell.items() if contexts}
        raise Unknown("a cycle of rules that gains")


def join(into, ones, others, score):
    """Pieces side by side, the second after the tags that the first ends with."""
    by_context = {}
    for (before, after), value in others.items():
        by_context.setdefault(before, []).append((after, value))
    for (before, middle), value in ones.items():
        for after, more in by_context.get(middle, ()):
            total = value + more + score
            if total > into.get((before, after), NO):
                into[before, after] = total
