// SPDX-License-Identifier: Apache-2.0
/** The processes of a pool: {@code kvpool master}, {@code node}, {@code local} and {@code version}. */
package dev.kvpool.dataplane;
