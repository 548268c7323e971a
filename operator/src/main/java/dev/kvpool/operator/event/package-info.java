// SPDX-License-Identifier: Apache-2.0
/** Events as values: their reasons, one to publish, and which were published already. */
package dev.kvpool.operator.event;
