"""Download the raw files of real data sets from the UCI Machine Learning Repository."""

import logging
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.datasets.uci.cache import CANNOT_UNPACK, ImportReport, import_content, unpacked
from pipeline.datasets.uci.catalogue import UciSet, uci_set
from pipeline.errors import TableError

ADDRESS = "https://archive.ics.uci.edu"
#: Seconds to wait for an answer.
TIMEOUT = 60


def fetch_uci(names: Iterable[str], address: str | None = None) -> ImportReport:
    """Download real data sets into the cache.

    Parameters
    ----------
    names : iterable of str
        As for `load_uci`.
    address : str, optional
        Address of a mirror of the repository with the same paths.

    Returns
    -------
    ImportReport
        The data sets that were downloaded. Files with an unknown hash are refused.

    Raises
    ------
    TableError
        If a data set cannot be downloaded. Those before it are in the cache.
    """
    report = ImportReport()
    for entry in map(uci_set, names):
        _fetch(report, entry, f"{address or ADDRESS}/{entry.archive}")
    return report


def _fetch(report: ImportReport, entry: UciSet, url: str) -> None:
    content = _downloaded(url)
    try:
        members = list(unpacked(url, content))
    except CANNOT_UNPACK as error:
        raise TableError(url, f"cannot be unpacked: {error}.") from error
    for name, member in members:
        import_content(report, name, member)
    if entry.name not in report.sets and not any(url in name for name in report.refused):
        report.refused[url] = f"has no file of {entry.name} with the SHA-256 {entry.raw}."


def _downloaded(url: str) -> bytes:
    try:
        import pooch
        import requests
    except ImportError as error:
        raise TableError(
            url,
            "downloads need pooch: pip install 'imwk-sweep[uci]'. Or download the file in a "
            "browser, then run imwk datasets import DIR.",
        ) from error
    pooch.get_logger().setLevel(logging.WARNING)  # otherwise it prints the hashes of downloads
    try:
        with TemporaryDirectory() as folder:
            # The archive may change; the files in it are identified by their hash
            file = pooch.retrieve(
                url,
                known_hash=None,
                fname="archive",
                path=folder,
                # with a stream, pooch would leave the connection open after an error
                downloader=pooch.HTTPDownloader(timeout=TIMEOUT, stream=False),
            )
            return Path(file).read_bytes()
    except (requests.RequestException, OSError) as error:
        raise TableError(
            url,
            f"cannot be downloaded: {error}. Download it in a browser, then run imwk datasets "
            "import DIR.",
        ) from error
