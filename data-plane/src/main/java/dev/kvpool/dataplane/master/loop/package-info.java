// SPDX-License-Identifier: Apache-2.0
/** The one thread that {@link dev.kvpool.dataplane.master.core.MasterCore} runs on: its inputs, what it asks for, and what waits to be sent. */
package dev.kvpool.dataplane.master.loop;
