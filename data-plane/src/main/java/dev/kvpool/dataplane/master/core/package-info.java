// SPDX-License-Identifier: Apache-2.0
/**
 * The master as a state machine: messages, leadership events and ticks go in, {@code Action}s
 * come out. No input, output, clock, log or thread in here: time is a number that the caller passes, chance is injected. One
 * thread owns an instance. Its rooms depend one way, as {@code ArchitectureTest} says; this package assembles them, and
 * {@link dev.kvpool.dataplane.master.core.MasterCore} is the way in.
 */
package dev.kvpool.dataplane.master.core;
