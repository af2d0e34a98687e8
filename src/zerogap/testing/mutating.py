"""Small changes to a module that a careful reader would notice: each is one mutant.

Comparisons move by one case, checks are dropped, signs and minima turn around, numbers grow by one. Messages, annotations and documentation
stay as they are. A mutant is named by its function and by what is read there before and after, so that lines may move.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

FUTURE = 0x1000000  # annotations are not evaluated, as in every module of ours
COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult, ast.BitXor: ast.BitOr,
}  # fmt: skip
TURNED = {
    "min": "max",
    "max": "min",
    "all": "any",
    "any": "all",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
}
DROPPED = {"abs", "settled", "sorted", "reversed"}  # calls that give something like their argument back


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change to a statement at the top of a module, and how it is made: `change` gives back how it is undone."""

    module: str
    function: str  # as it is called in the module; "" for what is no function
    text: str  # before -> after
    line: int
    top: int  # the statement of the module
    change: Callable[[], Callable[[], None]]

    @property
    def key(self) -> str:
        return f"{self.module} | {self.function} | {self.text}"


def shown(node: ast.AST | None) -> str:
    if isinstance(node, ast.If):
        return f"if {shown(node.test)}: ..."
    text = "pass" if node is None else " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else f"{text[:70]} ... {text[-25:]}"


def mutants_of(module: str, tree: ast.Module) -> Iterator[Mutant]:
    """All of a module, in the order of its lines."""
    seen: Counter[str] = Counter()
    for top, statement in enumerate(tree.body):
        for function, place, node, new in changes(statement, (tree.body, top), ""):
            text = f"{shown(node)} -> {shown(new)}"
            seen[f"{function} {text}"] += 1
            if (count := seen[f"{function} {text}"]) > 1:
                text += f" ({count})"
            yield Mutant(module, function, text, int(node.lineno), top, lambda place=place, new=new: put(place, new))  # type: ignore[misc]


def put(place: tuple[Any, Any], new: ast.AST) -> Callable[[], None]:
    holder, at = place
    if isinstance(holder, list):
        old = holder[at]
        holder[at] = new
        return lambda: holder.__setitem__(at, old)
    old = getattr(holder, at)
    setattr(holder, at, new)
    return lambda: setattr(holder, at, old)


Change = tuple[str, tuple[Any, Any], Any, Any]


def changes(node: Any, place: tuple[Any, Any], function: str) -> Iterator[Change]:
    """(function, where, what is there, what is put there) for a node and all that is in it."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        inner = f"{function}.{node.name}".lstrip(".")
        for i, statement in enumerate(node.body):
            if isinstance(node, ast.FunctionDef) or isinstance(statement, ast.FunctionDef):  # fields of classes stay
                yield from changes(statement, (node.body, i), inner)
        return
    if isinstance(node, ast.Import | ast.ImportFrom | ast.TypeAlias if hasattr(ast, "TypeAlias") else ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # documentation
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        zero = ast.copy_location(ast.Constant(0), node)
        yield from ((function, place, node, ast.copy_location(new, node)) for new in (zero, node.operand))
        return  # -2 for -1 is mostly a size that NumPy works out
    for new in replacements(node):
        yield function, place, node, ast.copy_location(ast.fix_missing_locations(new), node)
    if isinstance(node, ast.Raise):
        return  # its message
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "ctx"):
            continue
        if isinstance(node, ast.Call) and name == "func" and isinstance(value, ast.Name):
            continue
        if isinstance(value, list):
            for i, part in enumerate(value):
                if isinstance(part, ast.match_case):
                    if len(value) > 1:
                        never = ast.match_case(part.pattern, ast.Constant(False), part.body)
                        yield function, (value, i), located(part), located(never, part)
                    for j, statement in enumerate(part.body):
                        yield from changes(statement, (part.body, j), function)
                elif isinstance(part, ast.comprehension):
                    for j, test in enumerate(part.ifs):
                        yield function, (part.ifs, j), test, ast.copy_location(ast.Constant(True), test)
                        yield from changes(test, (part.ifs, j), function)
                    yield from changes(part.iter, (part, "iter"), function)
                elif isinstance(part, ast.keyword):
                    if part.arg in ("strict", "dtype", "kind"):  # says what is known, and how it is held
                        continue
                    yield from changes(part.value, (part, "value"), function)
                elif isinstance(part, ast.AST):
                    yield from changes(part, (value, i), function)
        elif isinstance(value, ast.AST):
            yield from changes(value, (node, name), function)


def located(case: ast.match_case, like: ast.match_case | None = None) -> ast.match_case:
    case.lineno = (like or case).pattern.lineno  # type: ignore[attr-defined]
    if case.guard is not None:
        ast.copy_location(case.guard, case.pattern)
    return case


def replacements(node: Any) -> Iterator[Any]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare(left, ops, comparators):
            for i, operator in enumerate(ops):
                changed = COMPARED[type(operator)]()
                yield ast.Compare(left, [*ops[:i], changed, *ops[i + 1 :]], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.If(_, body, orelse):
            if not (len(body) == 1 and isinstance(body[0], ast.Raise) and not orelse):  # else its `raise` is dropped
                yield ast.If(ast.Constant(True), body, orelse)
                yield ast.If(ast.Constant(False), body, orelse)
        case ast.IfExp(_, body, orelse):
            yield body
            yield orelse
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
            if isinstance(value, int) and value > 1:
                yield ast.Constant(value - 1)
        case ast.Call(ast.Name(name) as called, arguments, keywords):
            if name in TURNED:
                yield ast.Call(ast.Name(TURNED[name], called.ctx), arguments, keywords)
            if name in DROPPED and len(arguments) == 1 and not isinstance(arguments[0], ast.Starred | ast.GeneratorExp):
                yield arguments[0]
            if name == "plus" and len(arguments) == 2:
                yield ast.BinOp(arguments[0], ast.Add(), arguments[1])
            if name == "range":
                if len(arguments) == 1:
                    yield ast.Call(called, [ast.Constant(1), arguments[0]], [])
                at = min(len(arguments) - 1, 1)
                shorter = ast.BinOp(arguments[at], ast.Sub(), ast.Constant(1))
                yield ast.Call(called, [*arguments[:at], shorter, *arguments[at + 1 :]], [])
        case ast.Call(ast.Attribute(value, name, ctx), arguments, keywords):
            if name in TURNED:
                turned = keywords
                if name in ("max", "min"):  # `initial` belongs to one of the two
                    turned = [keyword for keyword in keywords if keyword.arg != "initial"]
                yield ast.Call(ast.Attribute(value, TURNED[name], ctx), arguments, turned)
            if name in ("abs", "copy", "sort") and isinstance(value, ast.Name | ast.Attribute) and (arguments or name == "copy"):
                yield arguments[0] if arguments else value
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
                yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
            yield ast.Pass()
        case ast.Assign([ast.Subscript() | ast.Attribute()], _):
            yield ast.Pass()
        case ast.Return(value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))


def code_of(statement: ast.stmt, function: str) -> CodeType:
    """The compiled code of a function in a statement at the top of a module; `function` is Class.name or name."""
    code = compile(ast.Module([statement], []), "<mutant>", "exec", flags=FUTURE, dont_inherit=True)
    for name in function.split(".")[: 2 if isinstance(statement, ast.ClassDef) else 1]:  # with what is defined inside
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
    return code
