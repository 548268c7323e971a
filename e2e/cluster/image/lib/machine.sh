# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is used by the other files
# Makes the container look enough like a machine for kubelet, containerd and kube-proxy.

CONFIG=/usr/share/kvpool-cluster/config
STATE=/etc/kvpool-cluster
NODE_NAME=$(hostname | tr '[:upper:]' '[:lower:]')
NODE_IP=$(hostname -i | awk '{print $1}')

prepare_machine() {
  mkdir -p "$STATE" /etc/cni/net.d /etc/rancher/k3s /var/lib/kubelet
  # kubelet watches the kernel's messages for out-of-memory kills; the device is not in every container.
  [ -e /dev/kmsg ] || mknod /dev/kmsg c 1 11
  # kubelet reports it as the node's.
  [ -s /etc/machine-id ] || tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
  make_writable /proc/sys /sys /sys/fs/cgroup /sys/fs/cgroup/*
  # Volumes that kubelet mounts must be seen by containerd and by the pods.
  mount --make-rshared /
  select_iptables
  CGROUP_ROOT=$(own_cgroup)
}

# The engine mounts these read-only in containers that are not privileged.
make_writable() {
  local path
  for path in "$@"; do
    [ -d "$path" ] || continue
    mount -o remount,bind,rw "$path" 2>/dev/null || mount -o remount,rw "$path" 2>/dev/null || true
  done
}

# kube-proxy's rules need the variant that this kernel has.
select_iptables() {
  local tool
  iptables-nft -t nat -S >/dev/null 2>&1 && return
  for tool in iptables ip6tables; do
    ln -sf "/usr/sbin/$tool-legacy" "/usr/sbin/$tool"
    ln -sf "/usr/sbin/$tool-legacy-save" "/usr/sbin/$tool-save"
    ln -sf "/usr/sbin/$tool-legacy-restore" "/usr/sbin/$tool-restore"
  done
  iptables -t nat -S >/dev/null 2>&1 || fail "this kernel offers neither nftables nor iptables to the container"
}

# Pods go below the container's own control group: the engine then removes them with the container, and clusters that
# share a machine stay apart. With control groups version 2 a group that has processes cannot have children with
# controllers, so pods go to the root there.
own_cgroup() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    echo /
    return
  fi
  awk -F: '$2 == "memory" {print $3}' /proc/self/cgroup
}

# render FILE NAME=VALUE...: prints a file of the configuration with each @NAME@ replaced.
render() {
  local text pair
  text=$(<"$CONFIG/$1")
  shift
  for pair in "$@"; do
    text=${text//"@${pair%%=*}@"/"${pair#*=}"}
  done
  printf '%s\n' "$text"
}
