// SPDX-License-Identifier: Apache-2.0
/** What this machine has: memory and the limits on it, kernel files, ports, folders. */
package dev.kvpool.dataplane.machine;
