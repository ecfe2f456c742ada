#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records a real x86-64 kernel that has kprobes, at fidelity 4, by idlelab itself, in QEMU:
#   scripts/record-guest.sh IDLELAB FOLDER
# IDLELAB is the program, FOLDER keeps what is downloaded. QEMU's machine tells no idle states, so an
# ACPI table of ours tells three (all of them HLT) with latencies of 2, 100 and 1500 us. Exit status
# 77: it cannot be had here (Debian 12 with backports, apt, qemu-system-x86, iasl, busybox, cpio).
set -euo pipefail
idlelab=$(realpath "${1:?usage: $0 IDLELAB FOLDER}")
mkdir -p "${2:?usage: $0 IDLELAB FOLDER}"
cd "$2"

for tool in apt-get qemu-system-x86_64 iasl busybox cpio strip; do
    command -v "$tool" > /dev/null || { echo "$tool is missing" >&2; exit 77; }
done

if ! compgen -G 'kernel/boot/vmlinuz-*' > /dev/null; then
    mkdir -p sources lists/partial
    cat > sources/backports.sources <<'SOURCES'
Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    apt=(-oDir::Etc::SourceList=/dev/null "-oDir::Etc::SourceParts=$PWD/sources"
        "-oDir::State::Lists=$PWD/lists")
    apt-get "${apt[@]}" update -qq || exit 77
    package=$(apt-cache "${apt[@]}" search --names-only '^linux-image-6\.12.*-amd64-unsigned$' \
        | cut -d' ' -f1 | grep -v -e cloud -e rt- | sort -V | tail -n 1)
    [ -n "$package" ] || exit 77
    apt-get "${apt[@]}" download -qq "$package" || exit 77
    dpkg -x "$package"_*.deb kernel
    rm "$package"_*.deb
fi

cat > states.dsl <<'TABLE'
DefinitionBlock ("states.aml", "SSDT", 2, "IDLAB", "STATES", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)
    Name (\TCST, Package () {
        3,
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, 0) }, 1, 2, 1000 },
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, 0) }, 1, 100, 500 },
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, 0) }, 1, 1500, 100 }
    })
    Scope (\_SB.CPUS.C000) { Method (_CST) { Return (\TCST) } }
    Scope (\_SB.CPUS.C001) { Method (_CST) { Return (\TCST) } }
}
TABLE
iasl states.dsl > iasl.log 2>&1

rm -rf root
mkdir -p root/{bin,proc,sys,dev,tmp,run}
cp "$(command -v busybox)" root/bin/
for tool in sh mount cat ls sleep poweroff head seq uname; do ln -s busybox "root/bin/$tool"; done
strip -o root/bin/idlelab "$idlelab"
ldd "$idlelab" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "root/$(dirname "$library")"
    cp -L "$library" "root/$library"
done
cat > root/init <<'INIT'
#!/bin/sh
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run
uname -rv
cat /sys/devices/system/cpu/cpuidle/current_driver
cd /tmp
for governor in menu ladder menu; do
    idlelab record --from-enable $governor -o x.parquet -- \
        sh -c 'for i in $(seq 150); do sleep 0.01; done'
    idlelab replay x.parquet -g menu | head -n 5
    ls /sys/kernel/tracing /run/idlelab
done
poweroff -f
INIT
chmod +x root/init
(cd root && find . | cpio -o -H newc --quiet | gzip -1) > root.gz
timeout 300 qemu-system-x86_64 -M pc -acpitable file=states.aml -cpu max -smp 2 -m 1024 \
    -kernel kernel/boot/vmlinuz-* -initrd root.gz -nographic -no-reboot \
    -append 'console=ttyS0 quiet mitigations=off panic=-1' < /dev/null | tee guest.log

# Each of the three recordings is of fidelity 4 and reproduced to the last decision.
status=0
[ "$(grep -c 'idlelab: fidelity 4 ' guest.log)" = 3 ] || status=1
checks=$(grep -o '[0-9]* of [0-9]* reproduced by' guest.log) || status=1
while read -r reproduced _ decisions _; do
    [ "$reproduced" = "$decisions" ] || status=1
done <<< "$checks"
exit $status
