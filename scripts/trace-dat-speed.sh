#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What reading a trace.dat costs against `trace-cmd report`, in CPU time of the same machine at the
# same moment: scripts/trace-dat-speed.sh [FILE.dat …]. Without files, large traces are made, as
# trace-cmd records them (zstd) and uncompressed. trace-cmd prints what it reads, idlelab makes
# idle periods of it: that is what either is used for.
set -euo pipefail

if ! command -v trace-cmd >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq trace-cmd >/dev/null
    else
        echo 'SKIPPED: trace-cmd is not installed (package trace-cmd)'
        exit 0
    fi
fi
files=()
for file in "$@"; do files+=("$(realpath "$file")"); done
cd "$(dirname "$0")/.."
cargo build --release --quiet -p idlelab
idlelab="${CARGO_TARGET_DIR:-target}/release/idlelab"

if [ ${#files[@]} = 0 ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cargo run --release --quiet -p idlelab-import --example generate-trace -- \
        --format trace-dat --seconds 400 --cpus 4 "$folder/uncompressed.dat"
    files=("$folder/uncompressed.dat")
    # A trace-cmd that was built without a compression does not read it either.
    for compression in zstd zlib; do
        if trace-cmd convert --compression "$compression" -i "$folder/uncompressed.dat" \
            -o "$folder/$compression.dat" >/dev/null 2>&1; then
            files+=("$folder/$compression.dat")
        else
            echo "SKIPPED: this trace-cmd has no $compression"
        fi
    done
fi

# The least CPU time of three runs, user and system, in milliseconds.
cpu_ms() {
    local least='' TIMEFORMAT='%3U %3S' spent
    for _ in 1 2 3; do
        spent=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 + 0.5 }')
        if [ -z "$least" ] || [ "$spent" -lt "$least" ]; then least=$spent; fi
    done
    echo "$least"
}

trace-cmd --version 2>&1 | grep -m1 version || true
printf '%-24s%10s%16s%21s%8s\n' file MB 'idlelab info ms' 'trace-cmd report ms' ratio
for file in "${files[@]}"; do
    ours=$(cpu_ms "$idlelab" info "$file")
    theirs=$(cpu_ms trace-cmd report "$file")
    awk -v file="$(basename "$file")" -v bytes="$(stat -c %s "$file")" -v ours="$ours" \
        -v theirs="$theirs" 'BEGIN {
            printf "%-24s%10.1f%16d%21d%8.1f\n", file, bytes / 1e6, ours, theirs, theirs / ours
        }'
done
