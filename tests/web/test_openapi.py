"""The OpenAPI document tells the truth: schemathesis asks every operation what the document allows, and what not."""

import os
from copy import deepcopy
from http.cookiejar import DefaultCookiePolicy

import httpx
import pytest
import requests
from hypothesis import HealthCheck, Phase, settings

pytest.importorskip("fastapi")
schemathesis = pytest.importorskip("schemathesis")

from incrowd.web.app import create_app  # noqa: E402

BEARER = {"Authorization": "Bearer a-token-for-tests-only"}
NOBODY = "0123456789abcdef"
# requests at the edges of a document: as many of an operation, then one in twenty-four of the hundreds of a large body
FIRST, STEP = (20, 24) if "INCROWD_CALLS" not in os.environ else (0, 1)


def document():
    app = create_app()
    app.state.server.close()
    return app.openapi()


DOCUMENT = document()
schema = schemathesis.openapi.from_dict(DOCUMENT)
schema.config.phases.coverage.enabled = False  # made below, when they are asked: both workers would make all of them
checks = schema.config.checks
# the document cannot say which columns a table has (400), how large a demo this server makes (413), which bytes are
# a table (415)
accepted, rejected = checks.positive_data_acceptance, checks.negative_data_rejection
accepted.expected_statuses = [*accepted.expected_statuses, "400", "413", "415"]
# 413: a request of megabytes is refused before it is read
rejected.expected_statuses = [*rejected.expected_statuses, "413"]


@schema.auth()
class Token:
    """What a script sends."""

    def get(self, case, context):
        return BEARER

    def set(self, case, data, context):
        case.headers.update(data)


@pytest.fixture(scope="module")
def known(base):
    """A table and a finished job whose names the examples use."""
    with httpx.Client(base_url=base, headers=BEARER, timeout=240, verify=False) as client:
        table = client.post("/api/v1/tables/open", json={"path": "people.csv"}).json()["id"]
        job = client.post(f"/api/v1/tables/{table}/leaks", json={"share": 0.1}).json()["id"]
        yield {"table_id": table, "job_id": job}
        client.delete("/api/v1/session")


@pytest.fixture(scope="module")
def connection():
    """One for all requests; it keeps no cookie, and asks the environment for no proxy."""
    with requests.Session() as session:
        session.trust_env = False
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        yield session


def ask(case, base, known, connection):
    """Send a request, and hold its answer against the document."""
    ends = case.method == "DELETE"  # what the other operations need is not removed
    if case.path_parameters:
        for name in known.keys() & case.path_parameters.keys():
            if case.meta.generation.mode == schemathesis.GenerationMode.POSITIVE:
                case.path_parameters[name] = NOBODY if ends else known[name]
    assert case.call_and_validate(base_url=base, headers=BEARER, session=connection).status_code < 500


@schema.parametrize()
@settings(
    max_examples=3, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck)
)
def test_every_operation_keeps_to_its_document(case, base, known, connection):
    ask(case, base, known, connection)


@pytest.mark.parametrize(
    ("path", "method"), [(path, method) for path, found in schema.items() for method in found], ids=str
)
def test_every_operation_keeps_to_its_document_at_the_edges(path, method, base, known, connection):
    operation = schema[path][method]
    cases = schema.iter_coverage_cases(
        operation,
        generation_modes=list(schemathesis.GenerationMode),
        generation_config=schema.config.generation_for(operation=operation, phase="coverage"),
    )
    asked = 0
    for place, case in enumerate(cases):
        if place < FIRST or place % STEP == 0:
            ask(case, base, known, connection)
            asked += 1
    assert asked


def test_a_document_that_lies_is_found_out(base):
    told = schemathesis.openapi.from_dict(DOCUMENT)["/api/v1/version"]["GET"].Case(headers=BEARER)
    assert told.call_and_validate(base_url=base).status_code == 200
    lie = deepcopy(DOCUMENT)
    lie["components"]["schemas"]["Version"]["required"].append("colour")
    case = schemathesis.openapi.from_dict(lie)["/api/v1/version"]["GET"].Case(headers=BEARER)
    with pytest.raises(schemathesis.errors.FailureGroup, match="colour"):
        case.call_and_validate(base_url=base)
