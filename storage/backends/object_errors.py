"""Turn the errors of an object store into one line that says what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

from storage.errors import CubeError

_CREDENTIALS = (
    "Check the credentials in the environment (for S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY) "
    "and their permissions."
)
_ENDPOINT = "Check the network and the endpoint in the environment (for S3 AWS_ENDPOINT_URL)."

#: A part of an error's text, what that means, and what to do; the first part that is found counts.
_MEANINGS = (
    ("169.254.169.254", "there are no credentials", _CREDENTIALS),
    ("NoSuchBucket", "there is no such bucket", "Create it, or correct its name."),
    (
        "BadScheme",
        "its endpoint is plain http",
        "Set AWS_ALLOW_HTTP=true to use it.",
    ),
    ("403 Forbidden", "access is refused", _CREDENTIALS),
    ("401 Unauthorized", "access is refused", _CREDENTIALS),
    ("AccessDenied", "access is refused", _CREDENTIALS),  # in the body of a successful answer
    ("error sending request", "it cannot be reached", _ENDPOINT),
    ("Unable to recognise URL", "this kind of store is not known", "Give s3://, gs:// or az://."),
)


@contextmanager
def request_errors(url: str) -> Iterator[None]:
    """Raise `CubeError` for the errors of a store, but not for those that answer a question.

    Errors of obstore have many lines, with the whole request among them.
    """
    try:
        yield
    except (AlreadyExistsError, PreconditionError):
        raise
    except BaseError as error:
        raise CubeError(f"Cannot use {url}: {_reason(str(error))}") from error


def _reason(text: str) -> str:
    found = re.search("<Code>(.*?)</Code>", text)
    code = f" ({found[1]})" if found else ""
    for part, meaning, remedy in _MEANINGS:
        if part in text:
            return f"{meaning}{code}. {remedy}"
    return f"{' '.join(text.split('Debug source:')[0].split())}{code}"
