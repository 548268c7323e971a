# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The programs that each node has, and the network of its pods.

PODS=10.42.0.0/16
NODE_KUBECONFIG=$STATE/kubelet.kubeconfig

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

# start_kubelet [FLAG...]
start_kubelet() {
  render kubelet.yaml "CGROUP_ROOT=$CGROUP_ROOT" >"$STATE/kubelet.yaml"
  start kubelet kubelet --config "$STATE/kubelet.yaml" --kubeconfig "$NODE_KUBECONFIG" \
    --hostname-override "$NODE_NAME" --node-ip "$NODE_IP" "$@"
}

start_proxy() {
  # The conntrack limits are the machine's, not ours to set: 0 leaves them alone.
  start kube-proxy kube-proxy --kubeconfig "$NODE_KUBECONFIG" --hostname-override "$NODE_NAME" \
    --proxy-mode iptables --cluster-cidr "$PODS" --conntrack-max-per-core 0 \
    --conntrack-tcp-timeout-established 0 --conntrack-tcp-timeout-close-wait 0
}

# connect_pods SUBNET: pods of this node get addresses from the subnet. Between pods addresses stay as they are, towards
# the world the pods take the node's.
connect_pods() {
  local rule=(POSTROUTING -s "$1" ! -d "$PODS" -j MASQUERADE)
  render cni.conflist "POD_SUBNET=$1" >/etc/cni/net.d/10-pods.conflist
  iptables -t nat -C "${rule[@]}" 2>/dev/null || iptables -t nat -A "${rule[@]}"
}

pod_subnet() { kubectl --kubeconfig "$NODE_KUBECONFIG" get node "$NODE_NAME" -o 'jsonpath={.spec.podCIDR}'; }

has_pod_subnet() { [ -n "$(pod_subnet)" ]; }

# Keeps a route to the pods of each other node, for as long as the node runs.
follow_routes() {
  local name subnet address
  while true; do
    kubectl --kubeconfig "$NODE_KUBECONFIG" get nodes --watch -o \
      'jsonpath={.metadata.name} {.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}' |
      while read -r name subnet address; do
        [ "$name" = "$NODE_NAME" ] || [ -z "$address" ] || ip route replace "$subnet" via "$address" || true
      done || true
    sleep 1
  done
}

wait_until_node_ready() {
  local ask=(kubectl --kubeconfig "$NODE_KUBECONFIG")
  wait_for "node $NODE_NAME to exist" 60 "${ask[@]}" get node "$NODE_NAME"
  "${ask[@]}" wait --for=condition=Ready "node/$NODE_NAME" --timeout=120s >/dev/null ||
    fail "node $NODE_NAME did not become Ready within 120 s"
}
