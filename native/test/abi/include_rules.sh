#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# include_rules.sh SRC: which folder may include which: abi -> node, engine, agent -> client -> ssd, net, ucx -> store, secure -> wire -> base.
# A core is a state machine: it includes no shell and nothing that does I/O, asks a clock or knows threads. The public header
# includes <stdint.h> only.
set -euo pipefail
src=$1
declare -A may=(
    [base]="kvpool schema"
    [wire]="base kvpool dev_kvpool_wire"
    [secure]="base kvpool"
    [net]="base wire secure kvpool"
    [store]="base wire kvpool"
    [ssd]="base store kvpool"
    [ucx]="base wire kvpool"
    [ascend/core]="base kvpool"
    [ascend/cann]="base ascend/core kvpool"
    [ascend/shell]="base net ascend/core ascend/cann kvpool"
    [client/core]="base wire kvpool dev_kvpool_wire"
    [client/shell]="base wire secure net store ucx ascend/core ascend/cann ascend/shell client/core kvpool"
    [node/core]="base wire secure store ssd kvpool dev_kvpool_wire"
    [node/shell]="base wire secure net store ssd ucx ascend/core ascend/cann ascend/shell node/core kvpool"
    [engine/core]="base wire kvpool dev_kvpool_wire"
    [engine/shell]="base wire secure net ascend/core ascend/cann ascend/shell engine/core kvpool"
    [agent/core]="base wire client/core kvpool dev_kvpool_wire"
    [agent/shell]="base wire net store client/core client/shell agent/core kvpool"
    [devices]="base ascend/cann"
    [launcher]="devices"
    [abi]="base wire secure net store ssd node/shell client/core client/shell engine/core engine/shell agent/core agent/shell kvpool"
)
impure='sys/|net|arpa/|poll|pthread|unistd|fcntl|signal|thread|mutex|shared_mutex|condition_variable|future|atomic|stop_token'
impure+='|chrono|ctime|time\.h|fstream|iostream|filesystem|random_device'
failed=0
breach() {
    echo "$1"
    failed=1
}
while read -r dir; do
    folder=${dir#"$src"/}
    [ -n "${may[$folder]+known}" ] || { breach "$folder is no part of the library; add it to the rules"; continue; }
    while IFS=: read -r file line include; do
        case " $folder ${may[$folder]} " in
            *" $(dirname "$include") "*) ;;
            *) breach "${file#"$src"/}:$line includes $include, which $folder may not" ;;
        esac
    done < <(grep -HnoP '^\s*#include "\K[^"]+' "$dir"/*.cc "$dir"/*.h || true)
    [[ $folder != */core ]] || while IFS=: read -r file line include; do
        breach "${file#"$src"/}:$line includes <$include>: a core has no I/O, no clock and no threads"
    done < <(grep -HnoP "^\s*#include <\K($impure)[^>]*" "$dir"/*.cc "$dir"/*.h || true)
done < <(find "$src" \( -name '*.cc' -o -name '*.h' \) -printf '%h\n' | sort -u)
others=$(grep -P '^\s*#include' "$src/../include/kvpool/kvpool.h" | grep -v '<stdint.h>' || true)
[ -z "$others" ] || breach "kvpool.h includes more than <stdint.h>: $others"
for header in engine agent enrol; do
    others=$(grep -P '^\s*#include' "$src/../include/kvpool/$header.h" | grep -v '"kvpool/kvpool.h"' || true)
    [ -z "$others" ] || breach "$header.h includes more than kvpool.h: $others"
done
exit $failed
