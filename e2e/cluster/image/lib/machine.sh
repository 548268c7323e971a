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
  choose_cgroup
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

# Sets CGROUP_ROOT: pods go below the container's own control group. The engine then removes their groups with the
# container, and clusters that share a machine stay apart.
choose_cgroup() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    CGROUP_ROOT=$(sed -n 's/^0:://p' /proc/self/cgroup)
    share_out_controllers "/sys/fs/cgroup${CGROUP_ROOT%/}"
  else
    CGROUP_ROOT=$(awk -F: '$2 == "memory" {print $3}' /proc/self/cgroup)
  fi
}

# With control groups version 2 a group cannot have both processes and children with controllers, so the processes move
# to a child of their own. Only the machine's root group, which has no type, may have both.
share_out_controllers() {
  local group=$1 pid controllers
  [ -e "$group/cgroup.type" ] || return 0
  mkdir -p "$group/init"
  while read -r pid; do
    # A process may have ended meanwhile.
    echo "$pid" >"$group/init/cgroup.procs" 2>/dev/null || true
  done <"$group/cgroup.procs"
  read -ra controllers <"$group/cgroup.controllers"
  echo "${controllers[@]/#/+}" >"$group/cgroup.subtree_control" ||
    fail "cannot hand the control groups' controllers to pods: $group still has processes"
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
