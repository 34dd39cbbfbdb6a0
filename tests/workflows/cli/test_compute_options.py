"""Where a sweep runs: by options, by the spec file, or by Dask's configuration."""

import re
import stat
import tomllib
from pathlib import Path
from typing import get_args

import click
import dask
import pytest
from click.testing import Result

from pipeline.spec.toml import read_spec
from tests.pipeline.specs import SMALL, document
from tests.workflows.commands import imwk
from workflows.cli import run
from workflows.compute.job_settings import JobSettings
from workflows.compute.jobqueue import SYSTEMS, job_script
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


def with_table(spec_file: Path, table: str, name: str = "batch") -> Path:
    spec_file.write_text(f"{document(SMALL)}[{name}]\n{table}\n")
    return spec_file


def submit(spec: object, *options: object) -> Result:
    return imwk("submit", spec, "no.zarr", *options)


def script(spec: object, *options: object) -> str:
    result = submit(spec, *options, "--dry-run")
    assert result.exit_code == 0, result.output
    assert not Path("no.zarr").exists()
    return result.stdout


def test_the_option_the_settings_and_the_registry_know_the_same_batch_systems() -> None:
    option = next(option for option in run.submit.params if option.name == "batch")
    assert isinstance(option.type, click.Choice)
    kinds = get_args(JobSettings.model_fields["kind"].annotation)
    assert list(option.type.choices) == list(kinds) == list(SYSTEMS)


@pytest.mark.parametrize("kind", DIRECTIVES)
def test_a_dry_run_prints_the_job_script_of_the_batch_system(kind: str, spec_file: Path) -> None:
    text = script(spec_file, "--batch", kind, *ASKED)
    for line in DIRECTIVES[kind]:
        assert line in text
    for name, value in worker_variables().items():
        assert f"export {name}={value}\n" in text
    assert "--nworkers 3" in text  # of one thread each
    assert "--nthreads 1" in text
    assert "--lifetime 3135s" in text
    assert "--tls-key" in text


def test_htcondor_refuses_settings_that_it_does_not_have(spec_file: Path) -> None:
    assert "MY.DaskWorkerCores = 3" in script(spec_file, "--batch", "htcondor", "--cores", 3)
    refused = submit(spec_file, "--batch", "htcondor", *ASKED, "--dry-run")
    assert refused.exit_code == 2
    assert "HTCondor does not have queue, account, walltime. Use directives." in refused.stderr


def test_the_table_in_the_spec_file_is_used_but_is_not_part_of_the_sweep(spec_file: Path) -> None:
    before = read_spec(spec_file)
    table = 'kind = "slurm"\njobs = 4\nqueue = "long"\nprologue = ["module load python"]'
    after = read_spec(with_table(spec_file, table))
    assert (after, after.fingerprint) == (before, before.fingerprint)
    text = script(spec_file)
    assert "#SBATCH -p long" in text
    assert "\nmodule load python\n" in text
    assert "#SBATCH -p short" in script(spec_file, "--queue", "short")  # options take precedence


def test_dasks_configuration_gives_the_defaults(spec_file: Path) -> None:
    import dask_jobqueue  # noqa: F401 - it loads its defaults

    with dask.config.set({"jobqueue.slurm.cores": 7, "jobqueue.slurm.queue": "configured"}):
        text = script(spec_file, "--batch", "slurm")
    assert "#SBATCH --cpus-per-task=7" in text
    assert "#SBATCH --mem=14G" in text  # 2 GB a core, rounded up
    assert "#SBATCH -p configured" in text


def test_the_output_of_jobs_goes_to_the_log_directory(
    spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with_table(spec_file, 'kind = "slurm"\nlog_directory = "~/logs"')
    assert f"#SBATCH -o {tmp_path}/logs/imwk-sweep-%J.out" in script(spec_file)
    assert (tmp_path / "logs").is_dir()
    refused = submit(spec_file, "--log-directory", spec_file, "--dry-run")
    assert refused.exit_code == 4
    assert refused.stderr == (
        f"Error: Jobs cannot write to {spec_file}: File exists. Give another folder for the output "
        "of jobs. See --log-directory.\n"
    )


def test_insecure_jobs_have_no_certificates(spec_file: Path) -> None:
    text = script(spec_file, "--batch", "slurm", "--insecure")
    assert "tcp://" in text
    assert "--tls" not in text


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('kind = "slrum"', '[batch]: kind = "slrum": '),
        ('kind = "slurm"\ncorse = 3', "corse = 3: unknown key. Did you mean cores?"),
        ('kind = "slurm"\njobs = 0', "[batch]: jobs = 0: "),
        ('kind = "slurm"\nwalltime = "soon"', 'walltime = "soon": give a time as HH:MM:SS.'),
        (
            'kind = "slurm"\nmemory = "lots"',
            'memory = "lots": give a number with a unit, such as 4GB.',
        ),
        ('kind = "slurm"\nprologue = "module load x"', "give a list of lines, such as"),
        ('kind = "slurm"\ndirectives = 5', "directives = 5: give a list of lines"),
    ],
)
def test_mistakes_in_the_table_are_named(spec_file: Path, table: str, words: str) -> None:
    refused = submit(with_table(spec_file, table), "--dry-run")
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert "Traceback" not in refused.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", 1, "--batch", "slurm"], "Give only one of --workers, --scheduler"),
        (["--jobs", 2], "--jobs needs --batch."),
        (["--dry-run"], "--dry-run needs --batch."),
        (["--detach", "--workers", 1], "--detach needs --scheduler."),
        (["--insecure"], "--insecure needs --scheduler or --batch."),
        (["--scheduler", "tls://a:1", "--tls-ca", "SPEC"], "--tls-cert and --tls-key together"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    spec_file: Path, options: list[object], words: str
) -> None:
    given = [spec_file if option == "SPEC" else option for option in options]
    refused = submit(spec_file, *given)
    assert refused.exit_code == 2
    assert words in refused.stderr


