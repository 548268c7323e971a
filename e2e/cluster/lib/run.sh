# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Starts, stops and fills a cluster. NAME is set by the command line.

START_LIMIT_SECONDS=${KVPOOL_CLUSTER_START_LIMIT_SECONDS:-180}

container() { echo "kvpool-cluster-$NAME"; }

container_state() {
  local state
  state=$(docker inspect --format '{{.State.Status}}' "$(container)" 2>/dev/null) || state=absent
  echo "$state"
}

require_running() {
  require_engine
  [ "$(container_state)" = running ] || die "cluster $NAME does not run; start it with: cluster up --name $NAME"
}

default_kubeconfig() {
  if [ "$NAME" = "$DEFAULT_NAME" ]; then echo "$STATE/kubeconfig"; else echo "$STATE/kubeconfig-$NAME"; fi
}

cluster_up() {
  local kubeconfig=${1:-$(default_kubeconfig)} image
  image=$(provide_image)
  case $(container_state) in
    running) warn_if_other_image "$image" ;;
    absent) timed "start cluster $NAME" run_container "$image" ;;
    *) timed "start cluster $NAME again" docker start "$(container)" ;;
  esac
  wait_until_ready
  write_kubeconfig "$kubeconfig"
  say "cluster $NAME is ready; use it with:"
  echo "export KUBECONFIG=$kubeconfig"
}

warn_if_other_image() {
  local used
  used=$(docker inspect --format '{{.Config.Image}}' "$(container)")
  [ "$used" = "$1" ] ||
    say "cluster $NAME runs $used, now it would be $1; to change: cluster down --name $NAME, then cluster up"
}

run_container() {
  choose_run_flags "$1"
  docker run --detach --name "$(container)" --hostname "$(container)" --label "kvpool.dev/cluster=$NAME" \
    "${RUN_FLAGS[@]}" --publish 127.0.0.1::6443 "$1" server --disable=traefik --tls-san=127.0.0.1
}

# Ready as Testcontainers sees it: by the log line. Counted from the container's last start.
wait_until_ready() {
  local end=$((SECONDS + START_LIMIT_SECONDS)) since
  since=$(docker inspect --format '{{.State.StartedAt}}' "$(container)")
  until docker logs --since "$since" "$(container)" 2>&1 | grep 'Node controller sync successful' >/dev/null; do
    [ "$(container_state)" = running ] ||
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
  if [ "$(container_state)" = absent ]; then
    say "cluster $NAME does not exist"
  else
    docker stop -t 10 "$(container)" >/dev/null
    docker rm --volumes "$(container)" >/dev/null
    say "cluster $NAME is gone"
  fi
  rm -f "$(default_kubeconfig)"
}

cluster_status() {
  require_engine
  local state
  state=$(container_state)
  echo "cluster $NAME: $state"
  [ "$state" = running ] || return 1
  echo "image: $(docker inspect --format '{{.Config.Image}}' "$(container)")"
  echo "kubeconfig: $(default_kubeconfig)"
  docker exec "$(container)" kubectl get nodes -o wide
  docker exec "$(container)" kubectl get pods --all-namespaces
}

# cluster_load IMAGE|TAR...: makes images of the engine, or of tar files, known to the node.
cluster_load() {
  local image
  [ $# -gt 0 ] || die "load needs at least one image or tar file"
  require_running
  for image in "$@"; do
    if [ -f "$image" ]; then
      timed "load $image" import_image <"$image"
    else
      image_present "$image" || die "the engine has no image $image; build or pull it first"
      timed "load $image" save_and_import "$image"
    fi
  done
}

import_image() { docker exec --interactive "$(container)" ctr -n k8s.io images import - >/dev/null; }

save_and_import() { docker save "$1" | import_image; }

# cluster_logs [PROGRAM]: what the container printed, or one of its programs, such as kubelet or kube-apiserver.
cluster_logs() {
  require_engine
  [ "$(container_state)" != absent ] || die "cluster $NAME does not exist"
  if [ -z "${1:-}" ]; then
    docker logs "$(container)" 2>&1
  else
    docker cp "$(container):/var/log/kvpool-cluster/$1.log" - 2>/dev/null | tar -xO ||
      die "no log of a program named $1"
  fi
}
