"""The whole journey: a table in, a decision out."""

from incrowd.assess.journey import assess
from incrowd.assess.knowledge import Knowledge
from incrowd.assess.leaks import Leaks
from incrowd.assess.protection import Protection
from incrowd.assess.result import SCHEMA, Assessment
from incrowd.assess.roles import Roles, propose_roles
from incrowd.assess.statements import Statement, statements
from incrowd.assess.verdict import Verdict
from incrowd.recipients import RECIPIENTS

__all__ = [
    "RECIPIENTS",
    "SCHEMA",
    "Assessment",
    "Knowledge",
    "Leaks",
    "Protection",
    "Roles",
    "Statement",
    "Verdict",
    "assess",
    "propose_roles",
    "statements",
]
