// SPDX-License-Identifier: Apache-2.0
/** The reconciliation of {@code TransferEngine}: reads the cache, has {@code engine.status} decide, writes the status. */
package dev.kvpool.operator.engine;
