# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What Testcontainers has to be told on this machine.

print_testcontainers_env() {
  local image privileged=true
  image=$(provide_image)
  engine_gives_privileges "$image" || privileged=false
  echo "export KVDEV_CLUSTER_IMAGE=$image"
  echo "export KVDEV_CLUSTER_PRIVILEGED=$privileged"
  [[ $image == kvpool-cluster:* ]] || return 0
  # Without a registry Testcontainers can pull neither its clean-up container nor its tiny image, and it would try for
  # minutes. Inside a container it would ask a tiny container for the way to the host; here that way is localhost.
  provide_pause
  echo "export TESTCONTAINERS_RYUK_DISABLED=true"
  echo "export TESTCONTAINERS_TINYIMAGE_CONTAINER_IMAGE=$(pause_image)"
  echo "export TESTCONTAINERS_HOST_OVERRIDE=localhost"
}
