#!/bin/sh
# Runs the official MCP conformance suite against examples/conformance. Node 22 and the suite come from npm into a cache.
# usage: conformance.sh [REVISION…]        CONFORMANCE_CACHE, CARGO and CARGO_TARGET_DIR are honoured
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
cache=${CONFORMANCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bridged-mcp-conformance}
suite=0.2.0-alpha.12
[ $# -gt 0 ] || set -- 2025-11-25 2026-07-28

node=$cache/node_modules/node/bin/node
run=$cache/node_modules/@modelcontextprotocol/conformance/dist/index.js
if [ ! -x "$node" ] || ! grep -q "\"version\": \"$suite\"" "$cache/node_modules/@modelcontextprotocol/conformance/package.json" 2>/dev/null; then
    mkdir -p "$cache"
    # The suite needs fs.globSync, which came with Node 22.
    (cd "$cache" && npm install --no-audit --no-fund --loglevel=error --prefix . node@22 "@modelcontextprotocol/conformance@$suite") >&2
fi

(cd "$root" && "${CARGO:-cargo}" build -q -p bridge-mcp --example conformance)
work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
"${CARGO_TARGET_DIR:-$root/target}/debug/examples/conformance" 0 >"$work/url" &
server=$!
tries=0
until [ -s "$work/url" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "the fixture server did not start" >&2; exit 1; }
    sleep 0.1
done

failed=0
for revision in "$@"; do
    result=0
    "$node" "$run" server --url "$(cat "$work/url")" --requirements "$revision" \
        --expected-failures "$here/conformance-baseline.yml" -o "$work/$revision" >"$work/$revision.txt" 2>&1 || result=$?
    # The closing lines: a line per scenario and what the suite says of them.
    sed -n '/^=== SUMMARY ===/,$p' "$work/$revision.txt" >"$work/$revision.end"
    scored=$(sed -n '/^=== SUMMARY ===/,/^Total:/p' "$work/$revision.end" | grep -c '^[✓✗]' || true)
    if [ "$result" -ne 0 ] || [ ! -s "$work/$revision.end" ]; then cat "$work/$revision.txt"; failed=1; fi
    cat "$work/$revision.end"
    echo "conformance $revision: exit $result, $scored scenarios run"
done
exit "$failed"
