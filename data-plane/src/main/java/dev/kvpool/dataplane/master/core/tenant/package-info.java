// SPDX-License-Identifier: Apache-2.0
/**
 * Tenants: what each has, may have and has lost, and how its lookups end. Pure accounts and rules: it knows nothing of objects but their
 * keys, and books what others tell it.
 */
package dev.kvpool.dataplane.master.core.tenant;
