// SPDX-License-Identifier: Apache-2.0
/** Which pods are stopped, in which order, and why some wait. Pure. */
package dev.kvpool.operator.pool.transition;
