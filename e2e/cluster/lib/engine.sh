# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The container engine and what it allows.

require_engine() {
  docker version >/dev/null 2>&1 ||
    die "no container engine answers: $(docker version 2>&1 | tail -n 1); run: e2e/cluster/cluster prerequisites --install"
}

# May containers have every privilege? Machines without CAP_SYS_RESOURCE refuse that.
engine_gives_privileges() {
  docker run --rm --privileged --entrypoint /bin/sh "$1" -c : >/dev/null 2>&1
}

# choose_run_flags IMAGE: sets RUN_FLAGS to what a node needs of the engine: privileged where possible, else everything
# that this machine can give. K3s is run as its own documentation says.
choose_run_flags() {
  if [[ $1 != kvpool-cluster:* ]]; then
    RUN_FLAGS=(--privileged --tmpfs /run --tmpfs /var/run)
    return
  fi
  RUN_FLAGS=(--cgroupns host --volume /sys/fs/cgroup:/sys/fs/cgroup:rw --tmpfs /run:exec)
  if engine_gives_privileges "$1"; then
    RUN_FLAGS+=(--privileged)
  else
    RUN_FLAGS+=(--cap-add ALL --cap-drop SYS_RESOURCE --device-cgroup-rule 'a *:* rwm'
      --security-opt seccomp=unconfined --security-opt apparmor=unconfined)
  fi
}
