# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Certificates and kubeconfigs. The authority and the service account key live as long as the container; everything else
# is issued anew at each start, because the node's address may have changed.

PKI=$STATE/pki
ADMIN_KUBECONFIG=/etc/rancher/k3s/k3s.yaml
export KUBECONFIG=$ADMIN_KUBECONFIG

# issue_certificates [HOST...]: the hosts are added to the API server's certificate.
issue_certificates() {
  mkdir -p "$PKI"
  if [ ! -e "$PKI/ca.crt" ]; then
    new_key ca
    openssl req -x509 -key "$PKI/ca.key" -out "$PKI/ca.crt" -days 3650 -subj /CN=kvpool-cluster-ca
    new_key service-accounts
    openssl ec -in "$PKI/service-accounts.key" -pubout -out "$PKI/service-accounts.pub" 2>/dev/null
  fi
  issue apiserver /CN=kube-apiserver "subjectAltName=$(serving_names "$@")"
  issue_user admin /O=system:masters/CN=admin "$ADMIN_KUBECONFIG"
  issue_user coredns /CN=system:coredns
  issue_user controller-manager /CN=system:kube-controller-manager
  issue_user scheduler /CN=system:kube-scheduler
  issue_user kubelet "/O=system:nodes/CN=system:node:$NODE_NAME"
}

# Keys in the "EC PRIVATE KEY" form: the Fabric8 client cannot read elliptic curve keys in PKCS#8.
new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/$1.key"; }

# issue NAME SUBJECT [EXTENSION]: a certificate and a key.
issue() {
  local name=$1 subject=$2 extension=${3:-}
  new_key "$name"
  openssl req -new -key "$PKI/$name.key" -subj "$subject" |
    openssl x509 -req -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 3650 \
      -extfile <(echo "$extension") -out "$PKI/$name.crt" 2>/dev/null
}

serving_names() {
  local names host
  names="DNS:localhost,DNS:$NODE_NAME,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  names+=",DNS:kubernetes.default.svc.cluster.local,IP:127.0.0.1,IP:0:0:0:0:0:0:0:1,IP:10.43.0.1,IP:$NODE_IP"
  for host in "$@"; do
    if [[ $host =~ ^[0-9.]+$ || $host == *:* ]]; then names+=",IP:$host"; else names+=",DNS:$host"; fi
  done
  echo "$names"
}

# issue_user NAME SUBJECT [KUBECONFIG]: a client certificate, and a kubeconfig that carries it.
issue_user() {
  local name=$1 kubeconfig=${3:-$STATE/$1.kubeconfig}
  issue "$name" "$2"
  (umask 077 && cat >"$kubeconfig.new") <<END
apiVersion: v1
kind: Config
clusters:
  - name: default
    cluster:
      server: https://127.0.0.1:6443
      certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")
users:
  - name: default
    user:
      client-certificate-data: $(base64 -w0 "$PKI/$name.crt")
      client-key-data: $(base64 -w0 "$PKI/$name.key")
contexts:
  - name: default
    context: {cluster: default, user: default}
current-context: default
END
  mv "$kubeconfig.new" "$kubeconfig"
}
