# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Starts, stops and fills a cluster. NAME and NODES are set by the command line.

START_LIMIT_SECONDS=${KVDEV_CLUSTER_START_LIMIT_SECONDS:-180}

# The first node's container has the control plane; the others are named after it with a number from 2 on.
container() { echo "kvpool-cluster-$NAME"; }

# All containers of the cluster, the first node's first.
all_containers() { docker ps --all --filter "label=kvpool.dev/cluster=$NAME" --format '{{.Names}}' | LC_ALL=C sort; }

# state_of CONTAINER
state_of() {
  local state
  state=$(docker inspect --format '{{.State.Status}}' "$1" 2>/dev/null) || state=absent
  echo "$state"
}

require_running() {
  require_engine
  [ "$(state_of "$(container)")" = running ] || die "cluster $NAME does not run; start it with: cluster up --name $NAME"
}

default_kubeconfig() {
  if [ "$NAME" = "$DEFAULT_NAME" ]; then echo "$STATE/kubeconfig"; else echo "$STATE/kubeconfig-$NAME"; fi
}

cluster_up() {
  local kubeconfig=${1:-$(default_kubeconfig)} image number
  image=$(provide_image)
  EXTRA_FLAGS=(--publish 127.0.0.1::6443)
  bring_up "$(container)" "$image" server --disable=traefik --tls-san=127.0.0.1
  wait_until_ready
  for ((number = 2; number <= NODES; number++)); do add_node "$(container)-$number" "$image"; done
  write_kubeconfig "$kubeconfig"
  say "cluster $NAME is ready; use it with:"
  echo "export KUBECONFIG=$kubeconfig"
}

# bring_up CONTAINER IMAGE COMMAND...: runs it, unless it runs already. EXTRA_FLAGS go to the engine.
bring_up() {
  local name=$1 image=$2
  shift 2
  case $(state_of "$name") in
    running) warn_if_other_image "$name" "$image" ;;
    absent) timed "start $name" run_container "$name" "$image" "$@" ;;
    *) timed "start $name again" docker start "$name" ;;
  esac
}

warn_if_other_image() {
  local used
  used=$(docker inspect --format '{{.Config.Image}}' "$1")
  [ "$used" = "$2" ] || say "$1 runs $used, now it would be $2; to change: cluster down --name $NAME, then cluster up"
}

run_container() {
  local name=$1 image=$2
  shift 2
  choose_run_flags "$image"
  docker run --detach --name "$name" --hostname "$name" --label "kvpool.dev/cluster=$NAME" "${RUN_FLAGS[@]}" \
    "${EXTRA_FLAGS[@]}" "$image" "$@"
}

# add_node CONTAINER IMAGE
add_node() {
  local address token
  address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$(container)")
  token=$(docker exec "$(container)" cat /var/lib/rancher/k3s/server/node-token)
  EXTRA_FLAGS=(--env "K3S_URL=https://$address:6443" --env "K3S_TOKEN=$token")
  bring_up "$1" "$2" agent
  timed "wait for node $1" docker exec "$(container)" kubectl wait --for=create "node/$1" --timeout=90s
  timed "wait until node $1 is ready" \
    docker exec "$(container)" kubectl wait --for=condition=Ready "node/$1" --timeout=90s
}

# Ready as Testcontainers sees it: by the log line. Counted from the container's last start.
wait_until_ready() {
  local end=$((SECONDS + START_LIMIT_SECONDS)) since
  since=$(docker inspect --format '{{.State.StartedAt}}' "$(container)")
  until docker logs --since "$since" "$(container)" 2>&1 | grep 'Node controller sync successful' >/dev/null; do
    [ "$(state_of "$(container)")" = running ] ||
      die "cluster $NAME ended while starting: $(docker logs --tail 40 "$(container)" 2>&1)"
    [ $SECONDS -lt $end ] ||
      die "cluster $NAME was not ready within $START_LIMIT_SECONDS s: $(docker logs --tail 40 "$(container)" 2>&1)"
    sleep 0.3
  done
}

write_kubeconfig() {
  local address
  address=$(docker port "$(container)" 6443/tcp | head -n 1)
  mkdir -p "$(dirname "$1")"
  (umask 077 && docker exec "$(container)" cat /etc/rancher/k3s/k3s.yaml |
    sed -E "s#^( *server:).*#\1 https://$address#" >"$1.new")
  grep -q "https://$address" "$1.new" || die "the cluster's kubeconfig is not as expected: $1.new"
  mv "$1.new" "$1"
}

cluster_down() {
  require_engine
  local containers
  mapfile -t containers < <(all_containers)
  if [ ${#containers[@]} = 0 ]; then
    say "cluster $NAME does not exist"
  else
    docker rm --force --volumes "${containers[@]}" >/dev/null
    say "cluster $NAME is gone"
  fi
  rm -f "$(default_kubeconfig)"
}

cluster_status() {
  require_engine
  local state
  state=$(state_of "$(container)")
  echo "cluster $NAME: $state"
  [ "$state" = running ] || return 1
  echo "image: $(docker inspect --format '{{.Config.Image}}' "$(container)")"
  echo "kubeconfig: $(default_kubeconfig)"
  docker exec "$(container)" kubectl get nodes -o wide
  docker exec "$(container)" kubectl get pods --all-namespaces
}

# cluster_load IMAGE|TAR...: makes images of the engine, or in tar files, known to all nodes.
cluster_load() {
  local image node
  [ $# -gt 0 ] || die "load needs at least one image or tar file"
  require_running
  for node in $(all_containers); do
    for image in "$@"; do
      if [ -f "$image" ]; then
        timed "load $image into $node" import_image "$node" <"$image"
      else
        image_present "$image" || die "the engine has no image $image; build or pull it first"
        timed "load $image into $node" save_and_import "$node" "$image"
      fi
    done
  done
}

import_image() { docker exec --interactive "$1" ctr -n k8s.io images import - >/dev/null; }

save_and_import() { docker save "$2" | import_image "$1"; }

# cluster_logs [PROGRAM]: what the container printed, or one of its programs, such as kubelet or kube-apiserver.
cluster_logs() {
  require_engine
  [ "$(state_of "$(container)")" != absent ] || die "cluster $NAME does not exist"
  if [ -z "${1:-}" ]; then
    docker logs "$(container)" 2>&1
  else
    docker cp "$(container):/var/log/kvpool-cluster/$1.log" - 2>/dev/null | tar -xO ||
      die "no log of a program named $1"
  fi
}
