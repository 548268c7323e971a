// SPDX-License-Identifier: Apache-2.0
/** From what is seen to what is to be done in one look: the plan that the executor carries out. Pure. */
package dev.kvpool.operator.pool.plan;
