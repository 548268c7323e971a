// SPDX-License-Identifier: Apache-2.0
/** All that commands ask of the cluster and change in it: objects, masters through the API server, dry runs. */
package dev.kvpool.operator.plugin.cluster;
