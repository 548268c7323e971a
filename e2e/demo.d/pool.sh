# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the demo does with a pool: wait for it, use it from pods, kill its leader.

# Waits until the pool is Ready, and says each time what is new.
await_ready() {
  local end=$((SECONDS + READY_LIMIT)) before='' now
  until [[ $before == Ready* ]]; do
    now=$(kubectl get kvp "$POOL" --output jsonpath='{.status.phase}: {.status.message}')
    # Before the operator has seen the pool there is neither.
    [ "$now" = "$before" ] || [ "$now" = ': ' ] || say "$now"
    before=$now
    [ $SECONDS -lt $end ] || die "pool $POOL was not Ready within $READY_LIMIT s: $now"
    [[ $before == Ready* ]] || sleep 1
  done
}

# run_client POD VERB EXPECTED: runs kvcheck in a pod of its own; it must print the expected line.
run_client() {
  local pod=$1 verb=$2 expected=$3
  run_pod "$pod" "$(client_spec "$verb")"
  kubectl logs "$pod" >"$RUN/$pod.log"
  grep -qxF "$expected" "$RUN/$pod.log" || die "pod $pod did not print '$expected' but: $(cat "$RUN/$pod.log")"
  say "pod $pod: $expected"
}

# run_pod NAME SPEC: runs a pod to its end; fails with its log when it fails.
run_pod() {
  local pod=$1 end=$((SECONDS + CLIENT_LIMIT)) phase
  kubectl delete pod "$pod" --ignore-not-found --now
  jq -n --arg name "$pod" --argjson spec "$2" '{apiVersion: "v1", kind: "Pod", metadata: {$name}, $spec}' |
    kubectl create --filename -
  while :; do
    phase=$(kubectl get pod "$pod" --output jsonpath='{.status.phase}')
    case $phase in
      Succeeded) return ;;
      Failed) die "pod $pod failed: $(kubectl logs "$pod")" ;;
    esac
    [ $SECONDS -lt $end ] || die "pod $pod did not end within $CLIENT_LIMIT s, it is $phase"
    sleep 0.5
  done
}

# The client gets what it has to know from the pool's ConfigMaps, as an engine would: `kubectl kvpool client-config` prints this.
client_spec() {
  local audience
  audience=$(kubectl get configmap "$POOL-identity" --output jsonpath='{.data.audience}')
  jq -n --arg verb "$1" --arg prefix "$PREFIX" --arg count "$OBJECTS" --arg pool "$POOL" --arg audience "$audience" '{
    restartPolicy: "Never", automountServiceAccountToken: false,
    containers: [{
      name: "client", image: "kvpool-client:0.1.0",
      command: ["kvcheck", $verb, "--prefix", $prefix, "--count", $count],
      envFrom: [{configMapRef: {name: ($pool + "-client")}}],
      env: [{name: "KVPOOL_IDENTITY_DIR", value: "/etc/kvpool-identity"}],
      volumeMounts: [{name: "kvpool-identity", mountPath: "/etc/kvpool-identity", readOnly: true}]}],
    volumes: [{name: "kvpool-identity", projected: {sources: [
      {serviceAccountToken: {path: "token", audience: $audience, expirationSeconds: 3600}},
      {configMap: {name: ($pool + "-identity")}}]}}]}'
}

# Prints the leading master and its epoch, from the pool's Lease.
lease_holder() {
  kubectl get lease "$POOL-master" --output json |
    jq -r '(.spec.holderIdentity | sub("_[0-9a-f]+$"; "")) + " " + (.spec.leaseTransitions | tostring)'
}

# kill_container POD: SIGKILL to the first process of the pod's container, from a pod that sees the node's processes.
kill_container() {
  local id
  id=$(kubectl get pod "$1" --output jsonpath='{.status.containerStatuses[0].containerID}')
  run_pod killer "$(killer_spec "${id#*//}" "$(kubectl get pod "$1" --output jsonpath='{.spec.nodeName}')")"
  kubectl delete pod killer --now
}

killer_spec() {
  jq -n --arg id "$1" --arg node "$2" --rawfile program e2e/faults/kill_container.py '{
    restartPolicy: "Never", automountServiceAccountToken: false, hostPID: true, nodeName: $node,
    containers: [{
      name: "killer", image: "kvpool-client:0.1.0", command: ["python3", "-c", $program, $id],
      securityContext: {runAsUser: 0}}]}'
}

# Sets NEW_LEADER and NEW_EPOCH when a later epoch began and the pool's status names its leader.
await_leader_after() {
  local end=$((SECONDS + TAKEOVER_LIMIT)) status
  while :; do
    read -r NEW_LEADER NEW_EPOCH < <(lease_holder)
    status=$(kubectl get kvp "$POOL" --output jsonpath='{.status.leader.pod} {.status.leader.epoch}')
    [ "$NEW_EPOCH" -gt "$1" ] && [ "$status" = "$NEW_LEADER $NEW_EPOCH" ] && return
    [ $SECONDS -lt $end ] || die "no leader after epoch $1 within $TAKEOVER_LIMIT s; the pool's status names '$status'"
    sleep 0.3
  done
}
