// SPDX-License-Identifier: Apache-2.0
/** Conditions of all resources, and the reasons they give. */
package dev.kvpool.operator.status;
