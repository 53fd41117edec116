#!/usr/bin/env bash
# curl, as a skill written for OpenBridge uses it: its tool names, its camelCase, its answers; no token, no MCP.
set -uo pipefail
passed=0 failed=0
check() { # name, what must be in the answer, the answer
  if [[ $3 == *"$2"* ]]; then echo "ok      curl: $1"; passed=$((passed + 1)); else echo "FAILED  curl: $1: ${3:0:300}"; failed=$((failed + 1)); fi
}
tool() { curl -sS --max-time 40 "$HTTP/command" -H 'Content-Type: application/json' -d "{\"toolName\":\"$1\",\"args\":$2,\"sessionId\":\"witness\"}"; }
field() { sed -nE "s/.*\"$1\":\"?([^\",}]*).*/\1/p" <<<"$2" | head -n 1; }

health=$(curl -sS "$HTTP/health")
check "health is well" '"ok":true' "$health"
check "health names the tools" 'browser_snapshot' "$health"
opened=$(tool browser_new_tab "{\"url\":\"$SITE/form\",\"sessionId\":\"witness\",\"groupTitle\":\"Witness\"}")
check "browser_new_tab opens the form" '"data":{' "$opened"
tab=$(field tabId "$opened")
tree=$(tool browser_snapshot "{\"tabId\":$tab}")
check "browser_snapshot has refs" '"ref":"backend-' "$tree"
check "browser_fill by selector" '"success":true' "$(tool browser_fill "{\"tabId\":$tab,\"selector\":\"#who\",\"value\":\"curl-skill\"}")"
ref=$(grep -oE '"ref":"backend-[0-9]+"[^}]*"role":"button"|"role":"button"[^}]*"ref":"backend-[0-9]+"' <<<"$tree" | grep -oE 'backend-[0-9]+' | head -n 1)
check "browser_click by ref" '"data":{' "$(tool browser_click "{\"tabId\":$tab,\"ref\":\"$ref\"}")"
for _ in $(seq 50); do found=$(tool browser_find_tab '{"urlContains":"/thanks"}'); [[ $found == *thanks* ]] && break; sleep 0.1; done
check "browser_find_tab finds the next page" "/thanks?who=curl-skill" "$found"
check "browser_screenshot gives base64" '"mimeType":"image/png"' "$(tool browser_screenshot "{\"tabId\":$tab}" | sed -E 's/"base64":"[^"]*"/"base64":""/')"
check "browser_list_tabs lists it" "\"tabId\":$tab" "$(tool browser_list_tabs '{}')"
check "a wrong name is told" '"error":{' "$(tool browser_frobnicate '{}')"
check "a page's request is refused" '403' "$(curl -s -o /dev/null -w '%{http_code}' "$HTTP/command" -H 'Origin: https://evil.example' -H 'Content-Type: application/json' -d '{"toolName":"browser_list_tabs","args":{}}')"
check "a page as text by its address alone" 'Order form' "$(curl -sS "$HTTP/read?format=markdown&url=$SITE/form")"
check "browser_close_tab closes it" '"data":{' "$(tool browser_close_tab "{\"tabId\":$tab}")"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
