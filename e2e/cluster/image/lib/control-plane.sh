# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The programs of which a cluster has one each.

start_etcd() {
  # A cluster for tests does not have to survive a power cut, so nothing waits for the disk.
  start etcd etcd --data-dir /var/lib/etcd --unsafe-no-fsync \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
}

start_apiserver() {
  start kube-apiserver kube-apiserver \
    --secure-port 6443 --advertise-address "$NODE_IP" --etcd-servers http://127.0.0.1:2379 \
    --tls-cert-file "$PKI/apiserver.crt" --tls-private-key-file "$PKI/apiserver.key" \
    --client-ca-file "$PKI/ca.crt" --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --token-auth-file "$STATE/tokens.csv" --allow-privileged --service-cluster-ip-range 10.43.0.0/16 \
    --service-account-issuer https://kubernetes.default.svc.cluster.local \
    --service-account-key-file "$PKI/service-accounts.pub" \
    --service-account-signing-key-file "$PKI/service-accounts.key" \
    --kubelet-client-certificate "$PKI/admin.crt" --kubelet-client-key "$PKI/admin.key" \
    --kubelet-preferred-address-types InternalIP
}

start_controllers() {
  start kube-controller-manager kube-controller-manager --kubeconfig "$STATE/controller-manager.kubeconfig" \
    --leader-elect=false --use-service-account-credentials --allocate-node-cidrs --cluster-cidr "$PODS" --root-ca-file "$PKI/ca.crt" \
    --service-account-private-key-file "$PKI/service-accounts.key" \
    --cluster-signing-cert-file "$PKI/ca.crt" --cluster-signing-key-file "$PKI/ca.key"
  start kube-scheduler kube-scheduler --kubeconfig "$STATE/scheduler.kubeconfig" --leader-elect=false
}

# Objects that a cluster is expected to have. The node's address is part of them, so they are set at each start.
add_system_objects() {
  render dns.yaml "NODE_IP=$NODE_IP" | kubectl apply --server-side --force-conflicts -f - >/dev/null ||
    fail "could not create the objects of the cluster's DNS"
  kubectl apply --server-side --force-conflicts -f "$CONFIG/nodes.yaml" >/dev/null ||
    fail "could not give nodes their permissions"
}

start_dns() {
  local forward="forward . /etc/resolv.conf"
  # CoreDNS refuses to forward to no name server at all, which is what a machine without a network has.
  grep -q '^nameserver' /etc/resolv.conf || forward=''
  render Corefile "FORWARD=$forward" >"$STATE/Corefile"
  start coredns coredns -conf "$STATE/Corefile"
}
