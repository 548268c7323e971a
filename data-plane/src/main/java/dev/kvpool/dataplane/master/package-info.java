// SPDX-License-Identifier: Apache-2.0
/** {@code kvpool master}: the process around {@link dev.kvpool.dataplane.master.core.MasterCore}. */
package dev.kvpool.dataplane.master;
