#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Gets the C files of the idle governors of several kernels, as Debian ships them, for the judge.
#
#   scripts/kernel-sources.sh DIR
#
# Downloads the packages linux-source-6.1, linux-source-6.12 and the newest linux-source-7.x, and
# unpacks drivers/cpuidle/governors of each into DIR/VERSION/. What is there already is not fetched
# again. Needs apt and Debian's archive keys, but no root: lists and packages are kept in DIR, and
# nothing of the machine's own apt is touched. apt checks signatures and checksums.
#
# Exit status: 0 if DIR holds all three; 77 if something that this needs is missing, which is said;
# 1 if something went wrong.
set -euo pipefail

if [ $# -ne 1 ]; then
    sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)

unavailable() {
    printf 'kernel sources: %s\n' "$1" >&2
    exit 77
}

# The version that a package's files say they are of: 6.1.192 of 6.1.192-3, 7.3.4 of 7.3.4-1~bpo13+1.
upstream_version() {
    printf '%s\n' "$1" | sed -E 's/^[0-9]+://; s/-[^-]*$//; s/[~+].*$//'
}

for tool in apt-get apt-cache dpkg-deb tar xz; do
    command -v "$tool" >/dev/null || unavailable "$tool is not installed"
done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keys" ] || unavailable "$keys is missing (package debian-archive-keyring)"

apt="$dir/.apt"
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/parts"
: >"$apt/status"
for line in 'debian bookworm' 'debian-security bookworm-security' 'debian trixie' \
    'debian-security trixie-security' 'debian trixie-backports'; do
    # What is fetched is signed, so that http will do.
    printf 'deb [signed-by=%s arch=amd64] http://deb.debian.org/%s main\n' "$keys" "$line"
done >"$apt/sources.list"
options=(
    -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives"
    -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
    -o "Dir::Etc::preferences=/dev/null" -o "Dir::Etc::preferencesparts=$apt/parts"
    -o APT::Architecture=amd64 -o APT::Architectures=amd64
    -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o Acquire::Retries=2
    -o "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"
    -o "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false"
    -o APT::Sandbox::User=root
)

# A day-old list will do: a kernel that is superseded meanwhile is still in the archive's pool.
if [ -z "$(find "$apt/updated" -mtime -1 2>/dev/null)" ]; then
    if apt-get "${options[@]}" -qq --error-on=any update 2>"$apt/errors"; then
        touch "$apt/updated"
    elif [ "$(find "$dir" -mindepth 2 -maxdepth 2 -name .complete | wc -l)" -ge 3 ]; then
        printf "kernel sources: Debian's archive cannot be reached; what is there is kept\n" >&2
        exit 0
    else
        unavailable "Debian's archive cannot be reached: $(head -1 "$apt/errors")"
    fi
fi

newest=$(apt-cache "${options[@]}" search --names-only '^linux-source-7\.[0-9]+$' \
    | cut -d' ' -f1 | sort -V | tail -1)
for package in linux-source-6.1 linux-source-6.12 ${newest:+"$newest"}; do
    candidate=$(apt-cache "${options[@]}" policy "$package" | awk '$1 == "Candidate:" { print $2 }')
    if [ -z "$candidate" ] || [ "$candidate" = '(none)' ]; then
        unavailable "the archive has no $package"
    fi
    version=$(upstream_version "$candidate")
    if [ -e "$dir/$version/.complete" ]; then
        continue
    fi
    printf 'kernel sources: fetching %s %s\n' "$package" "$candidate" >&2
    (cd "$apt/archives" && apt-get "${options[@]}" -qq download "$package=$candidate") \
        2>"$apt/errors" || unavailable "$package could not be fetched: $(head -1 "$apt/errors")"
    unpacked="$dir/.$version.partial"
    rm -rf "$unpacked"
    mkdir -p "$unpacked"
    deb=$(find "$apt/archives" -maxdepth 1 -name "${package}_*.deb" | sort | tail -1)
    dpkg-deb --fsys-tarfile "$deb" \
        | tar -x --to-stdout "./usr/src/$package.tar.xz" \
        | xz --decompress --threads=0 \
        | tar -x -C "$unpacked" --strip-components=4 --wildcards \
            "$package/drivers/cpuidle/governors/*"
    rm -f "$deb"
    touch "$unpacked/.complete"
    rm -rf "${dir:?}/$version"
    mv "$unpacked" "$dir/$version"
done
[ -n "$newest" ] || unavailable 'the archive has no linux-source-7.x'
