// SPDX-License-Identifier: Apache-2.0
/**
 * Decisions as pure functions: where new objects go, and which copies an object needs or has too many. What is decided is
 * carried out elsewhere; nothing in here may keep state or change what it is given.
 */
package dev.kvpool.dataplane.master.core.plan;
