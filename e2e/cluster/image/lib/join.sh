# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# How further nodes join: as K3s, by the server's address (K3S_URL) and a shared secret (K3S_TOKEN).

TOKEN_FILE=/var/lib/rancher/k3s/server/node-token

# On the server: who has the token may ask for a node's certificate. Survives a restart of the container.
accept_nodes() {
  local token=${K3S_TOKEN:-}
  mkdir -p "$(dirname "$TOKEN_FILE")"
  [ -n "$token" ] || [ -e "$TOKEN_FILE" ] || token=$(openssl rand -hex 16)
  [ -z "$token" ] || (umask 077 && echo "$token" >"$TOKEN_FILE")
  (umask 077 && echo "$(<"$TOKEN_FILE"),system:joining-node,joining-node,system:bootstrappers" >"$STATE/tokens.csv")
}

# On a further node: leaves a kubeconfig with the token, from which kubelet makes its own.
join_cluster() {
  local ca=$PKI/ca.crt
  local ask=(kubectl --server "$K3S_URL" --token "$K3S_TOKEN" --kubeconfig /dev/null)
  mkdir -p "$PKI"
  # The authority is not known yet, so the first answer is trusted: this is a cluster for tests on one machine.
  wait_for "the server $K3S_URL" 60 "${ask[@]}" --insecure-skip-tls-verify get --raw /readyz
  wait_for "the server's certificate authority" 60 fetch_authority "$ca" "${ask[@]}" --insecure-skip-tls-verify
  (umask 077 && cat >"$STATE/bootstrap.kubeconfig") <<END
apiVersion: v1
kind: Config
clusters: [{name: default, cluster: {server: "$K3S_URL", certificate-authority: $ca}}]
users: [{name: default, user: {token: "$K3S_TOKEN"}}]
contexts: [{name: default, context: {cluster: default, user: default}}]
current-context: default
END
}

# fetch_authority FILE KUBECTL...
fetch_authority() {
  local file=$1
  shift
  "$@" --namespace kube-public get configmap kube-root-ca.crt -o 'jsonpath={.data.ca\.crt}' >"$file" && [ -s "$file" ]
}
