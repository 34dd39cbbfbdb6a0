"""Where a sweep runs, by options, by the spec's file and by Dask's own configuration."""

import re
import stat
from pathlib import Path

import dask
import pytest
from click.testing import CliRunner, Result

from pipeline.spec.toml import read_spec
from tests.pipeline.specs import SMALL, document
from workflows.cli.main import main
from workflows.compute.batch import job_script
from workflows.compute.job_settings import JobSettings
from workflows.compute.worker_settings import worker_variables

DIRECTIVES = {
    "slurm": ["#SBATCH -p short", "#SBATCH -A mine", "#SBATCH --cpus-per-task=3"],
    "pbs": ["#PBS -q short", "#PBS -A mine", "walltime=01:00:00"],
    "lsf": ["#BSUB -q short", '#BSUB -P "mine"', "#BSUB -W 01:00\n"],
    "sge": ["#$ -q short", "#$ -P mine", "h_rt=01:00:00"],
}
ASKED = ("--cores", 3, "--walltime", "01:00:00", "--queue", "short", "--account", "mine")


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    file = tmp_path / "spec.toml"
    file.write_text(document(SMALL))
    return file


def with_table(spec_file: Path, table: str) -> Path:
    spec_file.write_text(f"{document(SMALL)}[cluster]\n{table}\n")
    return spec_file


def submit(spec: object, *options: object) -> Result:
    return CliRunner().invoke(main, ["submit", str(spec), "no.zarr", *map(str, options)])


def script(spec: object, *options: object) -> str:
    result = submit(spec, *options, "--dry-run")
    assert result.exit_code == 0, result.output
    assert not Path("no.zarr").exists()
    return result.stdout


@pytest.mark.parametrize("kind", DIRECTIVES)
def test_a_dry_run_prints_the_script_in_the_systems_own_words(kind: str, spec_file: Path) -> None:
    text = script(spec_file, "--cluster", kind, *ASKED)
    for line in DIRECTIVES[kind]:
        assert line in text
    for name, value in worker_variables().items():
        assert f"export {name}={value}\n" in text
    assert "--nworkers 3" in text  # of one thread each
    assert "--nthreads 1" in text
    assert "--lifetime 3135s" in text
    assert "--tls-key" in text


def test_htcondor_has_what_it_knows_and_refuses_the_rest(spec_file: Path) -> None:
    assert "MY.DaskWorkerCores = 3" in script(spec_file, "--cluster", "htcondor", "--cores", 3)
    refused = submit(spec_file, "--cluster", "htcondor", *ASKED, "--dry-run")
    assert refused.exit_code == 2
    assert "HTCondor knows no queue, account, walltime" in refused.stderr


def test_a_table_in_the_specs_file_is_used_but_is_no_part_of_the_sweep(spec_file: Path) -> None:
    before = read_spec(spec_file)
    table = 'kind = "slurm"\njobs = 4\nqueue = "long"\nprologue = ["module load python"]'
    after = read_spec(with_table(spec_file, table))
    assert (after, after.fingerprint) == (before, before.fingerprint)
    text = script(spec_file)
    assert "#SBATCH -p long" in text
    assert "\nmodule load python\n" in text
    assert "#SBATCH -p short" in script(spec_file, "--queue", "short")  # options come first


def test_dasks_own_configuration_fills_the_gaps(spec_file: Path) -> None:
    import dask_jobqueue  # noqa: F401 - brings its defaults

    with dask.config.set({"jobqueue.slurm.cores": 7, "jobqueue.slurm.queue": "configured"}):
        text = script(spec_file, "--cluster", "slurm")
    assert "#SBATCH --cpus-per-task=7" in text
    assert "#SBATCH --mem=14G" in text  # 2 GB a core, rounded up
    assert "#SBATCH -p configured" in text


