# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds the products the images are made of, when their sources changed since the demo last built them.

PRODUCT_FILES=(data-plane/target/dist/lib/kvpool.jar operator/target/quarkus-app/quarkus-run.jar dist/wheels)

build_products() {
  local stamp=$RUN/built sources
  sources=$(sources_hash)
  if products_are_of "$sources" "$stamp"; then
    say "nothing changed since they were built"
    return
  fi
  .ci/dist bin wheels
  echo "$sources" >"$stamp"
}

# products_are_of SOURCES STAMP: whether all are there, built from these sources, and by nobody else since.
products_are_of() {
  local file
  [ "$(cat "$2" 2>/dev/null)" = "$1" ] || return 1
  for file in "${PRODUCT_FILES[@]}"; do
    [ -e "$file" ] && [ "$2" -nt "$file" ] || return 1
  done
}

# Maven alone takes half a minute to find that there is nothing to do.
sources_hash() {
  find pom.xml .ci/dist crds native data-plane operator \
    \( -name target -o -name build -o -name __pycache__ \) -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}
