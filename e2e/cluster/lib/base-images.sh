# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Base images of the products: the public ones where they can be pulled, else small ones from Debian packages and the JDK.

# A shell and small tools are there so that an image can be built on and looked into, and for `kubectl cp`.
ROOTFS_BASE=base-files,base-passwd,ca-certificates,coreutils,dash,grep,libc-bin,libgcc-s1,libnuma1,libstdc++6,netbase,sed,tar,tzdata
ROOTFS_JRE=$ROOTFS_BASE,zlib1g
ROOTFS_PYTHON=$ROOTFS_BASE,python3,python3-pip
# What Netty, Quarkus and the tools for looking into a running process use.
JAVA_MODULES=java.base,java.desktop,java.instrument,java.management,java.naming,java.net.http,java.sql
JAVA_MODULES+=,jdk.crypto.ec,jdk.jcmd,jdk.jfr,jdk.management,jdk.net,jdk.unsupported,jdk.zipfs

provide_base_images() {
  require_engine
  provide_base KVPOOL_BASE_JRE "$PUBLIC_JRE" own_jre build_jre
  provide_base KVPOOL_BASE_PYTHON "$PUBLIC_PYTHON" own_python build_python
}

# provide_base NAME PUBLIC OWN BUILD: prints NAME=IMAGE; an image named by the environment variable NAME is taken as it is.
provide_base() {
  local image=${!1:-}
  [ -n "$image" ] || image=$(provide_public_or_own "$2" "$("$3")" "$4")
  echo "$1=$image"
}

own_jre() {
  local jdk
  jdk=$(find_jdk)
  echo "kvpool-base-jre:$(content_hash "$ARCH" "$DEBIAN_SUITE" "$ROOTFS_JRE" "$JAVA_MODULES" "$(<"$jdk/release")" -- base)"
}

own_python() { echo "kvpool-base-python:$(content_hash "$ARCH" "$DEBIAN_SUITE" "$ROOTFS_PYTHON" -- base)"; }

# Prints the home of a JDK 25 with jlink.
find_jdk() {
  local home
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/*25* /opt/*jdk*25* "$HOME"/.sdkman/candidates/java/25*; do
    [ -x "$home/bin/jlink" ] && grep -q '^JAVA_VERSION="25' "$home/release" && echo "$home" && return
  done
  die "needs a JDK 25 with jlink to build the Java base image; set JAVA_HOME (https://adoptium.net)"
}

build_jre() {
  local context jdk
  context=$(mktemp -d)
  jdk=$(find_jdk)
  timed "link the Java runtime of $jdk" link_java "$jdk" "$context/java"
  timed "bootstrap Debian $DEBIAN_SUITE for Java" bootstrap_product "$context/rootfs.tar" "$ROOTFS_JRE"
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
  timed "bootstrap Debian $DEBIAN_SUITE for Python" bootstrap_product "$context/rootfs.tar" "$ROOTFS_PYTHON"
  timed "assemble $1" docker build --quiet --tag "$1" --file "$HERE/base/python.Dockerfile" "$context"
  rm -rf "$context"
}

# bootstrap_product TAR PACKAGES: only unpacked, since none of these packages needs its installation script but for what
# finish-rootfs does. That leaves out the package manager and most of a minimal Debian.
bootstrap_product() {
  bootstrap_debian "$1" --variant=extract --include="$2" \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --extract-hook="$HERE/base/finish-rootfs \"\$1\""
}
