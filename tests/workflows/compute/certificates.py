"""Make a certificate authority and a certificate that it signed, with the commands of the docs."""

import re
import subprocess
from pathlib import Path

from tests.faults import ROOT
from workflows.compute import Certificates

#: The listing of commands in docs/distributed.md.
RECIPE = re.compile(r"^\$ umask 077\n.*?(?=^```)", re.MULTILINE | re.DOTALL)


def make_certificates(folder: Path) -> Certificates:
    """Write an authority's certificate, and a certificate for schedulers, workers and clients."""
    folder.mkdir()
    found = RECIPE.search((ROOT / "docs" / "distributed.md").read_text())
    assert found
    commands = re.sub(r"^\$ ", "", found[0], flags=re.MULTILINE)
    subprocess.run(["bash", "-euc", commands], cwd=folder, capture_output=True, check=True)
    return Certificates(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")


def dask_options(files: Certificates) -> tuple[str, ...]:
    """Return the options of a scheduler and its workers that use these certificates."""
    named = {"--tls-ca-file": files.ca, "--tls-cert": files.cert, "--tls-key": files.key}
    return ("--protocol", "tls", *(str(word) for pair in named.items() for word in pair))
