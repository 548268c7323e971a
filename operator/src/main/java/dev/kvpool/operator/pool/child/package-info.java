// SPDX-License-Identifier: Apache-2.0
/** The Kubernetes objects of a pool, one class for each, built from the blueprint alone. Pure. */
package dev.kvpool.operator.pool.child;
