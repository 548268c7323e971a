# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Root file systems from Debian packages, for machines that cannot pull images.

SMALL=(--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*'
  --dpkgopt='path-exclude=/usr/share/locale/*')

# bootstrap_debian TAR OPTION...: runs mmdebstrap with the options. The same packages give the same file.
bootstrap_debian() {
  local tar=$1
  shift
  command -v mmdebstrap >/dev/null || die "needs mmdebstrap; run: e2e/cluster/cluster prerequisites --install"
  SOURCE_DATE_EPOCH=$IMAGE_TIME mmdebstrap --quiet --architectures="$ARCH" "${SMALL[@]}" "$@" "$DEBIAN_SUITE" "$tar"
}

# rootfs_hash OPTION...: changes with whatever `bootstrap_debian` is told, not with Debian's own updates.
rootfs_hash() { content_hash "$ARCH" "$DEBIAN_SUITE" "${SMALL[@]}" "$@" --; }
