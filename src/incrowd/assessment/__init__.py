"""The whole journey: a table in, a decision out."""

from incrowd.assessment.api import assess
from incrowd.assessment.comparison import compare
from incrowd.assessment.result import SCHEMA, Assessment
from incrowd.assessment.roles import Roles, propose_roles
from incrowd.assessment.sections.knowledge import Knowledge
from incrowd.assessment.sections.leaks import Leaks
from incrowd.assessment.sections.protection import Protection
from incrowd.assessment.statements import Statement, statements
from incrowd.assessment.verdict import Verdict
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
    "compare",
    "propose_roles",
    "statements",
]
