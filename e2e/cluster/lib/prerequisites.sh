# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the machine must have. INSTALL is set by the command line.

ENGINE_START_LIMIT_SECONDS=60

check_prerequisites() {
  MISSING=()
  need_command docker docker.io "a container engine with Docker's command line"
  need_command mmdebstrap mmdebstrap "only where images cannot be pulled"
  need_command openssl openssl "used by the tests"
  need_go
  need_running_engine
  if [ ${#MISSING[@]} -gt 0 ]; then
    say "missing: ${MISSING[*]}"
    die "on Debian, as root, this installs it: e2e/cluster/cluster prerequisites --install"
  fi
  say "everything needed is here"
}

# need_command COMMAND PACKAGE WHY
need_command() {
  command -v "$1" >/dev/null && return
  if [ -z "$INSTALL" ]; then
    MISSING+=("$1 ($3; Debian package $2)")
  else
    install_package "$2"
  fi
}

install_package() {
  [ "$(id -u)" = 0 ] || die "only root can install $1"
  command -v apt-get >/dev/null || die "cannot install on this system; install by hand: $1"
  if [ -z "${LISTS_FRESH:-}" ]; then
    timed "update package lists" apt-get update -qq
    LISTS_FRESH=yes
  fi
  timed "install $1" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1"
}

need_go() {
  find_go >/dev/null && return
  if [ -z "$INSTALL" ]; then
    MISSING+=("Go $GO_NEEDED or newer (https://go.dev/dl)")
    return
  fi
  need_command go golang-go "fetches the Go that is needed"
  install_go "$(command -v go)"
  find_go >/dev/null || die "the fetched Go does not run; install Go $GO_NEEDED or newer from https://go.dev/dl"
}

need_running_engine() {
  docker version >/dev/null 2>&1 && return
  if [ -z "$INSTALL" ]; then
    MISSING+=("a running docker daemon that this user may use")
    return
  fi
  [ "$(id -u)" = 0 ] || die "the docker daemon does not answer and only root can start it"
  start_engine
}

start_engine() {
  local end=$((SECONDS + ENGINE_START_LIMIT_SECONDS))
  command -v dockerd >/dev/null || install_package docker.io
  say "starting the docker daemon"
  if [ -d /run/systemd/system ]; then
    systemctl start docker
  else
    setsid dockerd >/var/log/dockerd.log 2>&1 </dev/null &
  fi
  until docker version >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] ||
      die "the docker daemon did not answer within $ENGINE_START_LIMIT_SECONDS s; see /var/log/dockerd.log"
    sleep 0.5
  done
}
