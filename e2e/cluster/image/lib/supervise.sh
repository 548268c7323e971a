# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Starts the node's programs and ends the container when one of them ends.

LOGS=/var/log/kvpool-cluster
mkdir -p "$LOGS"
declare -A RUNNING=() # name of each program by process id

# start NAME COMMAND...: runs the command in the background; its output goes to a file of its own.
start() {
  local name=$1
  shift
  "$@" >>"$LOGS/$name.log" 2>&1 &
  RUNNING[$!]=$name
}

# Says which program ended and why, as the container's last words, since its files go with it.
report_end() {
  local name=$1 status=$2
  echo "cluster: $name ended with status $status; the last lines of $LOGS/$name.log:" >&2
  tail -n 30 "$LOGS/$name.log" >&2
}

fail_if_ended() {
  local pid status
  for pid in "${!RUNNING[@]}"; do
    kill -0 "$pid" 2>/dev/null && continue
    status=0
    wait "$pid" || status=$?
    report_end "${RUNNING[$pid]}" "$status"
    exit 1
  done
}

# Waits for the first program that ends; never returns.
supervise() {
  local ended='' status=0
  wait -n -p ended "${!RUNNING[@]}" || status=$?
  report_end "${RUNNING[$ended]:-a program}" "$status"
  exit 1
}

# Stops everything in order: programs first, so that etcd closes its file, then the pods.
stop_all() {
  trap - TERM INT
  kill -TERM "${!RUNNING[@]}" 2>/dev/null || true
  sleep 1
  kill -KILL -1 2>/dev/null || true
  exit 0
}
trap stop_all TERM INT
