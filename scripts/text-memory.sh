#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The peak memory of reading a gigabyte of ftrace text, beside the recording that is kept; fails
# above 100 MiB: scripts/text-memory.sh [FILE]. Without a file, a trace is made.
set -euo pipefail

most_mib=100
if [ $# -gt 0 ]; then file=$(realpath "$1"); fi
cd "$(dirname "$0")/.."
example() {
    local name=$1
    shift
    cargo run --release --quiet -p idlelab-import --example "$name" -- "$@"
}
if [ $# = 0 ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    file="$folder/trace.txt"
    example generate-trace --format text --seconds 435 --cpus 4 "$file"
fi
found=$(example peak-memory "$file")
echo "$found"
awk -v most="$most_mib" '/reading took/ { exit $(NF - 1) > most }' <<<"$found" || {
    echo "reading took more than $most_mib MiB" >&2
    exit 1
}
