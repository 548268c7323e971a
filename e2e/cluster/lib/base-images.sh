# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Base images of the products: the public ones where they can be pulled, else small ones from Debian packages and the JDK.

# A shell and small tools are there so that an image can be built on and looked into, and for `kubectl cp`. The packages
# are only unpacked, since none of them needs its installation script but for what finish-rootfs does. That leaves out the
# package manager and most of a minimal Debian.
PRODUCT_ROOTFS=(--variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr
  --extract-hook="$HERE/base/finish-rootfs \"\$1\""
  --include='base-files,base-passwd,ca-certificates,coreutils,dash,grep,libc-bin,libgcc-s1,libnuma1,libstdc++6,netbase'
  --include='sed,tar,tzdata')
JRE_ROOTFS=("${PRODUCT_ROOTFS[@]}" --include='zlib1g,libucx0,ibverbs-providers')
PYTHON_ROOTFS=("${PRODUCT_ROOTFS[@]}" --include='python3,python3-pip,libucx0')
# What Netty, Quarkus, the admin HTTP of masters and nodes, and the tools for looking into a running process use.
JAVA_MODULES=java.base,java.desktop,java.instrument,java.management,java.naming,java.net.http,java.sql
JAVA_MODULES+=,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,jdk.jfr,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

provide_base_images() {
  require_engine
  provide_base KVDEV_BASE_JRE "$PUBLIC_JRE" own_jre build_jre
  provide_base KVDEV_BASE_PYTHON "$PUBLIC_PYTHON" own_python build_python
}

# provide_base NAME PUBLIC OWN BUILD: prints NAME=IMAGE; an image named by the environment variable NAME is taken as it is.
provide_base() {
  local image=${!1:-}
  [ -n "$image" ] || image=$(provide_public_or_own "$2" "$("$3")" "$4")
  echo "$1=$image"
}

own_jre() {
  local jdk
  jdk=$("$REPO/.ci/java-home")
  echo "kvpool-base-jre:$(content_hash "$(product_hash "${JRE_ROOTFS[@]}")" "$JAVA_MODULES" "$(<"$jdk/release")" -- base)"
}

own_python() { echo "kvpool-base-python:$(content_hash "$(product_hash "${PYTHON_ROOTFS[@]}")" -- base)"; }

# The options name this folder by its place on this machine, which must not matter.
product_hash() { rootfs_hash "${@//$HERE/}"; }

build_jre() {
  local context jdk
  context=$(mktemp -d)
  jdk=$("$REPO/.ci/java-home")
  timed "link the Java runtime of $jdk" link_java "$jdk" "$context/java"
  timed "bootstrap Debian $DEBIAN_SUITE for Java" bootstrap_debian "$context/rootfs.tar" "${JRE_ROOTFS[@]}"
  timed "assemble $1" docker build --quiet --tag "$1" --file "$HERE/base/jre.Dockerfile" "$context"
  rm -rf "$context"
}

# link_java JDK FOLDER. The archive of shared classes halves the time that a Java program takes to start.
link_java() {
  "$1/bin/jlink" --add-modules "$JAVA_MODULES" --strip-debug --no-man-pages --no-header-files \
    --generate-cds-archive --compress zip-6 --output "$2"
  find "$2" -exec touch --no-dereference --date "@$IMAGE_TIME" {} +
}

build_python() {
  local context
  context=$(mktemp -d)
  timed "bootstrap Debian $DEBIAN_SUITE for Python" bootstrap_debian "$context/rootfs.tar" "${PYTHON_ROOTFS[@]}"
  timed "assemble $1" docker build --quiet --tag "$1" --file "$HERE/base/python.Dockerfile" "$context"
  rm -rf "$context"
}
