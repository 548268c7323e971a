// SPDX-License-Identifier: Apache-2.0
/** What the operator asks masters and what they answer. It does not know how they are reached. */
package dev.kvpool.operator.master;
