// SPDX-License-Identifier: Apache-2.0
/**
 * {@code kvpool doctor}: what on this machine or on the way to masters and storage nodes would make a pool slow or break
 * it, each with the way out. Readers fetch facts, checks judge them; only readers touch files and sockets.
 */
package dev.kvpool.dataplane.doctor;
