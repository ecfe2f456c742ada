#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes docs/gallery.md and its pictures by the commands that the page shows.
#
#   scripts/gallery.sh           writes the page and, where chromium is installed, the pictures
#   scripts/gallery.sh --check   says whether the page is what the commands print today
#
# Exit status: 0 if all is well, 1 if the page differs or a command fails.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked --quiet -p idlelab
PATH="$(realpath "${CARGO_TARGET_DIR:-target}")/release:$PATH"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
page=$made/gallery.md

say() {
    printf '%s\n' "$@" >>"$page"
}

# Shows a command and what it prints.
show() {
    say '' '```text' "\$ $1"
    bash -c "$1" >>"$page" 2>/dev/null
    say '```' ''
}

# Shows a command that writes a page, and the picture of that page.
picture() {
    local name=$1 command=$2 height=$3
    say '' '```sh' "$command" '```' '' "![what a browser shows of $name.html](gallery/$name.png)" ''
    (cd "$made" && ln -sfn "$OLDPWD/docs" docs && bash -c "$command" 2>/dev/null)
    if [ "$mode" = write ] && command -v chromium >/dev/null; then
        chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
            --user-data-dir="$made/profile" --virtual-time-budget=5000 \
            --window-size="900,$height" --screenshot="$PWD/docs/gallery/$name.png" \
            "file://$made/$name.html" >/dev/null 2>&1
    fi
}

mode=write
[ "${1:-}" = --check ] && mode=check

say '# Gallery' '' \
    'What idlelab prints and draws. `scripts/gallery.sh` made this page by the commands that it shows, from the recording' \
    'that is built in (a real kernel in QEMU, `recordings/`) and from `docs/gallery/runs.txt`, a table of invented numbers that only' \
    'shows the form; `scripts/gallery.sh --check` says whether the page still holds.'
say '' '## Two governors on one recording' '' 'Replayed, not measured: wakeups stay where they were.'
picture teo-menu 'idlelab report -g teo,menu,clairvoyant -o teo-menu.html' 5400
say '## Runs of a workload' '' 'Invented numbers, in the form in which people post them.'
picture runs 'idlelab report docs/gallery/runs.txt -o runs.html' 1500
say '## The same in plain text'
show 'idlelab compare docs/gallery/runs.txt --metric joules,misses,iops'
show 'idlelab compare docs/gallery/runs.txt --style mmtests'
say '## A table for a mail'
show 'idlelab replay -g teo,menu,ladder --style runs'
show 'idlelab replay -g teo,menu --style states'
say '## Why that state?'
show 'idlelab explain --first-difference teo,menu'

if [ "$mode" = check ]; then
    diff -u docs/gallery.md "$page"
    exit
fi
cp "$page" docs/gallery.md
