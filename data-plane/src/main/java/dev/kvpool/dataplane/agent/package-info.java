// SPDX-License-Identifier: Apache-2.0
/**
 * {@code kvpool agent}: the process around the native agent, which does the work of the clients on its machine that reach
 * it by a unix socket. It owns no objects.
 */
package dev.kvpool.dataplane.agent;
