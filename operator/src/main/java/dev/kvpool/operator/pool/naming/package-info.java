// SPDX-License-Identifier: Apache-2.0
/** Names, labels, ports and words that pools and their objects have in common. Pure. */
package dev.kvpool.operator.pool.naming;