def test_what_jobs_print_goes_where_it_is_told_to(
    spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with_table(spec_file, 'kind = "slurm"\nlog_directory = "~/logs"')
    assert f"#SBATCH -o {tmp_path}/logs/imwk-sweep-%J.out" in script(spec_file)
    assert (tmp_path / "logs").is_dir()
    refused = submit(spec_file, "--log-directory", spec_file, "--dry-run")
    assert refused.exit_code == 4
    assert refused.stderr == (
        f"Error: Jobs cannot write to {spec_file}: File exists. Give another --log-directory.\n"
    )


def test_insecure_jobs_have_no_certificates(spec_file: Path) -> None:
    text = script(spec_file, "--cluster", "slurm", "--insecure")
    assert "tcp://" in text
    assert "--tls" not in text


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('kind = "slrum"', '[cluster]: kind = "slrum": '),
        ('kind = "slurm"\ncorse = 3', "corse = 3: unknown key. Did you mean cores?"),
        ('kind = "slurm"\njobs = 0', "[cluster]: jobs = 0: "),
        ('kind = "slurm"\nwalltime = "soon"', 'walltime = "soon": give it as HH:MM:SS.'),
        ('kind = "slurm"\nmemory = "lots"', 'memory = "lots": give it with a unit, as 4GB.'),
        ('kind = "slurm"\nprologue = "module load x"', "give a list of lines, such as"),
        ('kind = "slurm"\ndirectives = 5', "directives = 5: give a list of lines"),
    ],
)
def test_what_is_wrong_in_the_table_is_said(spec_file: Path, table: str, words: str) -> None:
    refused = submit(with_table(spec_file, table), "--dry-run")
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert "Traceback" not in refused.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", 1, "--cluster", "slurm"], "not both"),
        (["--jobs", 2], "--jobs goes with --cluster"),
        (["--dry-run"], "--dry-run goes with --cluster"),
        (["--detach", "--workers", 1], "--detach goes with --scheduler"),
        (["--insecure"], "--insecure goes with --scheduler or --cluster"),
        (["--scheduler", "tls://a:1", "--tls-ca", "SPEC"], "--tls-cert and --tls-key together"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    spec_file: Path, options: list[object], words: str
) -> None:
    given = [spec_file if option == "SPEC" else option for option in options]
    refused = submit(spec_file, *given)
    assert refused.exit_code == 2
    assert words in refused.stderr


def test_without_a_batch_system_one_is_told_where_to_go(
    spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    refused = submit(spec_file, "--cluster", "slurm")
    assert refused.exit_code == 4
    assert refused.stderr == (
        "Error: sbatch is not on this machine. Run imwk where you submit jobs to slurm.\n"
    )


@pytest.mark.parametrize("walltime", ["00:10:00", "01:00:00", "04:00:00", "1-00:00:00"])
def test_no_worker_lives_longer_than_its_job(walltime: str) -> None:
    script = job_script(JobSettings(kind="slurm", walltime=walltime))
    lifetime, stagger = map(int, re.findall(r"--lifetime(?:-stagger)? (\d+)s", script))
    days, _, clock = walltime.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    ends = int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds
    assert lifetime + stagger <= ends - min(300, ends // 4)  # Dask staggers both ways
    assert stagger > 0


@pytest.fixture
def refusing_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an sbatch in place that refuses all jobs."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "sbatch"
    fake.write_text("#!/bin/sh\necho no such account >&2\nexit 1\n")
    fake.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{fake.parent}:/bin:/usr/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("refusing_slurm")
def test_a_network_that_is_not_there_is_no_traceback(spec_file: Path) -> None:
    refused = submit(spec_file, "--cluster", "slurm", "--interface", "nosuch")
    assert refused.exit_code == 4
    assert "'nosuch' is not a valid network interface" in refused.stderr
    assert "Check --interface" in refused.stderr
    assert "Traceback" not in refused.output


@pytest.mark.usefixtures("refusing_slurm")
def test_an_sbatch_that_fails_is_quoted_with_the_script(spec_file: Path) -> None:
    refused = submit(spec_file, "--cluster", "slurm", "--interface", "lo")
    assert refused.exit_code == 4
    assert refused.stderr.startswith("Error: slurm refuses the job: no such account\nThe script")
    assert "#SBATCH" in refused.stderr
