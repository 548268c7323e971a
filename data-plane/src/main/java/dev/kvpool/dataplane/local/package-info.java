// SPDX-License-Identifier: Apache-2.0
/** {@code kvpool local}: a whole pool as child processes of one command, which starts, watches and ends them. */
package dev.kvpool.dataplane.local;
