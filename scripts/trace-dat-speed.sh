#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What reading a trace.dat costs against `trace-cmd report`, in CPU time of the same machine at the
# same moment: scripts/trace-dat-speed.sh FILE.dat. trace-cmd prints what it reads, idlelab makes
# idle periods of it: that is what either is used for.
set -euo pipefail

if [ $# != 1 ]; then
    echo "usage: $0 FILE.dat" >&2
    exit 2
fi
if ! command -v trace-cmd >/dev/null; then
    echo 'SKIPPED: trace-cmd is not installed (package trace-cmd)'
    exit 0
fi
file=$(realpath "$1")
cd "$(dirname "$0")/.."
cargo build --release --quiet -p idlelab
idlelab="${CARGO_TARGET_DIR:-target}/release/idlelab"

# The least CPU time of five runs, user and system, in milliseconds.
cpu_ms() {
    local least='' TIMEFORMAT='%3U %3S' spent
    for _ in 1 2 3 4 5; do
        spent=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 + 0.5 }')
        if [ -z "$least" ] || [ "$spent" -lt "$least" ]; then least=$spent; fi
    done
    echo "$least"
}

ours=$(cpu_ms "$idlelab" info "$file")
theirs=$(cpu_ms trace-cmd report "$file")
awk -v ours="$ours" -v theirs="$theirs" 'BEGIN {
    printf "idlelab info %d ms, trace-cmd report %d ms of CPU time", ours, theirs
    if (ours > 0) printf ", ratio %.1f", theirs / ours
    print ""
}'
