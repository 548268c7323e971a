// SPDX-License-Identifier: Apache-2.0
/** {@code kvpool node}: the process around the storage node of the native library, with its settings, admin routes and metrics. */
package dev.kvpool.dataplane.node;
