#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs everything that must hold before a change is whole. Fast things first.
# What a check needs and the machine lacks is installed where that is possible, and else the check
# is skipped by name; a skipped check is listed again at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

skipped=()

step() {
    printf '\n== %s\n' "$*"
}

skip() {
    printf 'SKIPPED: %s\n' "$*"
    skipped+=("$*")
}

# The no-panic proof links C-like objects, and governor files of kernels are compiled.
if ! command -v cc >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        step 'installing a linker (gcc, libc6-dev)'
        apt-get update -qq && apt-get install -y -qq gcc libc6-dev
    else
        echo 'cc is missing: install gcc and libc6-dev' >&2
        exit 1
    fi
fi

# The report is shown to a browser.
if ! command -v chromium >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        step 'installing a browser (chromium)'
        { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null || true
    fi
    command -v chromium >/dev/null || skip 'the report in a browser: chromium is not installed'
fi

step 'formatting'
if cargo fmt --version >/dev/null 2>&1; then
    cargo fmt --all --check
else
    skip 'formatting: rustfmt is not installed (rustup component add rustfmt)'
fi

step 'licence lines'
missing=$(git ls-files '*.rs' '*.sh' '*.toml' '*.c' '*.h' | grep -v '^Cargo.lock$' \
    | xargs grep -L 'SPDX-License-Identifier: GPL-2.0-or-later' || true)
if [ -n "$missing" ]; then
    printf 'without an SPDX line:\n%s\n' "$missing" >&2
    exit 1
fi

step 'clippy'
if cargo clippy --version >/dev/null 2>&1; then
    cargo clippy --workspace --all-targets --locked -- -D warnings
else
    skip 'clippy: not installed (rustup component add clippy)'
fi

step 'tests and doc tests'
cargo test --workspace --locked

step 'documentation'
RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked

step 'licences, bans and sources of dependencies'
if ! command -v cargo-deny >/dev/null; then
    cargo install cargo-deny --locked --quiet || true
fi
if command -v cargo-deny >/dev/null; then
    cargo deny --log-level error check licenses bans sources
else
    skip 'cargo deny: it could not be installed'
fi

step "the judge: each governor against the kernels' own C files"
sources="${CARGO_TARGET_DIR:-target}/kernel-sources"
status=0
scripts/kernel-sources.sh "$sources" || status=$?
case $status in
    0)
        cargo run --release --locked --quiet -p idlelab-judge -- \
            --source "$sources" --decisions 10M --output "$sources"
        IDLELAB_KERNEL_SOURCES="$(cd "$sources" && pwd)" \
            cargo test --release --locked -p idlelab-judge -- --nocapture
        ;;
    77)
        skip "the judge: the C files of Debian's linux-source-6.1, -6.12 and -7.x cannot be had"
        ;;
    *)
        exit "$status"
        ;;
esac

step 'the gallery: what its commands print'
scripts/gallery.sh --check

if [ ${#skipped[@]} -gt 0 ]; then
    printf '\nSkipped:\n'
    printf '  %s\n' "${skipped[@]}"
fi
printf '\nAll checks that ran have passed.\n'
