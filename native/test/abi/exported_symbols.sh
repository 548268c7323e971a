#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# exported_symbols.sh HEADERS LIBRARY: the library exports the functions the headers of that directory declare, and
# nothing else, and, where releases are built, takes nothing of a libc that images of engines do not have yet: Ubuntu 22.04 has 2.35.
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
[ "$(getconf GNU_LIBC_VERSION)" = "glibc 2.36" ] || exit 0
newest=$(objdump -T "$library" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
[ "$(printf '%s\n' "$newest" GLIBC_2.35 | sort -V | tail -n 1)" = GLIBC_2.35 ] || {
    echo "the library needs $newest, which is above GLIBC_2.35:"
    objdump -T "$library" | grep -F "$newest"
    exit 1
}
