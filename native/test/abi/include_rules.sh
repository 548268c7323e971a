#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# include_rules.sh SRC: which part may include which: abi -> node, client, engine -> ssd, net, ucx -> store -> wire -> base,
# engine -> client for its queue of output, and agent -> client, whose work it does, and node, for its end of a socket.
# The public header includes <stdint.h> only; files and functions keep to their size.
set -euo pipefail
src=$1
declare -A may=(
    [base]="base kvpool"
    [wire]="base wire kvpool dev_kvpool_wire"
    [net]="base wire net kvpool"
    [store]="base wire store kvpool"
    [ucx]="base wire ucx kvpool"
    [client]="base wire net store ucx client kvpool dev_kvpool_wire"
    [ssd]="base store ssd kvpool"
    [node]="base wire net store ssd ucx node kvpool dev_kvpool_wire"
    [engine]="base wire net client engine kvpool dev_kvpool_wire"
    [agent]="base wire net store ssd node client agent kvpool dev_kvpool_wire"
    [launcher]="launcher"
    [abi]="base wire net store ssd node client engine agent abi kvpool"
)
failed=0
for dir in "$src"/*/; do
    part=$(basename "$dir")
    case $part in main | test) continue ;; esac # Java
    allowed=${may[$part]:-}
    [ -n "$allowed" ] || { echo "$part is no part of the library; add it to the rules"; failed=1; continue; }
    while IFS=: read -r file line include; do
        other=${include%%/*}
        case " $allowed " in
            *" $other "*) ;;
            *) echo "${file#"$src"/}:$line includes $include, which $part may not"; failed=1 ;;
        esac
    done < <(grep -rnoP '^\s*#include "\K[^"]+' "$dir")
done
others=$(grep -P '^\s*#include' "$src/../include/kvpool/kvpool.h" | grep -v '<stdint.h>' || true)
[ -z "$others" ] || { echo "kvpool.h includes more than <stdint.h>: $others"; failed=1; }
for header in engine agent; do
    others=$(grep -P '^\s*#include' "$src/../include/kvpool/$header.h" | grep -v '"kvpool/kvpool.h"' || true)
    [ -z "$others" ] || { echo "$header.h includes more than kvpool.h: $others"; failed=1; }
done
while read -r lines file; do
    [ "$file" = total ] && continue
    [ "$lines" -le 320 ] || { echo "${file#"$src"/} has $lines lines; split it at one idea per file"; failed=1; }
done < <(find "$src" \( -name '*.cc' -o -name '*.h' \) -print0 | xargs -0 wc -l)
exit $failed
