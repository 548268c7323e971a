// SPDX-License-Identifier: Apache-2.0
/** Numbers of tenants: what each has in the index, and how its lookups end. It knows nothing of objects but their keys. */
package dev.kvpool.dataplane.master.core.tenant;
