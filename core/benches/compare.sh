#!/bin/sh
# Counts the instructions of the hub's hot paths and holds them against baseline.txt: one line each with the change in
# percent. `--record` writes a new baseline instead; `--limit N` fails if a path costs more than N percent more.
# Needs valgrind, and gungraun-runner of the version in Cargo.toml (cargo install gungraun-runner).
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

counts=$(cargo bench --quiet --bench hub 2>/dev/null | awk '
    /^hub::hub::/ { split($2, name, ":"); sub("hub::hub::", "", $1); path = $1 "." name[1] }
    $1 == "Instructions:" { split($2, count, "|"); print path, count[1] }')
[ -n "$counts" ] || { echo "no counts: does 'cargo bench' work here?" >&2; exit 2; }

if [ $mode = record ]; then
    { echo "# Instructions a message, by compare.sh --record. $(rustc --version)"; echo "$counts"; } > baseline.txt
    echo "$counts"
    exit
fi
echo "$counts" | awk -v limit="$limit" '
    NR == FNR { if ($1 != "#") known[$1] = $2; next }
    !($1 in known) { printf "%-44s %10d        new\n", $1, $2; next }
    {
        change = ($2 - known[$1]) * 100 / known[$1]
        worse = limit != "" && change > limit
        failed = failed || worse
        printf "%-44s %10d %+9.2f %%%s\n", $1, $2, change, worse ? "  too much" : ""
    }
    END { exit failed }' baseline.txt -
