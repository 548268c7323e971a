# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The image of the cluster: K3s where it can be pulled, else a substitute built from Go modules and Debian packages.

# What Kubernetes needs of a Debian: openssl makes the certificates, the rest runs and connects the pods.
NODE_ROOTFS=(--variant=essential
  --include='bash,ca-certificates,containerd,containernetworking-plugins,hostname,iproute2,iptables,mount,openssl,procps,runc,util-linux')

image_present() { docker image inspect "$1" >/dev/null 2>&1; }

# pull IMAGE: whether the image is here or could be fetched in time.
pull() {
  image_present "$1" && return
  say "trying to pull $1"
  timeout "$PULL_LIMIT_SECONDS" docker pull --quiet "$1" >/dev/null 2>&1
}

# Prints the reference of the image to use, after making sure that it is in the engine.
provide_image() {
  require_engine
  if [ -z "${KVDEV_CLUSTER_IMAGE:-}" ]; then
    provide_public_or_own "$K3S_IMAGE" "kvpool-cluster:$(substitute_hash)" build_substitute
    return
  fi
  pull "$KVDEV_CLUSTER_IMAGE" || die "KVDEV_CLUSTER_IMAGE=$KVDEV_CLUSTER_IMAGE is not here and cannot be pulled"
  echo "$KVDEV_CLUSTER_IMAGE"
}

# provide_public_or_own PUBLIC OWN BUILD: prints the one that is at hand. A public image is preferred, but once an own one
# was built no more time is spent on asking a registry that did not answer.
provide_public_or_own() {
  local public=$1 own=$2 build=$3
  if image_present "$public"; then
    echo "$public"
  elif image_cached "$own" || ! pull "$public"; then
    provide_cached "$own" "$build"
    echo "$own"
  else
    echo "$public"
  fi
}

image_tar() { echo "$CACHE/images/${1/:/-}-$ARCH.tar"; }

image_cached() { image_present "$1" || [ -e "$(image_tar "$1")" ]; }

substitute_hash() { content_hash "$(rootfs_hash "${NODE_ROOTFS[@]}")" -- programs image; }

# provide_cached IMAGE BUILD: from the engine, else from the cache's tar file, else built by BUILD IMAGE and saved there.
provide_cached() { with_lock "image-${1%%:*}" provide_cached_alone "$@"; }

provide_cached_alone() {
  local image=$1 build=$2 tar
  tar=$(image_tar "$image")
  image_present "$image" && return
  if [ -e "$tar" ]; then
    timed "load $image from $tar" docker load --quiet --input "$tar"
    return
  fi
  "$build" "$image"
  mkdir -p "$CACHE/images"
  timed "save $image" docker save --output "$tar.new" "$image"
  mv "$tar.new" "$tar"
  # Earlier versions of the image, unless somebody may still switch between them.
  find "$CACHE/images" -name "${image%%:*}-????????????-$ARCH.tar" -mtime +7 -delete
}

build_substitute() {
  local image=$1 rootfs context
  build_programs
  provide_pause
  rootfs=kvpool-cluster-rootfs:$(rootfs_hash "${NODE_ROOTFS[@]}")
  provide_cached_alone "$rootfs" build_rootfs
  context=$(mktemp -d)
  timed "assemble $image" assemble_substitute "$context" "$image" "$rootfs"
  rm -rf "$context"
}

build_rootfs() {
  local tar
  tar=$(mktemp --suffix=.tar)
  timed "bootstrap Debian $DEBIAN_SUITE for the node" bootstrap_debian "$tar" "${NODE_ROOTFS[@]}"
  timed "import $1" docker import "$tar" "$1"
  rm -f "$tar"
}

# The pause image of the pods. Any container engine can run it, so it also serves as Testcontainers' tiny image.
pause_image() { echo "kvpool-cluster-pause:$(programs_hash)"; }

provide_pause() {
  local context image
  image=$(pause_image)
  image_present "$image" && return
  build_programs
  context=$(mktemp -d)
  cp "$NODE_PROGRAMS/pause" "$context/"
  docker build --quiet --tag "$image" --tag kvpool-cluster-pause:local --file "$HERE/image/pause.Dockerfile" "$context" >/dev/null
  rm -rf "$context"
}

assemble_substitute() {
  local context=$1 image=$2 rootfs=$3 name
  mkdir -p "$context/programs" "$context/images"
  ln "$NODE_PROGRAMS/node" "$context/programs/node" 2>/dev/null || cp "$NODE_PROGRAMS/node" "$context/programs/node"
  for name in "${PROGRAMS[@]}"; do ln -s node "$context/programs/$name"; done
  docker tag "$(pause_image)" kvpool-cluster-pause:local
  docker save --output "$context/images/pause.tar" kvpool-cluster-pause:local
  cp -r "$HERE/image/." "$context/"
  docker build --quiet --build-arg ROOTFS="$rootfs" --tag "$image" "$context"
}
