"""Changes of some settings, as a PATCH sends them: what is not named stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError, create_model

from incrowd.web.fields import Model
from incrowd.web.models import TableSettings
from incrowd.web.protection_models import ProtectionRequest

if TYPE_CHECKING:
    ProtectionChanges = ProtectionRequest
else:
    ProtectionChanges = create_model(
        "ProtectionChanges",
        __base__=Model,
        __doc__="What changes in how a table is protected. A value that is null is removed: it is as at first again.",
        **{
            name: (Optional[field.rebuild_annotation()], None)  # noqa: UP045 - an annotation that is made here
            for name, field in ProtectionRequest.model_fields.items()
        },
    )


class SettingsChanges(TableSettings):
    """The settings that change; roles and what is said of protection change one by one."""

    protection: ProtectionChanges = ProtectionChanges()


def changed_protection(now: ProtectionRequest, changes: ProtectionRequest) -> ProtectionRequest:
    """The protection with what was sent in its place; what was sent as null is as at first.

    >>> now = ProtectionRequest(k=5, l=2, keep=["age"])
    >>> after = changed_protection(now, ProtectionChanges(k=11, l=None))
    >>> after.k, after.l, after.keep
    (11, None, ['age'])
    """
    merged = now.model_dump() | changes.model_dump(exclude_unset=True)
    try:
        return ProtectionRequest(**{name: value for name, value in merged.items() if value is not None})
    except ValidationError as error:  # what is named does not go with what stays
        raise RequestValidationError(error.errors()) from None
