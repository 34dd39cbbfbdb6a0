#!/bin/bash
# Run a sweep on a SLURM batch system: sbatch slurm.sh
#
# This job only submits other jobs and waits for them, so it is small. It must live as long as the
# sweep; if it ends early, submit it again and the sweep resumes.
#SBATCH --job-name=imwk
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=24:00:00
#SBATCH --output=imwk-%j.log

set -euo pipefail

# An environment with imwk-sweep and its extra hpc, in a folder that all nodes see:
#   python3 -m venv ~/imwk && ~/imwk/bin/pip install 'imwk-sweep[hpc]'
. ~/imwk/bin/activate

# 10 jobs with 32 workers each. Add --dry-run to see the script of a job without submitting it.
imwk submit sweep.toml parts.zarr \
    --batch slurm --jobs 10 --cores 32 --memory 64GB --walltime 04:00:00 --queue normal

imwk status parts.zarr
