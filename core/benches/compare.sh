#!/bin/sh
# Counts the instructions of the hub's hot paths and holds them against baseline.txt: one line each with the change in
# percent. `--record` writes a new baseline instead; `--limit N` fails if a path costs more than N percent more.
# Needs valgrind. A change that is wanted is recorded in the commit that makes it.
set -eu
cd "$(dirname "$0")"
mode=compare limit=
while [ $# -gt 0 ]; do
    case $1 in
    --record) mode=record ;;
    --limit) limit=${2:?how many percent} && shift ;;
    *) sed -n '2,4s/^# //p' "$0" && exit 2 ;;
    esac
    shift
done

# Counts depend on the compiler, and on which of its variants memchr takes.
host=$(rustc -vV | sed -n 's/^host: //p')
grep -qw avx2 /proc/cpuinfo 2>/dev/null && host="$host with avx2"
here="$(rustc --version) for $host"
cargo build --quiet --release --locked
bin=${CARGO_TARGET_DIR:-target}/release/bridge-benches

counts=
for scene in $("$bin"); do
    # The environment is part of what a program finds on its stack.
    log=$(env -i valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*measured*' "$bin" "$scene" 2>&1) ||
        { echo "$log" >&2; exit 2; }
    count=$(echo "$log" | sed -n 's/.*Collected : //p')
    [ -n "$count" ] && [ "$count" -gt 0 ] || { echo "valgrind counted nothing in $scene" >&2; exit 2; }
    counts="$counts$scene $count
"
done

if [ $mode = record ]; then
    { echo "# Instructions a message, by compare.sh --record. $here"; printf %s "$counts"; } >baseline.txt
    cat baseline.txt
    exit
fi
known=$(sed -n '1s/.*--record\. //p' baseline.txt)
if [ "$known" != "$here" ]; then
    echo "The baseline is of $known; here it is $here."
    echo "Counts are shown and not judged. To judge a change here: go to the commit before it, 'core/benches/compare.sh --record', come back, compare."
    limit=
fi
printf %s "$counts" | awk -v limit="$limit" -f judge.awk baseline.txt -
