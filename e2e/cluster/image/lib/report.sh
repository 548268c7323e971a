# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Messages on the container's output.

say() { echo "cluster: $*"; }

fail() {
  echo "cluster: $*" >&2
  exit 1
}

# wait_for WHAT SECONDS COMMAND...: until the command succeeds; fails when it did not within the time, or when a program
# of the node ended meanwhile.
wait_for() {
  local what=$1 limit=$2 end=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    fail_if_ended
    [ $SECONDS -lt $end ] || fail "gave up after $limit s waiting for $what; last answer: $("$@" 2>&1 | tail -n 3)"
    sleep 0.2
  done
}
