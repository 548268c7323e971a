# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Steps with a name, a duration and a log of their own. What a step says to its user goes to file descriptor 3.

exec 3>&1
STEP_NUMBER=0

say() { echo "      $*" >&3; }

die() {
  echo "demo: $*" >&2
  exit 1
}

# step NAME COMMAND: runs the command in this shell, so that it can set variables, with its output in a log.
step() {
  local begin=$SECONDS
  STEP_NUMBER=$((STEP_NUMBER + 1))
  STEP_NAME=$1 STEP_LOG=$RUN/$STEP_NUMBER-$2.log
  printf '%2d  %s\n' "$STEP_NUMBER" "$STEP_NAME" >&3
  "$2" >"$STEP_LOG" 2>&1
  say "$((SECONDS - begin)) s"
  STEP_NAME=''
}

# On the way out of a failed step: what it printed, and the state of the cluster.
report_failure() {
  local status=$?
  [ "$status" = 0 ] && return
  set +e
  {
    echo
    echo "demo failed in step '${STEP_NAME:-}'; its last lines, from ${STEP_LOG:-}:"
    [ -z "${STEP_LOG:-}" ] || tail -n 30 "$STEP_LOG"
    if kubectl get --raw /readyz >/dev/null 2>&1; then
      echo "state of the cluster; pods' logs are in $RUN/logs:"
      kubectl get kvp --all-namespaces --output wide
      kubectl get pods --all-namespaces --output wide
      kubectl get events --sort-by .lastTimestamp 2>&1 | tail -n 20
      keep_logs
    fi
  } >&3 2>&1
}
trap report_failure EXIT

keep_logs() {
  local namespace pod
  mkdir -p "$RUN/logs"
  kubectl get pods --all-namespaces --selector app.kubernetes.io/part-of=kvpool --no-headers \
    --output custom-columns=N:.metadata.namespace,P:.metadata.name |
    while read -r namespace pod; do
      kubectl logs --namespace "$namespace" "$pod" --all-containers --tail 1000 >"$RUN/logs/$pod.log" 2>&1
      kubectl logs --namespace "$namespace" "$pod" --all-containers --tail 1000 --previous \
        >"$RUN/logs/$pod.previous.log" 2>/dev/null || rm -f "$RUN/logs/$pod.previous.log"
    done
}
