#!/usr/bin/env bash
# Checks docs/openapi.yaml against a running daemon with schemathesis (PyPI): every answer must be one that is described,
# malformed requests must be refused, and nothing may be had without the token.
# Usage: transports/http/openapi-check.sh [PYTHON]   (a Python that has schemathesis; else one is made in target/witness)
set -euo pipefail
cd "$(dirname "$0")/../.."
bridged=${BRIDGED_BIN:-$PWD/target/debug/bridged}
python=${1:-}
if [ -z "$python" ]; then
  python=$PWD/target/witness/schemathesis/bin/python
  if [ ! -x "$python" ]; then
    python3 -m venv target/witness/schemathesis
    "$python" -m pip install --quiet --disable-pip-version-check 'schemathesis>=4,<5'
  fi
fi
home=$(mktemp -d)
mkdir -m 700 "$home/run"
export HOME=$home XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config XDG_RUNTIME_DIR=$home/run
# Without the exception for the same user, so that what is said about the token can be tried too.
"$bridged" serve --port 0 --http-port 0 --compat strict --log warn >"$home/out" &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; wait $daemon 2>/dev/null || true; rm -rf "$home"' EXIT
url=
for _ in $(seq 200); do
  url=$(sed -n 's/.*listens on \(http:.*\)/\1/p' "$home/out")
  [ -n "$url" ] && break
  sleep 0.05
done
[ -n "$url" ] || { echo "openapi-check: the daemon did not start" >&2; exit 1; }
root=$PWD
cd "$home"
# Without a browser `/read` has to say 503; of 5xx only 500 would be a fault.
printf '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "4xx", "502", "503", "504"]\n' >schemathesis.toml
# A call that fails is answered with 400 although its request is well-formed: that is OpenBridge's way, so the check that
# takes 400 for a refused request is left out.
"$(dirname "$python")/schemathesis" run "$root/docs/openapi.yaml" --url "$url" \
  --header "Authorization: Bearer $(cat state/bridged/client.token)" \
  --exclude-checks positive_data_acceptance --max-examples "${EXAMPLES:-50}" --seed 1 --no-color --workers 1
