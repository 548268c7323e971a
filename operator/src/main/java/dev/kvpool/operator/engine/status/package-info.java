// SPDX-License-Identifier: Apache-2.0
/** What the status of a {@code TransferEngine} says, of the engine and the pools that name it. */
package dev.kvpool.operator.engine.status;
