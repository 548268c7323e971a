// SPDX-License-Identifier: Apache-2.0
/** Which storage nodes a pool has, wants and may lose, and what remains on machines. Pure. */
package dev.kvpool.operator.pool.storage;
