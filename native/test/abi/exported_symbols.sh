#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# exported_symbols.sh HEADERS LIBRARY: the library exports the functions the headers of that directory declare, and
# nothing else.
set -euo pipefail
headers=$1 library=$2
declared=$(grep -oP '^KV_API .*?\b\Kkv_[a-z_]+(?=\()' -h "$headers"/*.h | sort)
exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort)
[ -n "$declared" ] || { echo "found no declarations in $headers"; exit 1; }
if ! diff <(echo "$declared") <(echo "$exported") >/tmp/kvpool-symbols.$$; then
    echo "declared in the headers (<) and exported by the library (>) differ:"
    cat /tmp/kvpool-symbols.$$
    rm -f /tmp/kvpool-symbols.$$
    exit 1
fi
rm -f /tmp/kvpool-symbols.$$
echo "$(echo "$declared" | wc -l) functions"