def test_without_a_batch_system_the_message_says_where_to_run(
    spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    refused = submit(spec_file, "--batch", "slurm")
    assert refused.exit_code == 4
    assert refused.stderr == (
        "Error: This machine does not have the command sbatch. Run imwk on a machine from which "
        "you can submit jobs to slurm.\n"
    )


@pytest.mark.parametrize("walltime", ["00:10:00", "01:00:00", "04:00:00", "1-00:00:00"])
def test_workers_end_before_their_job(walltime: str) -> None:
    script = job_script(JobSettings(kind="slurm", walltime=walltime))
    lifetime, stagger = map(int, re.findall(r"--lifetime(?:-stagger)? (\d+)s", script))
    days, _, clock = walltime.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    ends = int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds
    assert lifetime + stagger <= ends - min(300, ends // 4)  # Dask staggers both ways
    assert stagger > 0


@pytest.fixture
def refusing_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install an sbatch that refuses all jobs."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "sbatch"
    fake.write_text("#!/bin/sh\necho no such account >&2\nexit 1\n")
    fake.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{fake.parent}:/bin:/usr/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("refusing_slurm")
def test_an_unknown_network_interface_is_an_error(spec_file: Path) -> None:
    refused = submit(spec_file, "--batch", "slurm", "--interface", "nosuch")
    assert refused.exit_code == 4
    assert "'nosuch' is not a valid network interface" in refused.stderr
    assert refused.stderr.endswith(" See --interface.\n")
    assert "Traceback" not in refused.output


@pytest.mark.usefixtures("refusing_slurm")
def test_the_message_of_sbatch_is_quoted_with_the_job_script(spec_file: Path) -> None:
    refused = submit(spec_file, "--batch", "slurm", "--interface", "lo")
    assert refused.exit_code == 4
    assert refused.stderr.startswith(
        "Error: slurm refuses the job: no such account\nThe job script"
    )
    assert "#SBATCH" in refused.stderr


NOTICE = "Warning: {} is now {}. The next release drops the old name.\n"


def test_the_old_option_cluster_is_accepted_with_a_notice(spec_file: Path) -> None:
    old = submit(spec_file, "--cluster", "slurm", "--cores", 3, "--dry-run")
    assert old.exit_code == 0
    assert old.stderr == NOTICE.format("--cluster", "--batch")
    assert old.stdout.strip() == script(spec_file, "--batch", "slurm", "--cores", 3).strip()
    both = submit(spec_file, "--cluster", "slurm", "--batch", "slurm", "--dry-run")
    assert both.exit_code == 2
    assert "--cluster is the old name of --batch. Give --batch only." in both.stderr
    assert "--cluster" not in imwk("submit", "--help").output


def test_the_old_table_cluster_is_accepted_with_a_notice(spec_file: Path) -> None:
    table = 'kind = "slurm"\nqueue = "long"'
    old = submit(with_table(spec_file, table, "cluster"), "--dry-run")
    assert old.exit_code == 0
    assert old.stderr == NOTICE.format(f"the table [cluster] in {spec_file}", "[batch]")
    new = submit(with_table(spec_file, table), "--dry-run")
    assert (new.stdout, new.stderr) == (old.stdout, "")


def test_mistakes_in_the_old_table_are_named_with_its_old_name(spec_file: Path) -> None:
    refused = submit(with_table(spec_file, 'kind = "slurm"\njobs = 0', "cluster"), "--dry-run")
    assert refused.exit_code == 2
    assert f"{spec_file}: [cluster]: jobs = 0: " in refused.stderr


def test_both_names_of_the_table_are_refused(spec_file: Path) -> None:
    with_table(spec_file, 'kind = "slurm"\n[cluster]\nkind = "slurm"')
    refused = submit(spec_file, "--dry-run")
    assert refused.exit_code == 2
    assert "[cluster] is the old name of [batch]" in refused.stderr


def test_a_spec_file_is_read_once(spec_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    parse = tomllib.loads

    def counted(text: str) -> dict[str, object]:
        calls.append(text)
        return parse(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    script(with_table(spec_file, 'kind = "slurm"'))
    assert len(calls) == 1
