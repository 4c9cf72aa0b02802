"""Recursive descent over the subset of the query language that README.md names;
anything else is a syntax error, a 400.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.cosmos_emulator.refused import Refused, bad_request
from tests.cosmos_emulator.sql_lexer import Token, tokens
from tests.cosmos_emulator.sql_tree import (
    ArrayOf,
    Call,
    Exists,
    Expression,
    Listed,
    Literal,
    ObjectOf,
    Operation,
    Parameter,
    Query,
    Reference,
)
from tests.cosmos_emulator.sql_values import UNDEFINED

CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None, "UNDEFINED": UNDEFINED}
LEVELS = (
    ("??",),
    ("OR",),
    ("AND",),
    ("=", "!=", "<>", "<", ">", "<=", ">="),
    ("||",),
    ("+", "-"),
    ("*", "/", "%"),
)
"""Binary operators, the loosest first."""
COMPARISONS = 3
CLAUSES = (
    "FROM",
    "JOIN",
    "WHERE",
    "ORDER",
    "OFFSET",
    "LIMIT",
    "GROUP",
    "HAVING",
    "AS",
    "ASC",
    "DESC",
    "IN",
    "NOT",
    "BETWEEN",
    "AND",
    "OR",
)


@lru_cache(maxsize=512)
def parse(text: str) -> Query:
    """A query; 400 with the place when it is not one. The same object for the same text:
    not to be changed.
    """
    parser = Parser(text)
    query = parser.query()
    parser.expect_end()
    return query


class Parser:
    """A position in the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0

    def expect_end(self) -> None:
        """Nothing may be left."""
        if self._here.kind != "end":
            raise self._error()

    def query(self) -> Query:
        """SELECT and everything after it, up to the end or a closing bracket."""
        query = Query()
        self._words("SELECT")
        query.distinct = self._took("DISTINCT")
        if self._took("TOP"):
            query.top = self._primary()
        query.value = self._took("VALUE")
        if not query.value and self._took_sign("*"):
            query.select = []
        else:
            query.select = [self._selected()]
            while not query.value and self._took_sign(","):
                query.select.append(self._selected())
        if self._took("FROM"):
            self._from(query)
        if self._took("WHERE"):
            query.where = self._expression()
        if self._took("ORDER"):
            self._words("BY")
            self._order(query)
        if self._took("OFFSET"):
            query.offset = self._primary()
            self._words("LIMIT")
            query.limit = self._primary()
        return query

    def _from(self, query: Query) -> None:
        name = self._name()
        if self._took("IN"):
            query.alias, query.source = name, self._primary()
        else:
            self._took("AS")
            named = self._here.kind == "name" and not self._here.is_word(*CLAUSES)
            query.alias = self._name() if named else name
        while self._took("JOIN"):
            alias = self._name()
            self._words("IN")
            query.joins.append((alias, self._primary()))

    def _order(self, query: Query) -> None:
        if self._took("RANK"):
            query.rank = self._expression()
            return
        while True:
            expression = self._expression()
            descending = self._took("DESC")
            if not descending:
                self._took("ASC")
            query.order.append(Listed(expression, descending=descending))
            if not self._took_sign(","):
                return

    def _selected(self) -> Listed:
        expression = self._expression()
        name = ""
        if self._took("AS") or (self._here.kind == "name" and not self._here.is_word(*CLAUSES)):
            name = self._name()
        elif isinstance(expression, Reference):
            last = expression.steps[-1] if expression.steps else expression.alias
            name = last if isinstance(last, str) else ""
        return Listed(expression, name)

    def _expression(self) -> Expression:
        condition = self._binary(0)
        if not self._took_sign("?"):
            return condition
        yes = self._expression()
        self._sign(":")
        return Operation("?", (condition, yes, self._expression()))

    def _binary(self, level: int) -> Expression:
        if level == len(LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while True:
            operator = self._here.value.upper() if self._here.kind in ("name", "sign") else ""
            if operator in LEVELS[level]:
                self._at += 1
                left = Operation(
                    "!=" if operator == "<>" else operator, (left, self._binary(level + 1))
                )
            elif level == COMPARISONS and (membership := self._membership(left)) is not None:
                left = membership
            else:
                return left

    def _membership(self, left: Expression) -> Expression | None:
        negated = self._here.is_word("NOT") and self._tokens[self._at + 1].is_word("IN", "BETWEEN")
        if negated:
            self._at += 1
        membership: Expression | None = None
        if self._took("IN"):
            self._sign("(")
            membership = Operation("IN", (left, *self._list(")")))
        elif self._took("BETWEEN"):
            low = self._binary(COMPARISONS + 1)
            self._words("AND")
            membership = Operation("BETWEEN", (left, low, self._binary(COMPARISONS + 1)))
        return Operation("NOT", (membership,)) if membership is not None and negated else membership

    def _unary(self) -> Expression:
        if self._took("NOT"):
            return Operation("NOT", (self._binary(COMPARISONS),))
        if self._took_sign("-"):
            operand = self._unary()
            return (
                Literal(-operand.value)
                if isinstance(operand, Literal) and type(operand.value) in (int, float)
                else Operation("NEGATE", (operand,))
            )
        self._took_sign("+")
        return self._primary()

    def _primary(self) -> Expression:
        token = self._here
        self._at += 1
        if token.kind in ("string", "number"):
            return Literal(token.value)
        if token.kind == "parameter":
            return self._steps(Parameter(token.value))
        if token.value == "(":
            inner = self._expression()
            self._sign(")")
            return inner
        if token.value == "[":
            return ArrayOf(tuple(self._list("]")))
        if token.value == "{":
            return self._object()
        if token.kind != "name" or token.is_word(*CLAUSES):
            self._at -= 1
            raise self._error()
        if token.value.upper() in CONSTANTS:
            return Literal(CONSTANTS[token.value.upper()])
        if token.is_word("EXISTS"):
            return self._exists()
        if self._took_sign("("):
            return Call(token.value.upper(), tuple(self._list(")")))
        return self._steps(Reference(token.value))

    def _steps(self, start: Reference | Parameter) -> Expression:
        steps: list[Any] = []
        while True:
            if self._took_sign("."):
                steps.append(self._name())
            elif self._took_sign("["):
                inside = self._expression()
                self._sign("]")
                steps.append(inside.value if isinstance(inside, Literal) else inside)
            elif not steps:
                return start
            elif isinstance(start, Parameter):
                raise self._error()
            else:
                return Reference(start.alias, tuple(steps))

    def _exists(self) -> Expression:
        self._sign("(")
        inner = self.query()
        self._sign(")")
        return Exists(inner)

    def _object(self) -> Expression:
        members: list[tuple[str, Expression]] = []
        while not self._took_sign("}"):
            if members:
                self._sign(",")
            name = self._here.value
            if self._here.kind not in ("name", "string"):
                raise self._error()
            self._at += 1
            self._sign(":")
            members.append((name, self._expression()))
        return ObjectOf(tuple(members))

    def _list(self, closing: str) -> list[Expression]:
        expressions: list[Expression] = []
        while not self._took_sign(closing):
            if expressions:
                self._sign(",")
            expressions.append(self._expression())
        return expressions

    @property
    def _here(self) -> Token:
        return self._tokens[self._at]

    def _took(self, word: str) -> bool:
        if self._here.is_word(word):
            self._at += 1
            return True
        return False

    def _took_sign(self, sign: str) -> bool:
        if self._here.kind == "sign" and self._here.value == sign:
            self._at += 1
            return True
        return False

    def _words(self, *words: str) -> None:
        for word in words:
            if not self._took(word):
                raise self._error()

    def _sign(self, sign: str) -> None:
        if not self._took_sign(sign):
            raise self._error()

    def _name(self) -> str:
        if self._here.kind != "name":
            raise self._error()
        self._at += 1
        return str(self._tokens[self._at - 1].value)

    def _error(self) -> Refused:
        near = self._text[self._here.start : self._here.start + 20] or "the end"
        return bad_request(f"Syntax error, incorrect syntax near {near!r} at {self._here.start}")
