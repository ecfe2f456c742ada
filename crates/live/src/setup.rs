// SPDX-License-Identifier: GPL-2.0-or-later
//! The same recording by a shell's means, for a machine without idlelab.

use std::fmt::Write;

use crate::events::TRACEPOINTS;
use crate::instance::CLOCK;

const HEAD: &str = r#"#!/bin/sh
# Records what CPU idle governors see, for `idlelab import`. As root:
#   sh record.sh FOLDER SECONDS
#   tar czf FOLDER.tar.gz FOLDER     and, where idlelab is:  idlelab import FOLDER -o FILE.parquet
# It needs a POSIX shell and cat, cp, mkdir, mount, sleep and timeout (busybox has them).
# It traces in an instance of its own and removes that when it ends, however it is ended.
set -eu
folder=${1:?usage: sh record.sh FOLDER SECONDS}
seconds=${2:?usage: sh record.sh FOLDER SECONDS}
mkdir "$folder"
tracefs=$(while read -r _ place kind _; do
    if [ "$kind" = tracefs ]; then echo "$place"; break; fi
done < /proc/self/mounts)
mounted=
if [ -z "$tracefs" ]; then
    tracefs=/sys/kernel/tracing
    mount -t tracefs tracefs "$tracefs"
    mounted=yes
fi
instance=$tracefs/instances/idlelab-$$
undo() {
    trap - EXIT
    if [ -d "$instance" ]; then
        echo 0 > "$instance/tracing_on"
        rmdir "$instance" || { sleep 1; rmdir "$instance"; }
    fi
    if [ -n "$mounted" ]; then umount "$tracefs"; fi
}
trap undo EXIT
trap 'exit 1' INT TERM HUP
mkdir "$instance"
echo 0 > "$instance/tracing_on"
"#;

const BODY: &str = r#"for event in $events; do
    if [ -d "$instance/events/$event" ]; then
        echo 1 > "$instance/events/$event/enable"
        mkdir -p "$folder/trace/events/$event"
        cat "$instance/events/$event/format" > "$folder/trace/events/$event/format"
    fi
done
cat "$tracefs/events/header_page" > "$folder/trace/events/header_page"
cat "$tracefs/printk_formats" > "$folder/trace/printk_formats"
cat "$instance/trace_clock" > "$folder/trace/trace_clock"
mkdir -p "$folder/proc/sys/kernel"
cat /proc/kallsyms > "$folder/proc/kallsyms"
cat /proc/sys/kernel/osrelease > "$folder/proc/sys/kernel/osrelease"
cat /proc/sys/kernel/version > "$folder/proc/sys/kernel/version"

# The idle states' tables and counters, and the topology.
cpus=/sys/devices/system/cpu
snapshot() {
    for file in "$cpus"/cpuidle/current_* "$cpus"/cpu[0-9]*/cpuidle/state*/* \
            "$cpus"/cpu[0-9]*/topology/*_list; do
        if [ -f "$file" ]; then
            mkdir -p "$folder/$1${file%/*}"
            cat "$file" > "$folder/$1$file" 2> /dev/null || true
        fi
    done
}
snapshot before
echo 1 > "$instance/tracing_on"
sleep "$seconds"
echo 0 > "$instance/tracing_on"
snapshot after

# The ring buffers' pages. cat waits for more when it has all there is, and is ended.
for pages in "$instance"/per_cpu/cpu*/trace_pipe_raw; do
    cpu=${pages%/trace_pipe_raw}
    cpu=${cpu##*/}
    mkdir -p "$folder/trace/per_cpu/$cpu"
    timeout 20 cat "$pages" > "$folder/trace/per_cpu/$cpu/trace_pipe_raw" &
done
wait
for cpu in "$folder"/trace/per_cpu/cpu*; do
    cat "$instance/per_cpu/${cpu##*/}/stats" > "$cpu/stats"
done
"#;

/// A script for a POSIX shell that records without idlelab, at fidelity 3 or what the kernel
/// allows, into a folder that `idlelab import` reads; `buffer_kib` is the size of each CPU's
/// buffer, in which the whole recording must fit.
#[must_use]
pub fn setup_script(buffer_kib: u32) -> String {
    let mut script = HEAD.to_owned();
    // Writing into a text cannot fail.
    let _ = writeln!(script, "echo {CLOCK} > \"$instance/trace_clock\"");
    let _ = writeln!(script, "# KiB a CPU: what does not fit is lost, the oldest first.");
    let _ = writeln!(script, "echo {buffer_kib} > \"$instance/buffer_size_kb\"");
    let names: Vec<_> =
        TRACEPOINTS.iter().map(|point| format!("{}/{}", point.system, point.event)).collect();
    let _ = writeln!(script, "events='{}'", names.join("\n"));
    script + BODY
}
