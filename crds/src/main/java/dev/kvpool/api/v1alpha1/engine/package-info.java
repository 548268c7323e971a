// SPDX-License-Identifier: Apache-2.0
/** How bytes move: protocols, ports, memory, devices, agents, time limits. */
package dev.kvpool.api.v1alpha1.engine;
