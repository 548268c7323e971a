# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds what runs inside the node, and the tools for using the cluster by hand. All cached by content.

programs_hash() { content_hash "$ARCH" -- programs; }

# Sets NODE_PROGRAMS to a folder with the files `node` (all of Kubernetes' programs, which acts by its name) and `pause`.
build_programs() {
  NODE_PROGRAMS=$CACHE/programs/$(programs_hash)
  [ -x "$NODE_PROGRAMS/pause" ] && return
  with_lock programs compile_programs
}

compile_programs() {
  [ -x "$NODE_PROGRAMS/pause" ] && return
  require_go
  mkdir -p "$NODE_PROGRAMS"
  timed "fetch Go modules" fetch_modules
  timed "compile Kubernetes $KUBERNETES_VERSION" go_build node
  timed "compile pause" go_build pause
}

# Fetches only what is compiled. The names of some two hundred modules are of no use to a reader.
fetch_modules() { in_programs "$GO" list -deps ./... 2> >(grep -v '^go: downloading' >&2); }

in_programs() { (cd "$HERE/programs" && "$@" >/dev/null); }

# The result appears under its name only when it is complete.
go_build() {
  local version=k8s.io/component-base/version minor=${KUBERNETES_VERSION#v1.}
  local flags="-s -w -X $version.gitVersion=$KUBERNETES_VERSION -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}"
  flags+=" -X $version.gitTreeState=clean"
  in_programs "$GO" build -trimpath -buildvcs=false -ldflags "$flags" -o "$NODE_PROGRAMS/$1.new" "./$1"
  mv "$NODE_PROGRAMS/$1.new" "$NODE_PROGRAMS/$1"
}

# provide_tools: kubectl and helm, of the versions that the tests use; prints the folder.
provide_tools() {
  local bin=$CACHE/bin/helm-$HELM_VERSION-kubernetes-$KUBERNETES_VERSION-$ARCH
  if [ ! -x "$bin/helm" ]; then
    require_go
    mkdir -p "$bin"
    timed "compile helm $HELM_VERSION" install_helm "$bin"
  fi
  build_programs
  ln -f "$NODE_PROGRAMS/node" "$bin/kubectl" 2>/dev/null || cp -f "$NODE_PROGRAMS/node" "$bin/kubectl"
  echo "$bin"
}

install_helm() {
  local flags="-s -w -X helm.sh/helm/v3/internal/version.version=$HELM_VERSION"
  GOBIN=$1 GOFLAGS='' "$GO" install -trimpath -ldflags "$flags" "helm.sh/helm/v3/cmd/helm@$HELM_VERSION" \
    2> >(grep -v '^go: downloading' >&2)
}

# provide_apiserver [DIR]: API server, etcd and kubectl in the layout that Fabric8's kube-api-test looks for; prints it.
provide_apiserver() {
  local dir=${1:-$CACHE/kubeapitest} name
  local bin="$dir/k8s/${KUBERNETES_VERSION#v}-linux-$ARCH"
  build_programs
  mkdir -p "$bin"
  for name in kube-apiserver etcd kubectl; do
    ln -f "$NODE_PROGRAMS/node" "$bin/$name" 2>/dev/null || cp -f "$NODE_PROGRAMS/node" "$bin/$name"
  done
  say "set KUBE_API_TEST_DIR=$dir and KUBE_API_TEST_OFFLINE_MODE=true"
  echo "$bin"
}
