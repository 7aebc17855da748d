"""Changes of some settings, as a PATCH request sends them; settings that it does not name stay."""

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
        __doc__="Changes of how a table is protected. Null restores the default of an option.",
        **{
            name: (Optional[field.rebuild_annotation()], None)  # noqa: UP045 - an annotation built at run time
            for name, field in ProtectionRequest.model_fields.items()
        },
    )


class SettingsChanges(TableSettings):
    """The settings to change; roles and options of protection change one by one."""

    protection: ProtectionChanges = ProtectionChanges()


def changed_protection(now: ProtectionRequest, changes: ProtectionRequest) -> ProtectionRequest:
    """The protection with the options that were sent; null restores a default.

    >>> now = ProtectionRequest(k=5, l=2, keep=["age"])
    >>> after = changed_protection(now, ProtectionChanges(k=11, l=None))
    >>> after.k, after.l, after.keep
    (11, None, ['age'])
    """
    merged = now.model_dump() | changes.model_dump(exclude_unset=True)
    try:
        return ProtectionRequest(**{name: value for name, value in merged.items() if value is not None})
    except ValidationError as error:  # the new options contradict those that stay
        raise RequestValidationError(error.errors()) from None
