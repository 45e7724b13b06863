# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Prints docs/kill-matrix.md: FP4ORACLE=build/ci/bin/fp4oracle bash tests/cli/kill_matrix.sh >docs/kill-matrix.md
# Two minutes of processor time. What a table is computed from is printed above it, and compared with `coverage --source` by
# cli_coverage, so that an old page is seen without computing it anew.
set -eu
cat <<'TEXT'
# The kill matrix

Which mistakes the [suites](suites.md) show. A vector kills an edit of the catalogue (`fp4oracle list faults`: another reading of bytes, another order, a factor too few) if a kernel with that mistake returns at least one other byte of D. `fp4oracle coverage` computes it, for these suites or for anybody's vectors; this page is its output (`tests/cli/kill_matrix.sh`).

- An edit is a family with its parameters: which operand, from which layout to which, how many parts. The tables count edits by family: how many there are, how many `smoke` shows and how many `full` does. smoke counts where one of its vectors is the first to show an edit.
- Some edits have numbers that come from the shape of a vector (rows wrap at N/2, K from 144 to 180 is lost). One that its own vector does not show counts as killed where another vector shows it with the numbers of its shape.
- An edit that changes no output whatever the operands are has the reason beside it.
- "computed from": a digest of the vectors and of the edits that each admits, to see that a table is not an old one (`fp4oracle coverage --suite full --source`).
- The models are those of sm120, for the last pair of formats those of sm100. Under them, D in f32 with the vectors about narrower outputs first, D in bf16 alone at the end.

What a Gaussian vector with amax scales kills, and why that is not enough, is in [suites.md](suites.md).

## D in f32
TEXT
"$FP4ORACLE" coverage --suite full --markdown
printf '\n## D in bf16 alone\n'
"$FP4ORACLE" coverage --suite full --d bf16 --markdown
