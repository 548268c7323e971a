# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Finds a Go that is new enough.

# Prints the path of a go command of at least the version in programs/go.mod; fails when there is none.
find_go() {
  local candidate
  for candidate in "$(command -v go || true)" /usr/local/go/bin/go "$CACHE/go/bin/go"; do
    [ -x "$candidate" ] && go_is_new_enough "$candidate" && echo "$candidate" && return
  done
  return 1
}

go_is_new_enough() {
  local version
  version=$(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  [ "$(printf '%s\n' "$GO_NEEDED" "${version#go}" | sort -V | head -n 1)" = "$GO_NEEDED" ]
}

require_go() {
  GO=$(find_go) || die "needs Go $GO_NEEDED or newer; run: e2e/cluster/cluster prerequisites --install"
  # Debian's own settings must not reach the build: what is built depends on programs/ alone.
  export CGO_ENABLED=0 GOOS=linux GOARCH=$ARCH GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOWORK=off
}

# An old go command (Debian 12 has 1.19) is enough to fetch a newer one: toolchains are modules.
install_go() {
  local old=$1 module="golang.org/toolchain@v0.0.1-go$GO_NEEDED.linux-$ARCH" from
  say "fetching Go $GO_NEEDED"
  from=$(cd / && GOFLAGS=-modcacherw "$old" mod download -json "$module" | awk -F'"' '$2 == "Dir" {print $4}')
  [ -n "$from" ] || die "could not fetch $module; install Go $GO_NEEDED or newer from https://go.dev/dl"
  rm -rf "$CACHE/go"
  mkdir -p "$CACHE"
  cp -r "$from" "$CACHE/go"
  # Files of modules are never executable.
  chmod -R u+w "$CACHE/go"
  find "$CACHE/go/bin" "$CACHE/go/pkg/tool" -type f -exec chmod +x {} +
}
