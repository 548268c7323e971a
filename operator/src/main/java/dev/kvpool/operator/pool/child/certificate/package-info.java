// SPDX-License-Identifier: Apache-2.0
/** By what processes of a pool have certificates, and where those come from: the pool's own authority, or directories that others fill. Pure. */
package dev.kvpool.operator.pool.child.certificate;
