"""Download the raw files of real data sets from the UCI Machine Learning Repository."""

import logging
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.datasets.uci.cache import CANNOT_UNPACK, Imported, offer, unpacked
from pipeline.datasets.uci.catalogue import UciSet, uci_set
from pipeline.errors import TableError

ADDRESS = "https://archive.ics.uci.edu"
#: Seconds without an answer.
PATIENCE = 60


def fetch_uci(names: Iterable[str], address: str | None = None) -> Imported:
    """Download real data sets into the cache.

    Parameters
    ----------
    names : iterable of str
        As for `load_uci`.
    address : str, optional
        Of a copy of the repository with the same paths.

    Returns
    -------
    Imported
        Which sets came. What is not known by its hash is refused, never used.

    Raises
    ------
    TableError
        If something cannot be downloaded; sets before it are in the cache.
    """
    report = Imported()
    for entry in map(uci_set, names):
        _fetch(report, entry, f"{address or ADDRESS}/{entry.archive}")
    return report


def _fetch(report: Imported, entry: UciSet, url: str) -> None:
    content = _downloaded(url)
    try:
        members = list(unpacked(url, content))
    except CANNOT_UNPACK as error:
        raise TableError(url, f"cannot be unpacked: {error}.") from error
    for name, member in members:
        offer(report, name, member)
    if entry.name not in report.sets and not any(url in name for name in report.refused):
        report.refused[url] = f"has no file of {entry.name} as it is known here: {entry.raw}."


def _downloaded(url: str) -> bytes:
    try:
        import pooch
        import requests
    except ImportError as error:
        raise TableError(
            url,
            "downloading needs pooch: pip install 'imwk-sweep[uci]'. Or download by hand, "
            "then imwk datasets import DIR.",
        ) from error
    pooch.get_logger().setLevel(logging.WARNING)  # or it lists hashes of what it downloads
    try:
        with TemporaryDirectory() as folder:
            # The packing may change; what is inside is known by its hash
            file = pooch.retrieve(
                url,
                known_hash=None,
                fname="archive",
                path=folder,
                # as a stream, pooch would leave the connection open after an error
                downloader=pooch.HTTPDownloader(timeout=PATIENCE, stream=False),
            )
            return Path(file).read_bytes()
    except (requests.RequestException, OSError) as error:
        raise TableError(
            url,
            f"cannot be downloaded: {error}. Download it by hand, then imwk datasets import DIR.",
        ) from error
