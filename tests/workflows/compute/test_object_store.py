"""A sweep into a real S3 server, with workers that share no file system with the client."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import xarray as xr
from click.testing import Result

from storage import CubeError, create_cube, open_cube, read_ledger
from storage.backends.location import backend_at
from storage.backends.objects import object_backend
from storage.tiles import mark_missing
from tests.faults import Faults, Program, scheduler_and_workers, small_sweep
from tests.storage.made_up import assert_same_kept, comparable, fill
from tests.workflows.commands import imwk
from tests.workflows.compute.seaweed import BUCKET, SECRETS, Server, seaweed
from workflows import submit

pytestmark = pytest.mark.slow

SPEC = small_sweep(3)
TILES = len(SPEC.tiles)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with seaweed(tmp_path_factory.mktemp("seaweed")) as started:
        yield started


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Return the URL of a cube that does not exist yet."""
    yield f"s3://{BUCKET}/{tmp_path.name}/cube.zarr"
    object_backend.cache_clear()  # it knows the variables of this test


@pytest.fixture
def writer(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let this process write to the server, and return the variables for other processes."""
    set_variables(monkeypatch, server.environment())
    return server.environment()


def set_variables(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    object_backend.cache_clear()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    file = tmp_path / "spec.toml"
    file.write_text(SPEC.to_toml())
    return file


def test_a_sweep_with_kills_ends_with_the_same_cube_as_a_local_one(
    writer: dict[str, str], url: str, spec_file: Path, tmp_path: Path
) -> None:
    local = tmp_path / "local.zarr"
    submit(SPEC, local, workers=0)
    dying = str(SPEC.tiles[3])
    faults = Faults(url, str(tmp_path / "calls.log"), sleep=0.1, kills_writing=dying)
    environment = writer | faults.environment
    with scheduler_and_workers(tmp_path, environment) as (address, _):
        run = ("imwk", "submit", spec_file, url, "--scheduler", address)
        program = Program(*run, environment=environment)
        try:
            faults.wait_for_calls(12)
            program.kill()
        finally:
            program.clean_up()
        assert Path(f"{faults.log}.died").exists()
        assert 0 < read_ledger(url).counts.done < TILES
        code, output, errors = Program(*run, environment=environment).end()
    assert (code, "Traceback" in errors) == (0, False)
    assert f"{TILES} of {TILES} tiles done" in output
    assert SECRETS["writer"] not in output + errors
    assert faults.computed_again() == []
    xr.testing.assert_identical(comparable(open_cube(url)), comparable(open_cube(local)))
    assert_same_kept(url, local)
    assert_same_words(url, local, "verify")
    assert_same_words(url, local, "query", "--best", "--csv")
    assert_same_words(url, local, "choose", "--ensemble")
    assert_same_words(url, local, "score", "--add", "ami", "--add", "davies-bouldin")
    xr.testing.assert_identical(comparable(open_cube(url)), comparable(open_cube(local)))
    pictures = heatmaps(url, tmp_path / "from-store")
    assert sorted(pictures) == [f"rescaled_imwk_ari-{name}.png" for name in ("range", "z-score")]
    assert pictures == heatmaps(local, tmp_path / "from-folder")
    assert_no_secret_in(url)


def assert_same_words(url: str, local: Path, command: str, *options: str) -> None:
    here, there = imwk(command, url, *options), imwk(command, local, *options)
    assert (here.exit_code, here.output) == (there.exit_code, there.output)
    assert here.output


def heatmaps(cube: str | Path, folder: Path) -> dict[str, bytes]:
    assert imwk("heatmaps", cube, "-o", folder).exit_code == 0
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def assert_no_secret_in(url: str) -> None:
    place = backend_at(url)
    for key, content in place.read_many(place.keys("")).items():
        assert SECRETS["writer"].encode() not in content, key


@pytest.mark.usefixtures("writer")
def test_all_commands_say_the_same_as_of_a_local_cube(url: str, tmp_path: Path) -> None:
    local = tmp_path / "local.zarr"
    for location in (url, local):
        create_cube(location, small_sweep(1))
        fill(location)
    for command in ("status", "summary", "verify", "tables"):
        assert_same_words(url, local, command)
    assert_same_words(url, local, "query", "--best", "--csv")
    for location, name in ((url, "here.csv"), (local, "there.csv")):
        assert imwk("export", location, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
    page = tmp_path / "report.html"
    assert imwk("report", url, "-o", page).exit_code == 0
    assert "cube.zarr" in page.read_text()


@pytest.mark.parametrize(
    ("user", "changes", "words"),
    [
        ("writer", {"AWS_SECRET_ACCESS_KEY": "not-it"}, "refused (SignatureDoesNotMatch). Check"),
        ("writer", {"AWS_ACCESS_KEY_ID": "nobody"}, "refused (InvalidAccessKeyId). Check the"),
        ("writer", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "cannot be reached. Check the net"),
        ("writer", {"AWS_ALLOW_HTTP": "false"}, "is plain http. Set AWS_ALLOW_HTTP=true"),
        ("reader", {}, "access is refused (AccessDenied). Check the credentials"),
    ],
    ids=["wrong secret", "unknown key", "unreachable", "plain http", "read only"],
)
def test_a_store_that_cannot_be_used_is_one_clear_line(
    server: Server,
    url: str,
    spec_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    user: str,
    changes: dict[str, str],
    words: str,
) -> None:
    set_variables(monkeypatch, server.environment(user, **changes))
    assert_one_line(imwk("submit", spec_file, url), words)
    assert_one_line(imwk("status", url), "There is no cube" if user == "reader" else words)


def assert_one_line(result: Result, words: str) -> None:
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert words in line
    assert not any(secret in line for secret in (*SECRETS.values(), "not-it"))


def test_a_bucket_that_is_not_there_is_one_clear_line(
    server: Server, spec_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_variables(monkeypatch, server.environment("owner"))
    missing = "s3://no-such-bucket/cube.zarr"
    assert_one_line(imwk("submit", spec_file, missing), "no such bucket (NoSuchBucket). Create it")
    assert_one_line(imwk("status", missing), "There is no cube at s3://no-such-bucket/cube.zarr")


def test_who_may_only_read_can_read(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_variables(monkeypatch, server.environment("writer"))
    create_cube(url, SPEC)
    fill(url, SPEC.tiles[:2])
    set_variables(monkeypatch, server.environment("reader"))
    assert imwk("verify", url).output == "2 tiles read, 0 damaged.\n"
    with pytest.raises(CubeError, match="access is refused"):
        mark_missing(url, SPEC.tiles[:1])
    assert len(read_ledger(url).done) == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "it cannot be reached. Check the network"),
        ({"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": SECRETS["reader"]}, "refused"),
    ],
    ids=["unreachable", "read only"],
)
def test_workers_that_cannot_use_the_store_are_found_before_anything_runs(
    writer: dict[str, str],
    url: str,
    spec_file: Path,
    tmp_path: Path,
    changes: dict[str, str],
    words: str,
) -> None:
    with scheduler_and_workers(tmp_path, writer, workers=(changes,)) as (address, _):
        run = ("imwk", "submit", spec_file, url, "--scheduler", address)
        code, output, errors = Program(*run, environment=writer).end()
    assert (code, output) == (4, "")
    (line,) = errors.splitlines()
    assert line.startswith("Error: Worker tcp://127.0.0.1:")
    assert f"cannot use the cube. Cannot use {url}: " in line
    assert words in line
    assert read_ledger(url).counts.done == 0
