"""The public names of the room."""

from incrowd.assessment.api import assess as assess
from incrowd.assessment.api import assess_question as assess_question
from incrowd.assessment.api import judge_release as judge_release
from incrowd.assessment.comparison import compare as compare
from incrowd.assessment.question import Question as Question
from incrowd.assessment.result import SCHEMA as SCHEMA
from incrowd.assessment.result import Assessment as Assessment
from incrowd.assessment.roles import Roles as Roles
from incrowd.assessment.roles import propose_roles as propose_roles
from incrowd.assessment.sections.knowledge import Knowledge as Knowledge
from incrowd.assessment.sections.leaks import Leaks as Leaks
from incrowd.assessment.sections.protection import Protection as Protection
from incrowd.assessment.sections.section import Statement as Statement
from incrowd.assessment.settings_file import read_question as read_question
from incrowd.assessment.verdict import Verdict as Verdict
from incrowd.recipients import RECIPIENTS as RECIPIENTS
