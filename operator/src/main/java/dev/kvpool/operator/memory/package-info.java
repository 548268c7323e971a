// SPDX-License-Identifier: Apache-2.0
/** Less memory for objects of the cluster that are cached. */
package dev.kvpool.operator.memory;
