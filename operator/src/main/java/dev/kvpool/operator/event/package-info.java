// SPDX-License-Identifier: Apache-2.0
/** Events as values: their reasons, and one to publish. */
package dev.kvpool.operator.event;
