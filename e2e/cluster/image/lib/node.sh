# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The programs that each node has.

PODS=10.42.0.0/16

# Loads the tar files of images that the image and the user put there.
load_images() {
  local tar
  wait_for containerd 30 ctr version
  for tar in /usr/share/kvpool-cluster/images/*.tar /var/lib/rancher/k3s/agent/images/*.tar; do
    [ -e "$tar" ] || continue
    ctr -n k8s.io images import "$tar" >>"$LOGS/images.log" 2>&1 ||
      fail "could not load the images in $tar: $(tail -n 3 "$LOGS/images.log")"
  done
}

# start_node SUBNET: pods of this node get addresses from the subnet.
start_node() {
  local subnet=$1
  render cni.conflist "POD_SUBNET=$subnet" >/etc/cni/net.d/10-pods.conflist
  hide_pods_outside "$subnet"
  render kubelet.yaml "CGROUP_ROOT=$CGROUP_ROOT" >"$STATE/kubelet.yaml"
  start kubelet kubelet --config "$STATE/kubelet.yaml" --kubeconfig "$STATE/kubelet.kubeconfig" \
    --hostname-override "$NODE_NAME" --node-ip "$NODE_IP"
  # The conntrack limits are the machine's, not ours to set: 0 leaves them alone.
  start kube-proxy kube-proxy --kubeconfig "$STATE/proxy.kubeconfig" --hostname-override "$NODE_NAME" \
    --proxy-mode iptables --cluster-cidr "$PODS" --conntrack-max-per-core 0 \
    --conntrack-tcp-timeout-established 0 --conntrack-tcp-timeout-close-wait 0
}

# Between pods addresses stay as they are, towards the world the pods take the node's.
hide_pods_outside() {
  local rule=(POSTROUTING -s "$1" ! -d "$PODS" -j MASQUERADE)
  iptables -t nat -C "${rule[@]}" 2>/dev/null || iptables -t nat -A "${rule[@]}"
}
