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
  # Bases of the images wait for packages from the network, while this machine compiles.
  $CLUSTER base-images >"$RUN/base-images.log" 2>&1 &
  compile_products
  wait $! || die "no base images: $(cat "$RUN/base-images.log")"
  echo "$sources" >"$stamp"
}

# Neither tests nor what only tests need, and without the checks that go with them.
compile_products() {
  JAVA_HOME=$(.ci/java-home) KVPOOL_NATIVE_PRESET=demo mvn -B -ntp -q -T 2 -Dmaven.test.skip=true -Dspotless.check.skip=true \
    -Djava.checks=-Xlint:none -pl crds,native,data-plane,operator -am package
  rm -rf dist/wheels
  native/python/build-wheels dist/wheels
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
  find pom.xml .ci/dist crds identity native data-plane operator \
    \( -name target -o -name build -o -name __pycache__ \) -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}
