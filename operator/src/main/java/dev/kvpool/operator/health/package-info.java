// SPDX-License-Identifier: Apache-2.0
/** Whether the operator still does its work. */
package dev.kvpool.operator.health;
