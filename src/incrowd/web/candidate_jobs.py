"""Jobs that made a protected table: what was asked for, the result, and the release."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from incrowd.web.jobs import Job
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.refusals import Refusal
from incrowd.web.releases import Release


def is_candidate(job: Job) -> bool:
    """True if a job made a protected table."""
    return job.state == "done" and job.outcome is not None and job.outcome.release is not None


def asked_by(job: Job) -> ProtectionRequest | None:
    """The settings that make a candidate again, as the form shows them; None if a search has not found them yet."""
    if job.kind == "solution":
        return protection_of(job) if is_candidate(job) else None
    return job.settings.protection if job.kind == "protection" and job.settings else None


def protection_of(job: Job) -> ProtectionRequest:
    """The settings that made a candidate: those that a search found, or those of the request."""
    return ProtectionRequest(**result_of(job).get("protection", job.question))


def result_of(job: Job) -> dict[str, Any]:
    """The result of a candidate as JSON; a refusal if the job made none."""
    if not is_candidate(job):
        raise Refusal(409, "only a finished protection can be shown in this way")
    return job.answer().to_json()


def release_of(job: Job) -> Release:
    """The protected table of a candidate; a refusal if the job made none."""
    result_of(job)
    release = job.answer().release
    assert release is not None
    return release


def without_rows(asked: ProtectionRequest) -> ProtectionRequest:
    """A protection without the hierarchies that list values; hierarchies by a rule stay."""
    rules = {name: given for name, given in asked.hierarchies.items() if isinstance(given, str)}
    return asked.model_copy(update={"hierarchies": rules})


def settings_digest(job: Job) -> str | None:
    """SHA-256 of the protection and the roles that made a candidate, without values; None if they are not known.

    Candidates of one digest may differ in what protection draws at random: the order of rows, numbers of people.
    """
    asked = asked_by(job)
    if asked is None or job.settings is None:
        return None
    made = {"protection": without_rows(asked).model_dump(mode="json"), "roles": job.settings.roles}
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
