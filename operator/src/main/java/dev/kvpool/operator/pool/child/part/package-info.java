// SPDX-License-Identifier: Apache-2.0
/** What objects of a pool are made of: parts of pods that several of them share. Pure. */
package dev.kvpool.operator.pool.child.part;
