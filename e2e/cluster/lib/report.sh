# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Messages and small steps. Messages go to standard error: standard output carries only what a verb is asked for.

say() { echo "cluster: $*" >&2; }

die() {
  echo "cluster: $*" >&2
  exit 1
}

# timed WHAT COMMAND...: runs the command and says how long it took. The command's output goes to standard error.
timed() {
  local begin=$SECONDS
  STEP=$1
  shift
  say "$STEP ..."
  "$@" >&2
  say "$STEP: $((SECONDS - begin)) s"
  STEP=''
}

# A step that fails ends the program; its own message comes before this one.
STEP=''
trap '[ $? = 0 ] || [ -z "$STEP" ] || say "failed: $STEP"' EXIT

# content_hash WORD... -- [PATH...]: twelve digits that change with the words, with the files' names or with their
# contents. Paths are relative to this folder.
content_hash() {
  local words=()
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  shift
  {
    printf '%s\n' "${words[@]}"
    if [ $# -gt 0 ]; then
      cd "$HERE"
      find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    fi
  } | sha256sum | cut -c1-12
}

# with_lock NAME COMMAND...: one process at a time does this on this machine, so that two builds do not do the same work.
with_lock() {
  local name=$1 lock
  shift
  mkdir -p "$CACHE/locks"
  exec {lock}>"$CACHE/locks/$name"
  flock --nonblock "$lock" || { say "waiting for another process that makes the $name"; flock "$lock"; }
  "$@"
  exec {lock}>&-
}
